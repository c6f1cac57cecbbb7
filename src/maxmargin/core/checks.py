"""The door: user's X, y, weights and parameters become arrays in one layout, or a clear error.

This is the only file that calls scikit-learn's validation.
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np
from scipy import sparse
from sklearn.utils import check_array, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from maxmargin.core.rows import Array

Layout: TypeAlias = dict[str, Any]  # what scikit-learn's validation is to make of X
Method = TypeVar("Method", bound=Callable[..., Any])


class Rule(NamedTuple):
    """What a parameter must be, in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


def positive(value: Any) -> bool:
    """A number above zero; infinity counts."""
    return isinstance(value, Real) and not isinstance(value, bool) and not math.isnan(value) and float(value) > 0


def integer(value: Any) -> bool:
    """An integer of any kind but bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def boolean(value: Any) -> bool:
    """True or False, also NumPy's."""
    return isinstance(value, bool | np.bool_)


def number(value: Any) -> bool:
    """A finite real number."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def numbers(value: Any) -> Array | None:
    """The value as an array of float64, or None if it is none: text, also of digits, truth values, ragged lists."""
    try:
        values = np.asarray(value)
    except ValueError:
        return None
    return values.astype(np.float64) if values.dtype.kind in "iuf" else None


def one_of(*options: Any) -> Rule:
    """One of a few values, most of them words."""
    named = ", ".join(repr(option) for option in options)
    return Rule(
        f"one of {named}", lambda value: any(value is o or (isinstance(o, str) and value == o) for o in options)
    )


# Parameters that several estimators have, with one meaning.
COMMON_RULES: dict[str, Rule] = {
    "fit_intercept": Rule("True, False or 'regularized'", lambda v: boolean(v) or v == "regularized"),
    "tol": Rule("a number > 0", positive),
    "max_iter": Rule("-1 (no limit) or an integer >= 0", lambda v: integer(v) and v >= -1),
    "time_limit": Rule("a number of seconds > 0, or None", lambda v: v is None or positive(v)),
    "warm_start": Rule("True or False", boolean),
    "n_jobs": Rule("an integer or None", lambda v: v is None or integer(v)),
    "verbose": Rule("True, False or an integer", lambda v: boolean(v) or integer(v)),
    "callback": Rule("a function or None", lambda v: v is None or callable(v)),
    "interrupt": one_of("raise", "keep"),
}


def parameters(estimator: Any, rules: dict[str, Rule]) -> None:
    """Check every parameter against its rule."""
    for name, rule in rules.items():
        value = getattr(estimator, name)
        if not rule.holds(value):
            raise ValueError(f"{type(estimator).__name__}: {name} must be {rule.words}; got {value!r}.")


def training_data(estimator: Any, X: Any, y: Any, objects: bool, square: bool) -> tuple[Any, Array]:
    """X as rows (or objects that only the kernel understands) and y as one label per row."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Supervised learning needs one label per row."
        )
    if objects and holds_objects(X):
        items = as_objects(X)
        y = column_or_1d(y, warn=True)
        check_consistent_length(items, y)
        rows: Any = items
    else:
        _refuse_text(estimator, X)
        layout = _LAYOUT | ({"accept_sparse": False} if square else {})
        rows, y = validate_data(estimator, X, y, multi_output=False, **layout)
        rows = _compact(rows)
        if square and rows.shape[0] != rows.shape[1]:
            raise ValueError(
                f"With kernel='precomputed' X must be the square matrix of all kernel values between training rows; "
                f"got shape {rows.shape}."
            )
    check_classification_targets(y)
    return rows, np.asarray(y)


def further_data(estimator: Any, X: Any, y: Any, reset: bool, layout: Layout | None = None) -> tuple[Any, Array]:
    """Rows and labels of one call of ``partial_fit``; after the first one X must have the same features."""
    _refuse_text(estimator, X)
    rows, y = validate_data(estimator, X, y, multi_output=False, reset=reset, **(layout or _LAYOUT))
    check_classification_targets(y)
    return _compact(rows), np.asarray(y)


def unlabelled_data(estimator: Any, X: Any, reset: bool, layout: Layout | None = None) -> Any:
    """X as rows; without ``reset`` X must have the features seen before."""
    _refuse_text(estimator, X)
    return _compact(validate_data(estimator, X, reset=reset, **(layout or _LAYOUT)))


def regression_data(estimator: Any, X: Any, y: Any, reset: bool = True) -> tuple[Any, Array]:
    """X as rows and y as one finite number per row; without ``reset`` X must have the features seen before."""
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    _refuse_text(estimator, X)
    rows, y = validate_data(estimator, X, y, multi_output=False, y_numeric=True, reset=reset, **_LAYOUT)
    return _compact(rows), np.asarray(y, np.float64)


def prediction_data(estimator: Any, X: Any, objects: bool) -> Any:
    """X of the kind that the estimator was fitted on."""
    if objects and holds_objects(X):
        return as_objects(X)
    return unlabelled_data(estimator, X, reset=False)


_LAYOUT: Layout = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "order": "C"}
MOST_CATEGORIES = 2**24  # of a feature; their table has a column each
DENSE: Layout = _LAYOUT | {"accept_sparse": False}
DENSE_OF_ANY_NUMBERS: Layout = DENSE | {"dtype": "numeric"}


def stream_classes(estimator: Any, y: Array, classes: Any) -> Array:
    """All labels of a stream: the first call of ``partial_fit`` names them, later ones must agree."""
    known = getattr(estimator, "classes_", None)
    if known is None:
        if classes is None:
            name = type(estimator).__name__
            raise ValueError(f"{name}.partial_fit: the first call needs classes, the list of all labels there will be.")
        known = np.unique(classes)
    elif classes is not None and not np.array_equal(np.unique(classes), known):
        raise ValueError(f"classes={classes!r} is not what the first call said: {known!r}.")
    unknown = np.setdiff1d(y, known)
    if len(unknown):
        raise ValueError(f"y holds labels that classes did not name: {unknown!r}.")
    return known


def non_negative(estimator: Any, X: Any) -> Any:
    """X itself, all of whose entries are >= 0."""
    if (X.data if sparse.issparse(X) else X).min(initial=0) < 0:
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}: {_first_entry(estimator, X, X < 0)}."
        )
    return X


def category_codes(estimator: Any, X: Array, negative: bool = False) -> Array:
    """X as integers 0, 1, 2, ..., those above ``MOST_CATEGORIES`` as that number; so are those below 0 if allowed.

    Fractions are rounded down, as scikit-learn does, but not in silence.
    """
    if not negative:
        non_negative(estimator, X)
    if X.dtype.kind == "f":
        X = X.astype(np.float64, copy=False)  # half precision cannot be compared with MOST_CATEGORIES
    if X.min(initial=0) >= 0 and X.max(initial=0) < MOST_CATEGORIES:
        codes = X.astype(np.int64, copy=False)
    else:  # not by a cast, in which huge numbers would wrap around
        strange = (X < 0) | (X >= MOST_CATEGORIES)
        codes = np.where(strange, MOST_CATEGORIES, np.where(strange, 0, X).astype(np.int64))
    if X.dtype.kind == "f":
        _warn_of_fractions(estimator, X, (codes != X) & (codes < MOST_CATEGORIES))
    return codes


def _warn_of_fractions(estimator: Any, X: Array, fractions: Array) -> None:
    if fractions.any():
        warn_user(
            f"{type(estimator).__name__}: {_first_entry(estimator, X, fractions)}, and categories are 0, 1, 2, ...: "
            "it is rounded down. sklearn.preprocessing.OrdinalEncoder makes such numbers of anything."
        )


def learnable_codes(estimator: Any, X: Array) -> Array:
    """``category_codes`` to learn from: every category below the largest has a place in a table, so none is huge."""
    codes = category_codes(estimator, X)
    if codes.max(initial=0) == MOST_CATEGORIES:
        entry = _first_entry(estimator, X, codes == MOST_CATEGORIES)
        raise ValueError(
            f"{type(estimator).__name__}: {entry}, and categories are 0, 1, 2, ... below "
            f"{MOST_CATEGORIES}. sklearn.preprocessing.OrdinalEncoder makes such numbers of anything."
        )
    return codes


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """A warning that points at the first line outside this package and scikit-learn, which calls its fits."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("maxmargin", "sklearn"):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


def _first_entry(estimator: Any, X: Any, wrong: Any) -> str:
    """Which feature has which value in which row, for the first entry that is wrong."""
    row, feature = (int(places[0]) for places in wrong.nonzero())
    return f"{feature_label(estimator, feature)} is {X[row, feature]} in row {row}"


def feature_label(estimator: Any, feature: int) -> str:
    """What messages call a feature: its name if it has one."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"feature {feature}" if names is None else f"feature {names[feature]!r}"


def holds_objects(X: Any) -> bool:
    """Whether X is a collection of things that are not numbers: strings, graphs, ragged lists."""
    if hasattr(X, "to_numpy"):
        return len(X.shape) == 1  # a column of a table
    if sparse.issparse(X):
        return False
    if isinstance(X, np.ndarray):
        return X.dtype.kind in "OUS"
    try:
        return np.asarray(X, dtype=np.float64).ndim != 2
    except (ValueError, TypeError):  # text, ragged lists, graphs
        return True


def as_objects(X: Any) -> Array:
    """An array of objects, one for each row."""
    if isinstance(X, np.ndarray):
        return X
    if hasattr(X, "to_numpy"):
        return np.asarray(X.to_numpy(), object)
    items = np.empty(len(X), object)
    for position, item in enumerate(X):  # one by one: NumPy would take lists of equal length apart
        items[position] = item
    return items


def _refuse_text(estimator: Any, X: Any) -> None:
    """Numbers only: scikit-learn would answer text with 'could not convert string to float'."""
    names = getattr(X, "columns", None)
    if names is None and not isinstance(X, list | tuple | np.ndarray):
        return
    columns = [(f" in column {name!r}", X[name]) for name in names] if names is not None else [("", X)]
    for where, values in columns:
        found = _first_text(values)
        if found is not None:
            raise ValueError(
                f"X contains text{where} ({found!r}), and {type(estimator).__name__} learns from vectors of numbers. "
                f"Encode the text as numbers first{_other_ways(estimator)}."
            )


def _other_ways(estimator: Any) -> str:
    """What else users of the estimator may want who have text."""
    if hasattr(estimator, "C"):
        return ", or give SVC a kernel function that compares strings"
    return " (OrdinalEncoder, OneHotEncoder of sklearn.preprocessing, or CountVectorizer for documents)"


def _first_text(values: Any) -> str | None:
    """The first string that is not a number."""
    if getattr(getattr(values, "dtype", None), "kind", "O") in "biufcmM":
        return None
    for value in np.asarray(values, object).ravel():
        if isinstance(value, str):
            try:
                float(value)
            except ValueError:
                return value
    return None


def _compact(X: Any) -> Any:
    """CSR without repeated entries and with 32-bit indices where they suffice."""
    if not sparse.issparse(X):
        return X
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    if X.indices.dtype != np.int32 and max(X.shape[1], X.nnz) < np.iinfo(np.int32).max:
        compact = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        X = type(X)(compact, shape=X.shape)
    return X


def sample_weights(sample_weight: Any, n: int, all_zero: bool = False) -> Array:
    """One finite weight >= 0 per row; all of them zero only if ``all_zero`` says that this may be."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, float(sample_weight))
    layout: dict[str, Any] = {"ensure_2d": False, "dtype": np.float64, "input_name": "sample_weight"}
    weights = check_array(sample_weight, **layout)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != n:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}: one weight per row of X.")
    if (weights < 0).any():
        at = int(np.argmax(weights < 0))
        raise ValueError(f"Negative values in sample_weight: {weights[at]} at row {at}; weights must be >= 0.")
    if not (all_zero or weights.any()):
        raise ValueError("All values in sample_weight are zero: there is no row left to learn from.")
    return weights


def all_or_nothing(fit: Method) -> Method:
    """Decorates ``fit`` and ``partial_fit``: one that fails or is interrupted leaves the estimator as it was.

    That includes what scikit-learn's validation sets. The attributes are those of before, not copies of them: a fit
    makes new arrays, and writes into none that it finds.
    """

    @functools.wraps(fit)
    def guarded(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        before = dict(vars(estimator))
        try:
            return fit(estimator, *args, **kwargs)
        except BaseException:
            estimator.__dict__ = before  # in one step: Ctrl-C may come twice
            raise

    return guarded  # type: ignore[return-value]


def finite_total(estimator: Any, weights: Array) -> None:
    """Weights of many rows, each finite, may have an infinite sum."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(weights.sum())
    if not finite:
        raise ValueError(f"{type(estimator).__name__}: the sample weights are too large: their sum overflows.")


def weighted(sample_weight: Any, X: Any, *others: Any, all_zero: bool = False) -> tuple[Any, ...]:
    """The weights above zero, and the rows of X and of the others that have them: a row of weight 0 is no row."""
    weights = sample_weights(sample_weight, X.shape[0], all_zero)
    if weights.all():
        return weights, X, *others
    used = np.flatnonzero(weights)
    return tuple(part[used] for part in (weights, X, *others))


def class_costs(class_weight: Any, classes: Array, y: Array, weights: Array) -> Array:
    """One factor of C per class; "balanced" counts the weights, so that a weight of 2 equals two rows."""
    if class_weight is None:
        return np.ones(len(classes))
    factors = compute_class_weight(class_weight, classes=classes, y=y, sample_weight=weights)
    if not np.all((factors >= 0) & np.isfinite(factors)):
        raise ValueError(f"class_weight must give a finite weight >= 0 to every class; got {class_weight!r}.")
    return factors


def at_least_two(classes: Array, name: str) -> None:
    """A classifier needs two classes."""
    if len(classes) < 2:
        found = f"only class {classes[0]}" if len(classes) else "no class"
        raise ValueError(
            f"{name} needs rows of at least 2 classes; y holds {found} "
            "(rows with sample_weight 0 do not count). The number of classes has to be greater than one; "
            f"got {len(classes)} class."
        )
