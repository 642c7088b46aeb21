"""What values are, abstractly: one value of a domain for each op and context, joined over branches and call sites.

It may ask `sources`, `ir`, `db`, `catalog` and `model`; what is true of a library stands in the catalog.
"""
