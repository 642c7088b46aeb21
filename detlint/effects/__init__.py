"""What running a piece of code does to streams and switches: summaries of functions, and the runs that are put together of them.

It asks the model, and what the rule engine knows of sites; checks and reports ask it.
"""
