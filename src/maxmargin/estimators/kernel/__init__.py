"""Estimators with kernels: each states its problem and names its parameters; ``machine`` is what they share."""

from maxmargin.estimators.kernel.ahead import load_loops

load_loops()
