"""The pass over the ops of one file, a layer a file; see `reader.py`."""
