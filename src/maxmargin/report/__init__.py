"""Level 5: what people look at."""
