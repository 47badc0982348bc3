"""Tools of the moving proof."""
