"""The X and y of users become arrays in one layout, or a clear error: the only file that calls ``validate_data``."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from scipy import sparse
from sklearn.utils import assert_all_finite, check_array, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, validate_data

from maxmargin.checks.plain import are_plain_labels, are_plain_numbers, has_seen_such, plain_rows, shape_of_array
from maxmargin.checks.transaction import OF_VALIDATION, note_features
from maxmargin.core.rows import Array
from maxmargin.kernels.choice import Takes
from maxmargin.kernels.points import as_objects, holds_objects

Layout: TypeAlias = dict[str, Any]  # what scikit-learn's validation is to make of X
_LAYOUT: Layout = {"accept_sparse": "csr", "dtype": (np.float64, np.float32), "order": "C"}
DENSE: Layout = _LAYOUT | {"accept_sparse": False}
DENSE_OF_ANY_NUMBERS: Layout = DENSE | {"dtype": "numeric"}


def training_data(estimator: Any, X: Any, y: Any, takes: Takes = Takes.VECTORS) -> tuple[Any, Array]:
    """X as rows and y as one label per row."""
    shape = shape_of_array(X)
    if takes is Takes.VECTORS and shape and are_plain_labels(y, shape[0]):
        plain = plain_rows(X)
        if plain is not None:
            note_features(estimator, plain)
            return plain, y
    rows, y = _pairs(estimator, X, y, takes)
    check_classification_targets(y)
    return rows, np.asarray(y)


def regression_data(
    estimator: Any, X: Any, y: Any, takes: Takes = Takes.VECTORS, reset: bool = True
) -> tuple[Any, Array]:
    """X as rows and y as one finite number per row. Without ``reset`` X must have the features seen before."""
    shape = shape_of_array(X)
    if reset and takes is Takes.VECTORS and shape and are_plain_numbers(y, shape[0]):
        plain = plain_rows(X)
        if plain is not None:
            note_features(estimator, plain)
            return plain, y
    rows, y = _pairs(estimator, X, y, takes, reset, y_numeric=True)
    y = np.asarray(y, np.float64)
    assert_all_finite(y, input_name="y")
    return rows, y


def _pairs(estimator: Any, X: Any, y: Any, takes: Takes, reset: bool = True, **targets: Any) -> tuple[Any, Any]:
    """Rows and targets."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is None. "
            "Supervised learning needs one target per row."
        )
    if takes is Takes.OBJECTS and holds_objects(X):
        items = _objects(estimator, X)
        y = column_or_1d(y, warn=True)
        check_consistent_length(items, y)
        return items, y
    _refuse_text(estimator, X)
    checked: Any = validate_data(estimator, X, y, multi_output=False, reset=reset, **_layout(takes), **targets)
    rows, y = checked
    return _as_taken(rows, takes), y


def unlabelled_training_data(estimator: Any, X: Any, takes: Takes) -> Any:
    """X as rows of a fit that has no targets."""
    plain = plain_rows(X) if takes is Takes.VECTORS and shape_of_array(X) else None
    if plain is not None:
        note_features(estimator, plain)
        return plain
    if takes is Takes.OBJECTS and holds_objects(X):
        return _objects(estimator, X)
    _refuse_text(estimator, X)
    return _as_taken(validate_data(estimator, X, **_layout(takes)), takes)


def _objects(estimator: Any, X: Any) -> Array:
    for name in OF_VALIDATION:  # of an earlier fit on numbers: objects have no features
        vars(estimator).pop(name, None)
    return as_objects(X)


def _layout(takes: Takes) -> Layout:
    return DENSE if takes is Takes.VALUES else _LAYOUT


def _as_taken(rows: Any, takes: Takes) -> Any:
    """Checked rows of a fit; kernel values must be those between all of them."""
    if takes is Takes.VALUES and rows.shape[0] != rows.shape[1]:
        raise ValueError(
            f"With kernel='precomputed' X must be the square matrix of all kernel values between training rows; "
            f"got shape {rows.shape}."
        )
    return _compact(rows)


def further_data(estimator: Any, X: Any, y: Any, reset: bool, layout: Layout | None = None) -> tuple[Any, Array]:
    """Rows and labels of one call of ``partial_fit``; after the first one X must have the same features."""
    shape = shape_of_array(X)
    known = shape and (reset or has_seen_such(estimator, shape[1]))
    if shape and known and layout is None and are_plain_labels(y, shape[0]):
        plain = plain_rows(X)
        if plain is not None:
            note_features(estimator, plain)
            return plain, y
    _refuse_text(estimator, X)
    rows, y = validate_data(estimator, X, y, multi_output=False, reset=reset, **(layout or _LAYOUT))
    check_classification_targets(y)
    return _compact(rows), np.asarray(y)


def unlabelled_data(estimator: Any, X: Any, reset: bool, layout: Layout | None = None) -> Any:
    """X as rows; without ``reset`` X must have the features seen before."""
    _refuse_text(estimator, X)
    return _compact(validate_data(estimator, X, reset=reset, **(layout or _LAYOUT)))


def prediction_data(estimator: Any, X: Any, takes: Takes = Takes.VECTORS) -> Any:
    """X of the kind that the estimator was fitted on."""
    shape = shape_of_array(X)
    if takes is Takes.VECTORS and shape and has_seen_such(estimator, shape[1]):
        plain = plain_rows(X)
        if plain is not None:
            return plain
    if takes is Takes.OBJECTS and holds_objects(X):
        return as_objects(X)
    if takes is Takes.VALUES:
        _refuse_raw_rows(estimator, check_array(X, **DENSE))
    return unlabelled_data(estimator, X, reset=False)


def _refuse_raw_rows(estimator: Any, X: Array) -> None:
    """Rows of data where rows of kernel values are needed: 'X has 4 features' would not say what is wrong."""
    n = estimator.n_features_in_
    if X.shape[1] != n:
        raise ValueError(
            f"X has {X.shape[1]} features, but {type(estimator).__name__} is expecting {n} features as input: with "
            f"kernel='precomputed' X holds no data but the kernel matrix between the new rows and the {n} training "
            f"rows, of shape (rows, {n})."
        )


def non_negative(estimator: Any, X: Any) -> Any:
    """X itself, all of whose entries are >= 0."""
    if (X.data if sparse.issparse(X) else X).min(initial=0) < 0:
        raise ValueError(
            f"Negative values in data passed to {type(estimator).__name__}: {first_entry(estimator, X, X < 0)}."
        )
    return X


def first_entry(estimator: Any, X: Any, wrong: Any) -> str:
    """Which feature has which value in which row, for the first entry that is wrong."""
    row, feature = (int(places[0]) for places in wrong.nonzero())
    return f"{feature_label(estimator, feature)} is {X[row, feature]} in row {row}"


def component_data(estimator: Any, X: Any, width: int) -> Array:
    """Rows of components, as ``transform`` makes them."""
    layout: Layout = {"dtype": (np.float64, np.float32), "order": "C"}
    rows = check_array(X, **layout)
    if rows.shape[1] != width:
        name = type(estimator).__name__
        raise ValueError(f"X has {rows.shape[1]} components, but {name} was fitted with {width}.")
    return rows


def feature_label(estimator: Any, feature: int) -> str:
    """What messages call a feature: its name if it has one."""
    names = getattr(estimator, "feature_names_in_", None)
    return f"feature {feature}" if names is None else f"feature {names[feature]!r}"


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
