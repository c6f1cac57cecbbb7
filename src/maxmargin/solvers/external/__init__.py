"""Solvers of other packages for the box QP, judged by the same certificate."""
