"""Warnings that point at the line of the user."""

from __future__ import annotations

import inspect
import warnings


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning that points at the first line outside this package and scikit-learn, which calls its fits."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("maxmargin", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
