"""Solvers of the box-constrained problem of kernel machines."""
