"""Every kind of problem in every residence and storage, judged by its certificate."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from maxmargin import Bias, Loss, Status, certify, soft_margin
from maxmargin.gram import Gram
from maxmargin.kernels import RBF, Laplacian, Linear, Polynomial
from maxmargin.solvers.box.old_solve import SMO, solve
from tests import helpers

KERNELS = {"linear": Linear(), "cubic": Polynomial(3, 0.2, 1.0), "rbf": RBF(0.2), "laplacian": Laplacian(0.2)}
BUDGETS = {"whole": 1 << 30, "cached": 8 * 2600 * 400, "streamed": 8 * 2600 * 20}
X, Y = helpers.overlapping(2600, 5)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("budget", BUDGETS)
@pytest.mark.parametrize("loss", Loss)
@pytest.mark.parametrize("bias", Bias)
def test_larger_problems_reach_tol(kernel, budget, loss, bias):
    chosen = KERNELS[kernel] + 1.0 if bias is Bias.REGULARIZED else KERNELS[kernel]
    gram = Gram(chosen, X, 1e-3, BUDGETS[budget], 2)
    solution = solve(soft_margin(gram, Y, 0.05, loss, bias), SMO())
    assert solution.status is Status.CONVERGED
    assert solution.certificate.violation <= 1e-3 * (1 + 1e-6)
    assert 0 <= solution.certificate.relative_gap < 1e-2
    objectives = solution.trace.column("objective")
    assert all(later >= earlier - 1e-6 * abs(earlier) for earlier, later in pairwise(objectives))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("store", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("bias", [Bias.FREE, Bias.NONE])
def test_small_problems_are_solved_to_the_end(kernel, store, dtype, bias):
    some, labels = helpers.overlapping(300, 4)
    gram = Gram(KERNELS[kernel], store(some.astype(dtype)))
    for C in (1e-2, 1.0, 100.0):
        solution = solve(soft_margin(gram, labels, C, bias=bias), SMO(tol=1e-3))
        assert solution.status is Status.CONVERGED
        assert solution.certificate.violation < 1e-7
        assert 0 <= solution.certificate.relative_gap < 1e-7


def test_a_cost_of_zero_takes_a_row_out():
    some, labels = helpers.overlapping(200, 4)
    costs = np.where(np.arange(200) % 3 == 0, 0.0, 1.0)
    for loss in Loss:
        solution = solve(soft_margin(Gram(RBF(0.2), some), labels, costs, loss), SMO())
        assert not solution.beta[costs == 0].any()
        kept = costs > 0
        reference = solve(soft_margin(Gram(RBF(0.2), some[kept]), labels[kept], 1.0, loss), SMO())
        assert solution.certificate.dual == pytest.approx(reference.certificate.dual, rel=1e-9)


def test_float32_tiles_are_corrected_where_the_certificate_disagrees():
    """At a tolerance near the error of float32 values, only recomputed scores can show that the point is optimal."""
    many, labels = helpers.overlapping(2600, 5)
    gram = Gram(RBF(0.2), many, accuracy=1.0)  # float32 whatever the tolerance of the solver
    assert gram.dtype == np.float32
    problem = soft_margin(gram, labels, 10.0)
    solution = solve(problem, SMO(tol=1e-5))
    assert solution.status is Status.CONVERGED
    proof = certify(problem, labels * solution.beta, exact=True)
    assert proof.violation <= 1e-5 * (1 + 1e-6)
    exact = solve(soft_margin(Gram(RBF(0.2), many), labels, 10.0), SMO(tol=1e-5))
    assert proof.dual == pytest.approx(exact.certificate.dual, rel=1e-8)
