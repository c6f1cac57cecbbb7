"""Arrays that are not validated must be those that validation leaves as they are."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_X_y

from maxmargin import SVC, LinearSVR
from maxmargin.checks import data
from maxmargin.checks.plain import are_plain_labels, are_plain_numbers, plain_rows, shape_of_array

RNG = np.random.default_rng(0)
X = RNG.normal(size=(30, 3))
CSR = sparse.csr_array(np.where(X > 0, X, 0.0))
PLAIN = [X, X.astype(np.float32), X[:1], X[:, :1].copy(), CSR, CSR.astype(np.float32), sparse.csr_matrix(CSR)]
COPIED = {
    "Fortran order": np.asfortranarray(X),
    "Fortran order, float32": np.asfortranarray(X, np.float32),
    "columns": X[:, ::2],
    "rows backwards": X[::-1],
    "integers": np.arange(8).reshape(4, 2),
    "bytes in Fortran order": np.asfortranarray(np.arange(8, dtype=np.uint8).reshape(4, 2)),
    "truth values": X > 0,
}
OTHERS = {
    "half precision": X.astype(np.float16),
    "other byte order": X.astype(">f8"),
    "one dimension": X[0],
    "integers in one dimension": np.arange(4),
    "integers without rows": np.ones((0, 2), int),
    "no rows": X[:0],
    "no features": X[:, :0],
    "NaN": np.where(X > 1, np.nan, X),
    "infinity": np.where(X > 1, np.inf, X),
    "both infinities": np.where(X > 1, np.inf, np.where(X < -1, -np.inf, X)),
    "a list": X.tolist(),
    "a matrix": np.matrix(X),
    "objects": X.astype(object),
    "CSC": CSR.tocsc(),
    "CSR of integers": sparse.csr_array(np.eye(4, dtype=int)),
    "CSR with NaN": sparse.csr_array(np.where(X > 1, np.nan, X)),
    "CSR with repeated entries": sparse.csr_array(([1.0, 2.0, 1.0], [0, 0, 1], [0, 2, 3]), shape=(2, 2)),
    "CSR with columns out of order": sparse.csr_array(([1.0, 2.0], [1, 0], [0, 2]), shape=(1, 2)),
    "CSR with 64-bit indices": sparse.csr_array((CSR.data, CSR.indices.astype(np.int64), CSR.indptr), shape=CSR.shape),
    "CSR without rows": CSR[:0],
}


def validated(rows):
    """Rows as scikit-learn's validation makes them."""
    y = np.zeros(rows.shape[0])
    return check_X_y(rows, y, dtype=(np.float64, np.float32), order="C", accept_sparse="csr")[0]


@pytest.mark.parametrize("rows", PLAIN, ids=lambda rows: f"{rows.dtype} {rows.shape}")
def test_plain_rows_are_not_copied(rows):
    assert plain_rows(rows) is rows
    assert validated(rows) is rows


@pytest.mark.parametrize("name", COPIED)
def test_other_layouts_are_copied_as_by_validation(name):
    rows, expected = plain_rows(COPIED[name]), validated(COPIED[name])
    assert rows.dtype == expected.dtype
    assert rows.flags.c_contiguous
    assert not np.shares_memory(rows, COPIED[name])
    np.testing.assert_array_equal(rows, expected)


@pytest.mark.parametrize("name", OTHERS)
def test_what_validation_would_change_or_refuse_is_left_to_it(name):
    assert shape_of_array(OTHERS[name]) is None or plain_rows(OTHERS[name]) is None


def test_a_sum_that_overflows_is_left_to_validation():
    assert plain_rows(np.full((4, 2), 1e308)) is None


@pytest.mark.parametrize("name", COPIED)
def test_what_is_validated_in_the_end_was_not_copied_before(name, monkeypatch):
    rows = COPIED[name]
    n = len(rows)
    monkeypatch.setattr(data, "plain_rows", lambda X: pytest.fail("copied"))
    checked, _ = data.training_data(SVC(), rows, np.array(["a", "b"] * (n // 2)))
    np.testing.assert_array_equal(checked, validated(rows))
    data.regression_data(LinearSVR(), rows, [0.5] * n)
    seen = SVC()
    seen.n_features_in_, seen.feature_names_in_ = rows.shape[1], np.array(["a", "b", "c"])[: rows.shape[1]]
    with pytest.warns(UserWarning, match="feature names"):
        data.prediction_data(seen, rows)


@pytest.mark.parametrize("name", COPIED)
def test_a_machine_takes_all_layouts(name):
    rows = COPIED[name]
    y = np.arange(len(rows)) % 2
    machine = SVC(gamma=0.5).fit(rows, y)
    expected = SVC(gamma=0.5).fit(validated(rows), y)
    np.testing.assert_array_equal(machine.decision_function(rows), expected.decision_function(validated(rows)))


@pytest.mark.parametrize(
    ("labels", "plain"),
    [
        (np.arange(30) % 3, True),
        ((np.arange(30) % 2).astype(np.uint8), True),
        (np.arange(30) % 2 == 0, True),
        (np.arange(30), False),  # half of them different: scikit-learn warns
        (np.array([0, 10**6] * 15), False),
        (np.arange(30) % 2 * 1.0, False),
        (np.array(["a", "b"] * 15), False),
        (np.arange(30).reshape(-1, 1) % 2, False),
        (np.arange(29) % 2, False),
        ([0, 1] * 15, False),
    ],
)
def test_plain_labels(labels, plain):
    assert are_plain_labels(labels, 30) == plain
    if plain:
        check_classification_targets(labels)


def test_plain_numbers():
    assert are_plain_numbers(X[:, 0].copy(), 30)
    for other in (X[:, :1], X[:20, 0], np.arange(30), np.full(30, np.nan), X[:, 0].astype(np.float32), list(X[:, 0])):
        assert not are_plain_numbers(other, 30)


def test_names_of_an_earlier_fit_are_forgotten():
    pandas = pytest.importorskip("pandas")
    y = np.arange(30) % 2
    machine = SVC().fit(pandas.DataFrame(X, columns=["a", "b", "c"]), y)
    assert list(machine.feature_names_in_) == ["a", "b", "c"]
    with pytest.warns(UserWarning, match="feature names"):
        machine.predict(X)
    machine.fit(X, y)
    assert not hasattr(machine, "feature_names_in_")
    with pytest.raises(ValueError, match="2 features"):
        machine.predict(X[:, :2].copy())


def test_wrong_data_are_refused_as_before():
    y = np.arange(30) % 2
    with pytest.raises(ValueError, match="NaN"):
        SVC().fit(np.where(X > 1, np.nan, X), y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SVC().fit(X, y[:20])
    with pytest.raises(ValueError, match=r"infinity|NaN"):
        LinearSVR().fit(X, np.where(X[:, 0] > 1, np.inf, X[:, 0]))
    with pytest.warns(UserWarning, match="unique classes"):
        SVC().fit(X, np.arange(30) // 1.5 // 1)
