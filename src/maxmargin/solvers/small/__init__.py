"""Small problems, solved from start to proof in one compiled call."""
