"""Forgetting of facts: finding where they are told, showing a plan, and taking them out."""
