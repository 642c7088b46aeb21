"""Constant: which values an expression, an option, a parameter, an attribute or a key of settings may have, and how a test comes out.

Known values are joined over all calls, defaults, launches and files of settings that are there; what anybody else may give is unknown.
`evaluator.py` has the arithmetic, `parameters.py` asks who calls, `configuration.py` what settings say.
"""
