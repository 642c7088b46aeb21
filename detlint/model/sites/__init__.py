"""What one file says, as values, sites and steps: what it imports, defines, calls and writes; nothing is linked yet.

All of it is read off the file's IR (`reading/`), or off YAML, and kept by its content (`store.py`). `records.py` has the words that the
rooms behind speak of values with.
"""
