"""Traces of runs, and comparing them: which operator is the first whose bits differ, and why."""
