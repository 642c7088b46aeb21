"""What people and programs read: one module for each output format."""
