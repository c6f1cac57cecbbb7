"""Descent on the primal objective: by gradients, subgradients, single examples and Newton steps."""
