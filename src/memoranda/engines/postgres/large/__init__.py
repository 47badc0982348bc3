"""Large shelves: the tables and indexes by which a server searches shelves that are too large for memory."""
