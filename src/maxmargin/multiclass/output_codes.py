"""Output codes: every class is a word of +1 and -1, a machine learns each bit, the nearest word wins.

With the fewest bits that tell the classes apart (``bit_codes``, the notes' "bad option") a single wrong bit is a wrong
class. Longer words are further apart and correct errors (Dietterich and Bakiri 1995): a class whose word differs from
all others in at least d bits survives (d - 1) // 2 wrong ones.
"""

from __future__ import annotations

import itertools

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.multiclass.one_vs_rest import OneVsRest
from maxmargin.multiclass.reduction import Task, normalised, sides, squeezed

Seed = int | np.random.RandomState | None

EXHAUSTIVE = 7  # classes up to which "auto" takes all 2^(k-1) - 1 splits
MOST_EXHAUSTIVE = 16  # classes up to which they may be asked for: 32,767 machines
LEAST_SHARE = 1e-12  # of a bit's probability: its logarithm must be finite
DRAWS = 100  # random books, of which the one with the largest distance is taken


class OutputCodes:
    """Task b sets the classes with +1 in column b of ``book`` (classes, bits) against the others."""

    unit = "bits"

    def __init__(self, book: Array) -> None:
        self.book = np.asarray(book, np.float64)
        self.n_classes = len(self.book)

    def tasks(self, labels: Array) -> list[Task]:
        """One task per bit, each on all rows."""
        bits = self.book.shape[1]
        return [Task(None, sides(labels, self.book[:, b] > 0), f"bit {b + 1}/{bits}") for b in range(bits)]

    def agreements(self, decisions: Array) -> Array:
        """Bits that agree with each class's word: their number minus the Hamming distance."""
        signs = np.where(decisions >= 0, 1.0, -1.0)
        return 0.5 * (self.book.shape[1] + signs @ self.book.T)

    def scores(self, decisions: Array) -> Array:
        """Agreeing bits; equal numbers are told apart by the sum of the decisions along the word."""
        return self.agreements(decisions) + squeezed(decisions @ self.book.T)

    def winners(self, decisions: Array) -> Array:
        """The nearest word; of equally near ones that of the larger summed decisions, then the lowest class index."""
        return np.argmax(self.scores(decisions), axis=1)

    def leads(self, decisions: Array) -> Array:
        """The mean decision along each word minus the largest of the others."""
        along = decisions @ self.book.T / self.book.shape[1]
        return OneVsRest(self.n_classes).leads(along)

    def probabilities(self, shares: Array) -> Array:
        """The product of the probabilities of a word's bits, as if they were independent, scaled to add up to one."""
        bits = np.clip(shares, LEAST_SHARE, 1.0 - LEAST_SHARE)
        logs = np.log(bits) @ (self.book > 0).T + np.log1p(-bits) @ (self.book < 0).T
        return normalised(np.exp(logs - logs.max(axis=1, keepdims=True)))


def bit_codes(n_classes: int) -> Array:
    """The class index in binary: ceil(log2 k) bits, the highest first."""
    bits = max(1, int(np.ceil(np.log2(n_classes))))
    index = np.arange(n_classes)[:, None] >> np.arange(bits)[::-1]
    return np.where(index & 1, 1.0, -1.0)


def exhaustive_codes(n_classes: int) -> Array:
    """All 2^(k-1) - 1 ways to split the classes in two; words differ in 2^(k-2) bits."""
    if n_classes > MOST_EXHAUSTIVE:
        raise ValueError(
            f"code='exhaustive' would need {2 ** (n_classes - 1) - 1} machines for {n_classes} classes; use 'random'."
        )
    # The first class is always +1: a split and its mirror image are the same problem. All +1 is no split.
    splits = itertools.product((1.0, -1.0), repeat=n_classes - 1)
    return np.array([(1.0, *rest) for rest in splits][1:]).T


def random_codes(n_classes: int, random_state: Seed = None, bits: int | None = None) -> Array:
    """Words of 10 log2 k random bits (Allwein et al. 2000), never twice the same split; of many books the best.

    The best is the one whose nearest two words are furthest apart. None is the same book every time.
    """
    most = 2 ** (n_classes - 1) - 1 if n_classes < 32 else np.inf
    bits = int(min(bits or np.ceil(10.0 * np.log2(n_classes)), most))
    rng = random_state if isinstance(random_state, np.random.RandomState) else np.random.RandomState(random_state or 0)
    best, furthest = None, -1.0
    for _ in range(DRAWS):
        book = _distinct_splits(n_classes, bits, rng)
        distance = _smallest_distance(book)
        if distance > furthest:
            best, furthest = book, distance
    assert best is not None
    return best


def _distinct_splits(n_classes: int, bits: int, rng: np.random.RandomState) -> Array:
    splits: dict[bytes, Array] = {}
    while len(splits) < bits:
        column = rng.choice([-1.0, 1.0], size=n_classes)
        column *= column[0]
        if (column < 0).any():
            splits[column.tobytes()] = column
    return np.column_stack(list(splits.values()))


def _smallest_distance(book: Array) -> float:
    """The number of bits in which the two nearest words differ."""
    agreeing = book @ book.T  # bits that agree minus bits that differ
    np.fill_diagonal(agreeing, -np.inf)
    return 0.5 * (book.shape[1] - float(agreeing.max()))


def code_book(code: str | Array, n_classes: int, random_state: Seed) -> Array:
    """The book that ``code`` asks for: a name, or the book itself."""
    if isinstance(code, str):
        if code == "auto":
            code = "exhaustive" if n_classes <= EXHAUSTIVE else "random"
        if code == "random":
            return random_codes(n_classes, random_state)
        return exhaustive_codes(n_classes) if code == "exhaustive" else bit_codes(n_classes)
    book = np.asarray(code, np.float64)
    if book.ndim != 2 or len(book) != n_classes or not np.isin(book, (-1.0, 1.0)).all():
        raise ValueError(
            f"code must be a matrix of +1 and -1 with one row for each of the {n_classes} classes; got shape "
            f"{book.shape}."
        )
    if len(np.unique(book, axis=0)) < n_classes:
        raise ValueError("code gives two classes the same word: no decision could tell them apart.")
    if (book == book[0]).all(axis=0).any():
        raise ValueError("code has a column that is the same for all classes: there is nothing to learn in it.")
    return book
