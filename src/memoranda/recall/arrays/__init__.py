"""The arrays that recall searches: segments of passages, their columns and their vectors."""
