"""Level 0: compiled loops and their machine code, threads, BLAS, time limits, signals, memory, rows and files."""
