"""The commands of the command line; each module holds the commands about one thing, loaded when one
is called.
"""
