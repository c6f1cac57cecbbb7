"""Level 8: the command line. Parse, call, print."""
