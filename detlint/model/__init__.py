"""What a program means: asked of the IR of its files. Each question is answered in one place."""
