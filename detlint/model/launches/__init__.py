"""Launch files and files of settings: the commands that they run, with arguments and environment; what they give a key, which runs of a
script there are, and the sites in them.
"""
