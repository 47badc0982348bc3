"""Dreams: what is done at night with an owner's memories. Nothing is merged, and nothing is
erased.
"""
