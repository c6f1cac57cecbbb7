"""What a warm start keeps from fit to fit does not travel with the model."""

from __future__ import annotations

from typing import Any


class KeepsForNextFit:
    """An estimator that keeps ``_kept`` for its next fit: pickles and copies leave it out."""

    def __getstate__(self) -> dict[str, Any]:
        state: Any = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_kept"}
