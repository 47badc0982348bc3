"""Formation: turns the messages of a conversation into memories, profiles, episodes and lessons."""
