"""Solvers of the box QP."""
