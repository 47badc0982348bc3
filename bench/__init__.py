"""Speed and size of a book, measured from outside: the façade is all that these measurements know."""
