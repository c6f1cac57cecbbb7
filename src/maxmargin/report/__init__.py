"""Level 6: pictures of machines and paths."""
