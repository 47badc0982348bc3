"""The processes proof's parts: what is done at once, how files are opened at once, who reads whose writes."""
