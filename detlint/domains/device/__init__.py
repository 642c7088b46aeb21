"""Device: where a tensor lies or a draw happens, and which hardware a run is for.

A value is the host, the accelerator, either, or not known; what isn't known is the accelerator in code that a run on one comes to.
"""
