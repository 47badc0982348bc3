"""Access to the SQLite file, whatever its tables: connections, Python threads, write turns,
migrations, copies.
"""
