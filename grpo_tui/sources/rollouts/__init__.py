"""Sampled responses on disk: read by the group, told in facts, counted into curves."""
