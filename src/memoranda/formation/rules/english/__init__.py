"""English: how people state things of themselves."""
