"""What the language server is made of. Needs `pip install detlint[server]`."""
