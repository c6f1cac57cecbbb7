"""What the algorithms accept: lists become arrays, and what they cannot use is an error that says what to do."""

import numpy as np


def rows(X):
    """X as floats: n x p, a row per example."""
    if np.ndim(X) != 2 or 0 in np.shape(X):
        raise ValueError(f"X must be n x p, a row per example; its shape is {np.shape(X)}")
    X = np.asarray(X, float)
    if not np.isfinite(X).all():
        raise ValueError("the entries of X or K must be finite numbers")
    return X


def one_per_row(y, n):
    """Whatever the labels are, there are n of them."""
    if np.shape(y) != (n,):
        raise ValueError(f"y must have one label for each of the {n} rows; its shape is {np.shape(y)}")


def signs(y, n):
    """Labels of two classes as floats -1 and +1, one per row."""
    one_per_row(y, n)
    if not np.isin(y, (-1, 1)).all():
        raise ValueError("labels must be -1 or +1: 2 * (y == positive) - 1")
    return np.asarray(y, float)


def classes(y, n, K=None):
    """Labels of K classes as integers 0 to K-1, one per row, no class without an example; None counts the classes."""
    one_per_row(y, n)
    found = np.unique(y)
    K = len(found) if K is None else K
    if not np.array_equal(found, np.arange(K)):
        raise ValueError(f"labels must be the integers 0 to {K - 1}, all of them: np.unique(y, return_inverse=True)[1]")
    return np.asarray(y).astype(int)


def values(X, m):
    """Features as integers 0 to m-1."""
    if np.ndim(X) != 2 or not np.isin(X, np.arange(m)).all():
        raise ValueError(f"X must be n x p with the integers 0 to {m - 1}: np.unique(column, return_inverse=True)[1]")
    return np.asarray(X).astype(int)


def examples(X, y):
    """X and y of two classes."""
    X = rows(X)
    return X, signs(y, len(X))


def matrix(K, y):
    """K and y of two classes."""
    if np.ndim(K) != 2 or np.shape(K) != (len(y), len(y)):
        raise ValueError(f"K must be the n x n kernel matrix: kernels.linear(X, X); n is {len(y)}, K has {np.shape(K)}")
    return rows(K), signs(y, len(y))


def weight(C, hard=False):
    """C of the slack; ``hard`` allows an infinite one, which is the hard margin."""
    if not C > 0:
        raise ValueError(f"C must be positive; got {C}")
    if np.isinf(C) and not hard:
        raise ValueError("C must be finite; without slack: hard_margin.primal(X, y) or hard_margin.dual(K, y)")


def penalty(lam):
    """lambda of the norm."""
    if not 0 <= lam < np.inf:
        raise ValueError(f"lam must be finite and not negative; got {lam}")


def loss(given, *valid):
    """One of a few words, or an object with the methods value(y, gamma) and slope(y, gamma)."""
    methods = all(callable(getattr(given, name, None)) for name in ("value", "slope"))
    if isinstance(given, str) or not methods:
        choice("loss", given, *valid)


def choice(name, given, *valid):
    """One of a few words or numbers."""
    if given not in valid:
        raise ValueError(f"{name} must be {' or '.join(map(repr, valid))}; got {given!r}")
