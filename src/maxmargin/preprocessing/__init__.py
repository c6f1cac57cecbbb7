"""Level 5: what is done to features before a machine learns from them."""

from maxmargin.preprocessing.whitening import Whitener

__all__ = ["Whitener"]
