"""Estimators with kernels: each states its problem and names its parameters; ``machine`` is what they share."""
