"""The SQLite file itself, without any knowledge of its tables: connections, threads, turns, migrations and copies."""
