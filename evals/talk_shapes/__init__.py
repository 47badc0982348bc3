"""Labelled talks in shapes that LoCoMo lacks, made by a program from hand-written pools."""
