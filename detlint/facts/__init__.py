"""One source file to its facts: what it imports, defines, calls and writes. No tree is kept, nothing is linked yet."""
