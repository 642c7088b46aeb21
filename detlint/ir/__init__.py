"""What one file says, lowered once: operations in the order in which Python evaluates them. The room asks no other."""
