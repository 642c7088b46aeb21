"""Gradient: whether one is taken at a place (`gradients.py`), whether the tensors of a call need any (`origins.py`), and which weights are
frozen (`frozen.py`, `freezing.py`). Needed, not needed, or not known: then as in training, if the run trains.
"""
