"""Programs to begin from; each runs as it stands."""
