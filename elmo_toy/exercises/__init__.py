"""Exercises of the book: what goes wrong, and how a wrong number says which formula made it."""
