"""Solvers of linear machines."""
