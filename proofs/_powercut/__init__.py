"""Tools of the power-cut proof: a record of file operations, a disk that may lose writes, and its
images.
"""
