"""detlint finds, repairs and prevents nondeterminism in machine-learning code."""

__version__ = "0.1.0"
