"""Labelled talks in six shapes, made by a program from hand-written pools."""
