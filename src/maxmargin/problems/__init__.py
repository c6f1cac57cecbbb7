"""Level 1: what is solved, and what a solve returns."""
