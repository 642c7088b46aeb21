"""What values are, abstractly: one value of a domain for each op and context, joined over branches and call sites. In what order they come,
what varies from run to run, where they lie.

It may ask `sources`, `ir`, `db`, `catalog` and `model`, and is asked by the checks; what is true of a library stands in the catalog.
"""
