"""Estimators without kernels: exact machines, and online learners (``online``)."""

from maxmargin.estimators.linear.ahead import load_loops

load_loops()
