"""Formation: from what was said to what is known."""
