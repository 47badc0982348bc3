"""The kill proof's parts: marks that outlive a process, the writer that is killed, and the reckoning afterwards."""
