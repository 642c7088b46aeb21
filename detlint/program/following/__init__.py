"""One run, a layer a file; see `flow.py`."""
