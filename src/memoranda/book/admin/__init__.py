"""Work on a whole book: backups, exports, copies, retention, and the threads that are not yet
turned into memories.
"""
