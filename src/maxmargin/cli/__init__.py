"""Level 6: the command line. Parse, call, print."""
