"""Parts of the processes proof: work done at once, files opened at once, and reads of others'
writes.
"""
