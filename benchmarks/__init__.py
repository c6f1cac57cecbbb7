"""Measurements. Ratios from one run only: seconds of different runs must not be compared on shared machines."""
