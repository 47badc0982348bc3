"""The server of a book: its address, its transactions, and its errors. Nothing here knows a
record.
"""
