"""Level 2: support vector models as problems: targets, costs and parameters in, a problem out."""
