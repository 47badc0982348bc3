"""Secrets in text: keys, tokens, passwords, private keys, and numbers of cards, accounts and
passports.
"""
