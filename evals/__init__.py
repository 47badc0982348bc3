"""Evaluations of recall and formation: our own sets, and the programs that measure on them."""
