"""Values of any JSON type: items, and conditions on data."""
