"""The privacy check: a lesson that an agent learnt must reveal nothing about the user that it was
learnt from.
"""
