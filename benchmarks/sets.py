"""The data sets of the comparisons: real ones from a folder of ``.npz`` files, generated and bundled ones without it.

A file holds ``X`` (dense) or ``X_data``, ``X_indices``, ``X_indptr``, ``X_shape`` (CSR), ``y``, and where there is an
official test part the same with ``_test``.
"""

import os
import pathlib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

FOLDER_VARIABLE = "MAXMARGIN_DATA"
TEST_ROWS = 10_000  # to predict; sets with fewer rows for it repeat them
WIDE = 1000  # sparse sets up to this width are given as dense arrays: every peer is faster on those


class Case(NamedTuple):
    """One comparison: training rows, rows to predict, and the settings of all peers."""

    name: str
    X: Any
    y: np.ndarray
    X_test: Any
    C: float
    gamma: float


class Recipe(NamedTuple):
    """How a case is made of a stored set. ``positive`` is the class that is set against the rest."""

    stored: str
    C: float
    gamma: float | str
    scaling: str = ""
    rows: int | None = None
    positive: int | None = None


RECIPES = {
    "usps": Recipe("usps", 10, 1 / 128),
    "letter": Recipe("letter", 16, 8, "unit"),
    "mnist10k": Recipe("mnist", 10, 0.02, "pixels", 10_000),
    "mnist": Recipe("mnist", 10, 0.02, "pixels"),
    "a9a": Recipe("a9a", 1, 1 / 123),
    "w8a": Recipe("w8a", 1, 1 / 300),
    "ijcnn1": Recipe("ijcnn1", 32, 2),
    "covtype20k": Recipe("covtype", 3, 8, "unit", 20_000, 2),
    "covtype50k": Recipe("covtype", 3, 8, "unit", 50_000, 2),
    "spambase": Recipe("spambase", 10, 1 / 57, "standard"),
    "madelon": Recipe("madelon", 1, 1 / 500, "standard"),
    "skin60k": Recipe("skin_nonskin", 10, 10, "unit", 60_000),
}
# Looked at only after every constant of the library was fixed.
HELD_OUT = {
    name: Recipe(name, 1, "scale") for name in ("pendigits", "shuttle", "mushrooms", "svmguide1", "higgs_lightgbm_7k")
}
# Too long for every peer: named on the command line only.
LARGE = {"skin": Recipe("skin_nonskin", 10, 10, "unit")}
WITHOUT_FOLDER = ("iris", "breast_cancer", "digits", "generated5k", "generated20k", "generated20k_c100")


def names(folder: pathlib.Path | None) -> list[str]:
    """The sets that a run without names compares."""
    return list(RECIPES) if folder else list(WITHOUT_FOLDER)


def folder_of(option: str | None) -> pathlib.Path | None:
    """The data folder from the option or the environment."""
    given = option or os.environ.get(FOLDER_VARIABLE)
    if not given:
        return None
    folder = pathlib.Path(given)
    if not folder.is_dir():
        raise SystemExit(f"No data folder {folder}: give one with --data or {FOLDER_VARIABLE}, or leave both out.")
    return folder


def case(name: str, folder: pathlib.Path | None) -> Case:
    """The case of that name."""
    recipe = (RECIPES | HELD_OUT | LARGE).get(name)
    if recipe is None:
        return bundled(name)
    if folder is None:
        raise SystemExit(f"The set {name} needs a data folder: --data or {FOLDER_VARIABLE}.")
    with np.load(folder / f"{recipe.stored}.npz") as z:
        X, y = stored_rows(z, "X"), z["y"]
        X_test = stored_rows(z, "X_test")
    if recipe.positive is not None:
        y = (y == recipe.positive).astype(int)
    X, X_test = scaled(X, X_test, recipe.scaling)
    order = np.random.default_rng(0).permutation(len(y))
    if recipe.rows is not None:
        chosen, rest = order[: recipe.rows], order[recipe.rows :]
        X_test = X[rest] if X_test is None else X_test
        X, y = X[chosen], y[chosen]
    X_test = X if X_test is None else X_test
    gamma = 1.0 / (X.shape[1] * X.var()) if recipe.gamma == "scale" else recipe.gamma
    return Case(name, X, y, to_predict(X_test), recipe.C, float(gamma))


def to_predict(X: Any) -> Any:
    """``TEST_ROWS`` of the rows of X, from the beginning again where there are fewer."""
    return X[np.arange(TEST_ROWS) % X.shape[0]]


def stored_rows(z, part: str, dense: bool = True) -> Any:
    """A part of a file in float32, or None if there is none; CSR unless it is narrow and ``dense`` is wanted."""
    if part in z.files:
        return np.asarray(z[part], np.float32)
    if f"{part}_data" not in z.files:
        return None
    stored = tuple(z[f"{part}_{field}"] for field in ("data", "indices", "indptr"))
    X = sparse.csr_array((stored[0].astype(np.float32), *stored[1:]), shape=tuple(z[f"{part}_shape"]))
    return X.toarray() if dense and X.shape[1] <= WIDE else X


def scaled(X, X_test, scaling: str) -> tuple[Any, Any]:
    """Rows and test rows scaled alike: "pixels" by 255, "unit" to [0, 1], "standard" to mean 0 and variance 1."""
    if not scaling:
        return X, X_test
    if scaling == "pixels":
        shift, scale = 0.0, 255.0
    elif scaling == "unit":
        shift, scale = X.min(axis=0), np.ptp(X, axis=0)
    else:
        shift, scale = X.mean(axis=0, dtype=np.float64), X.std(axis=0, dtype=np.float64)
    scale = np.where(np.asarray(scale) > 0, scale, 1.0)
    return tuple(None if part is None else ((part - shift) / scale).astype(np.float32) for part in (X, X_test))


def bundled(name: str) -> Case:
    """Sets that need no folder."""
    if name.startswith("generated"):
        size, _, cost = name.removeprefix("generated").partition("k")
        X, y = generated(int(size) * 1000, 20)
        return Case(name, X, y, to_predict(X), float(cost.removeprefix("_c") or 1), 0.03)
    from sklearn import datasets

    if name not in WITHOUT_FOLDER:
        raise SystemExit(f"No set {name}: choose from {', '.join((*RECIPES, *HELD_OUT, *LARGE, *WITHOUT_FOLDER))}.")
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    X = ((X - X.mean(0)) / np.where(X.std(0) > 0, X.std(0), 1.0)).astype(np.float32)
    return Case(name, X, y, X, 10.0, 1.0 / X.shape[1])


def generated(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A curved boundary in two of d normal features, with noise on it."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)).astype(np.float32)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=n) > 0).astype(int)
    return X, y


# Linear machines: (stored set, scaling, class set against the rest). Counts become tf-idf with logarithmic counts.
LINEAR = {
    "covtype": ("covtype", "standard", 2),
    "skin_nonskin": ("skin_nonskin", "", None),
    "mnist": ("mnist", "pixels", None),
    "a9a": ("a9a", "", None),
    "w8a": ("w8a", "", None),
    "ijcnn1": ("ijcnn1", "", None),
    "20news": ("20news_counts", "tfidf", None),
    "imdb": ("imdb_counts", "tfidf", None),
    "sector": ("sector", "", None),
    "madelon": ("madelon", "standard", None),
}
LINEAR_WITHOUT_FOLDER = ("breast_cancer", "digits", "generated20k")


def linear_names(folder: pathlib.Path | None) -> list[str]:
    """The sets that a run of the linear comparison without names uses."""
    return list(LINEAR) if folder else list(LINEAR_WITHOUT_FOLDER)


def linear_case(name: str, folder: pathlib.Path | None) -> Case:
    """Training rows for linear machines, sparse sets as they are stored."""
    if name not in LINEAR:
        return bundled(name)
    if folder is None:
        raise SystemExit(f"The set {name} needs a data folder: --data or {FOLDER_VARIABLE}.")
    stored, scaling, positive = LINEAR[name]
    with np.load(folder / f"{stored}.npz") as z:
        X, y = stored_rows(z, "X", dense=False), z["y"]
    if positive is not None:
        y = (y == positive).astype(int)
    X = tfidf(X) if scaling == "tfidf" else scaled(X, None, scaling)[0]
    X = X if sparse.issparse(X) else np.ascontiguousarray(X)  # row by row, as loops over rows read it
    return Case(name, X, y, X[:1], 1.0, 1.0)


def tfidf(X) -> Any:
    """(1 + log count) log-idf, rows of length one, in float32."""
    from sklearn.feature_extraction.text import TfidfTransformer

    made = sparse.csr_array(TfidfTransformer(sublinear_tf=True).fit_transform(X))
    return sparse.csr_array(
        (made.data.astype(np.float32), made.indices.astype(np.int32), made.indptr.astype(np.int32)), shape=made.shape
    )
