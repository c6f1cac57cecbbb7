"""What is known of a kernel matrix: Mercer's condition."""

from __future__ import annotations

from typing import NamedTuple


class Definiteness(NamedTuple):
    """Whether K is positive semidefinite and whether it is symmetric; ``note`` says what is wrong or was not checked.

    A matrix that is not symmetric does not count as positive semidefinite.
    """

    definite: bool
    symmetric: bool = True
    note: str = ""
