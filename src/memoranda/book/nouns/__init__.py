"""The operations of a book, a module for each noun."""
