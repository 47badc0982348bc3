"""What words of natural languages mean, as data: ``data/`` has a file of words for each language."""
