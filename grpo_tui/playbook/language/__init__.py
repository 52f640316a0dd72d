"""Conditions: a small Python-like expression, parsed to a whitelisted tree and interpreted, never run."""
