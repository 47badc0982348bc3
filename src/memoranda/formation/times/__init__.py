"""The old place of the reader of times, for modules that still import it here."""
