"""Ascent on the dual objective, one, two or q multipliers at a time."""
