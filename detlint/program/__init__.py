"""The facts of all files, linked: which file a name comes from, what a value is, where runs start, what is seeded."""
