"""The walk over one file, a layer a file; see `reader.py`."""
