"""The compiled loops of naive Bayes are their Python twins."""

import numpy as np
from scipy import sparse

from maxmargin.bayes import categorical, gaussian, multinomial
from maxmargin.core.rows import rows_of
from maxmargin.preprocessing.moments import _follow, grouped_moments
from tests.unit.bayes.models import some_rows


def test_loops_are_their_python_twins():
    X, y, rng = some_rows(5)
    weights, edges = rng.random(40), np.array([0, 6, 12, 18])
    logs, means, precisions = rng.normal(size=(18, 3)), rng.normal(size=(3, 3)), rng.random((3, 3))
    numbers, counts, codes = rows_of(X, np.float64), rows_of(sparse.csr_array(X), np.float64), rows_of(X, np.int64)

    def results(run):
        found = grouped_moments(X[:0].astype(float), y[:0], weights[:0], 3)
        origins, distances = np.zeros((3, 3)), np.zeros((40, 3))
        sums, cells, scores = multinomial.Counts(np.zeros(3), np.zeros((3, 3))), np.zeros((18, 3)), np.zeros((40, 3))
        run(_follow)(numbers, y, weights, origins, found)
        run(gaussian._squared_distances)(numbers, means, precisions, distances)
        run(multinomial._add_rows)(counts, y, weights, sums)
        run(categorical._add_weights)(codes, y, weights, edges, cells)
        run(categorical._add_logs)(codes, edges, logs, scores)
        return [*found, origins, distances, *sums, cells, scores]

    compiled, plain = results(lambda loop: loop), results(lambda loop: getattr(loop, "py_func", loop))
    for one, other in zip(compiled, plain, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-12)
