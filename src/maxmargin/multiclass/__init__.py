"""Level 3: many classes as several problems of two."""
