"""Writes the table of docs/sklearn_table.md: every parameter, attribute and method of scikit-learn's SVMs and of ours.

Both libraries are introspected: signatures of constructors and methods, and the attributes of models fitted on the same
rows. What differs or is missing needs a reason in ``REASONS``; a reason that explains nothing is an error too.
``tests/api/test_sklearn_table.py`` compares the file with what this makes of the libraries as they are.
"""

import inspect
import pathlib
import warnings
from typing import Any

import numpy as np
import sklearn.svm as theirs
from scipy import sparse
from sklearn.datasets import load_iris

import maxmargin as ours
from maxmargin.lectures.page import save_text

FILE = pathlib.Path(__file__).parent / "sklearn_table.md"
NAMES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM", "LinearSVC", "LinearSVR")
X, Y = load_iris(return_X_y=True)
NUMBERS = np.sin(X[:, 0]) + Y
TIGHT = 1e-8

INTRODUCTION = (
    "Made by `docs/make_sklearn_table.py` from both libraries as they are; a test compares. Attributes are those of "
    "models fitted on the same rows with a tight tolerance, and same means equal to it."
)
OF_PYTHON = ("mro", "register")
SOLVED = "counts the steps of another solver"
REASONS: dict[tuple[str, str], str] = {
    ("*", "cache_size"): "a share of the memory that is free, at most 1 GB, instead of 200 MB",
    ("*", "probability"): 'False; scikit-learn\'s "deprecated" means the same',
    ("*", "n_iter_"): SOLVED,
    ("LinearSVC", "coef_"): 'the bias is free: `fit_intercept="regularized"` gives scikit-learn\'s weights',
    ("LinearSVC", "intercept_"): "the bias is free, see `coef_`",
    ("LinearSVR", "coef_"): 'the bias is free: `fit_intercept="regularized"` gives scikit-learn\'s weights',
    ("LinearSVR", "intercept_"): "the bias is free, see `coef_`",
    ("LinearSVC", "max_iter"): "-1, no limit: a fit ends when its gap is proved or nothing moves any more",
    ("LinearSVR", "max_iter"): "-1, no limit: a fit ends when its gap is proved or nothing moves any more",
    ("*", "probA_"): "exists with `probability=True`, empty there without it",
    ("*", "probB_"): "exists with `probability=True`, empty there without it",
}


def parameters(cls: type) -> dict[str, Any]:
    """Names and defaults of the constructor."""
    return {name: p.default for name, p in inspect.signature(cls).parameters.items()}


def methods(cls: type) -> dict[str, tuple[str, ...]]:
    """Public methods and the names of their parameters."""
    found = {}
    for name in dir(cls):
        static = inspect.getattr_static(cls, name)
        function = getattr(static, "fn", getattr(cls, name))  # scikit-learn's methods that may be missing
        if callable(function) and not (name.startswith("_") or name in OF_PYTHON):
            found[name] = tuple(p for p in inspect.signature(function).parameters if p != "self")
    return found


def fitted(library: Any, name: str) -> dict[str, Any]:
    """Attributes of a model on iris, of all three classes or of a number that no feature is."""
    cls = getattr(library, name)
    given = {"nu": 0.31} if "nu" in parameters(cls) else {}  # no whole number of rows: some multipliers are free
    given |= {"max_iter": 200_000} if name.startswith("Linear") else {"gamma": 0.5}
    # scikit-learn's hidden twins are no public attributes; SVMs of three classes have all of them.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        targets = Y if name.endswith("SVC") else NUMBERS
        model = cls(tol=TIGHT, **given).fit(X, targets)
        found = {n: getattr(model, n) for n in dir(model) if _is_attribute(n) and hasattr(model, n)}
        if "kernel" in parameters(cls):
            found["coef_"] = cls(tol=TIGHT, **given, kernel="linear").fit(X, targets).coef_
    return found


def _is_attribute(name: str) -> bool:
    return name.endswith("_") and not name.startswith("_")


def equal(a: Any, b: Any) -> bool:
    """Whether two attributes hold the same, to what the solvers' tolerances leave."""
    a, b = (value.toarray() if sparse.issparse(value) else value for value in (a, b))
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape:
        return False
    if first.dtype.kind not in "biuf":
        return bool(np.all(first == second))
    return bool(np.allclose(first.astype(float), second.astype(float), atol=2e-4))


def reason(cls: str, name: str, used: set[tuple[str, str]]) -> str:
    """Why it differs. Writes: used, with the reason, or with what has none."""
    key = next((key for key in ((cls, name), ("*", name)) if key in REASONS), (cls, name))
    used.add(key)
    return REASONS.get(key, "")


def compared(cls: str, kind: str, mine: dict[str, Any], other: dict[str, Any], same: Any, used: set) -> list[str]:
    """Rows of the table: what scikit-learn has, in its order, and what only we have in one row."""
    rows = []
    for name, value in other.items():
        if name not in mine:
            rows.append(f"| {kind} | `{name}` | missing: {reason(cls, name, used)} |")
        elif same(mine[name], value):
            rows.append(f"| {kind} | `{name}` | same |")
        else:
            rows.append(f"| {kind} | `{name}` | different: {reason(cls, name, used)} |")
    more = [f"`{name}`" for name in mine if name not in other]
    return [*rows, f"| {kind} | {', '.join(more)} | ours only |"] if more else rows


def table() -> str:
    """The whole page."""
    used: set[tuple[str, str]] = set()
    parts = [
        "# Every name, compared",
        INTRODUCTION,
    ]
    for name in NAMES:
        mine, other = getattr(ours, name), getattr(theirs, name)
        rows = compared(name, "parameter", parameters(mine), parameters(other), _same_default, used)
        rows += compared(name, "attribute", fitted(ours, name), fitted(theirs, name), equal, used)
        rows += compared(name, "method", methods(mine), methods(other), _same_call, used)
        parts += [f"## {name}", "| kind | name | compared with scikit-learn |\n|---|---|---|\n" + "\n".join(rows)]
    if used - set(REASONS):
        raise KeyError(f"These differ from scikit-learn's or are missing, without a reason: {used - set(REASONS)}.")
    if set(REASONS) - used:
        raise KeyError(f"REASONS explains what does not differ: {set(REASONS) - used}.")
    return "\n\n".join(parts) + "\n"


def _same_default(mine: Any, other: Any) -> bool:
    return mine == other and isinstance(mine, bool) == isinstance(other, bool)


def _same_call(mine: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Whether every call that scikit-learn's method takes is taken."""
    return mine[: len(other)] == other


if __name__ == "__main__":
    save_text(FILE, table())
