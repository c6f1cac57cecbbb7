"""Level 0: compiled loops, threads, limits, rows, checks, problems, solutions and files."""
