"""The routes and tools of other products, each answered by the verbs of a book through the guard of
its request.
"""
