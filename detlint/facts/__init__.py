"""What one source file says, as values, sites and steps: what it imports, defines, calls and writes; nothing is linked yet.

All of it is read off the file's IR, for those rules that don't ask the model yet: this ends with the issue "Domains and rules".
"""
