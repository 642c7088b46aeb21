"""What values are, abstractly: one value of a domain for each op and context, joined over branches and call sites. A domain is a folder.

It may ask `sources`, `ir`, `db`, `catalog` and `model`, and is asked by `effects` and the checks; what is true of a library stands in the
catalog.
"""
