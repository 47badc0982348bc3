"""Access to a server, whatever its tables: addresses, connections, sessions, errors and
migrations.
"""
