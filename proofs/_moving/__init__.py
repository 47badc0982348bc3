"""What the moving proof works with."""
