"""The machinery of the power-cut proof: a record of file operations, a disk that may forget, its images."""
