"""Parts of the kill proof: marks that outlive a process, the writer that is killed, and the check
afterwards.
"""
