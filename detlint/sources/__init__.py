"""The bytes of files, before anything is parsed: suppression comments, and whether a file is worth reading. Asks no other room."""
