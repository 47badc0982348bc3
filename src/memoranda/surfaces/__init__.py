"""The ways in from outside: each translates what it is given into verbs of the book, and decides nothing."""
