"""Estimators without kernels: exact machines, and online learners (``online``)."""
