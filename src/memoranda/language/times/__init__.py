"""Reads time expressions: words of a language become spans of days, relative to when they were
said.
"""
