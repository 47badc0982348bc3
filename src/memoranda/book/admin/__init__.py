"""Work on a whole book: backups, exports, copies, retention, and the threads that wait for formation."""
