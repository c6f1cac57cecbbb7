"""Margins and distances in the plane and in feature space, and a boundary without a large margin."""
