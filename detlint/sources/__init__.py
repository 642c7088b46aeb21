"""The bytes of files, and their syntax trees: suppression comments, whether a file is worth reading, what can be parsed of it."""
