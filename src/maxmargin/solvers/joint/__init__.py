"""Solvers of joint machines."""
