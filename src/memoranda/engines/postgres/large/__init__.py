"""Large shelves: tables and indexes with which the server searches shelves too large for a
process's memory.
"""
