"""The way to a server, without any knowledge of records: addresses, connections, sessions, faults and migrations."""
