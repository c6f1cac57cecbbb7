"""Working sets: both sides, spread or violating most, half of them kept, settled ones left out."""

import itertools

import numpy as np
import pytest

from maxmargin.certificates.kkt import standing
from maxmargin.core.rows import NO_ROWS
from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses.box import Box
from maxmargin.models import soft_margin
from maxmargin.problems.box import BoxQP, one_group
from maxmargin.solvers import Options
from maxmargin.solvers.box.working_set import LEAST, WorkingSets

N = 400
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
K = RBF(0.5)(X)
GRAM = Gram(RBF(0.5), X)
Y = np.where(RNG.random(N) < 0.8, 1.0, -1.0)


def sets(problem, largest=LEAST, **options):
    return WorkingSets(problem, Options(tol=1e-3, **options), largest)


def chosen(made, problem, beta, working=NO_ROWS, v=None, untouched=False):
    v = problem.p - K @ beta if v is None else v
    return made.choose(working, beta, v, standing(problem, beta, v), untouched)


def some_point(problem, seed=0):
    """Multipliers at bounds and between them."""
    share = np.clip(np.random.default_rng(seed).normal(0.5, 0.7, N), 0.0, 1.0)
    return problem.lower + share * (problem.upper - problem.lower)


def test_the_first_set_takes_both_classes_in_equal_parts_from_everywhere():
    kept, fresh = chosen(sets(soft_margin(GRAM, Y, 1.0)), soft_margin(GRAM, Y, 1.0), np.zeros(N), untouched=True)
    assert len(kept) == 0
    assert len(set(fresh)) == len(fresh) == LEAST
    np.testing.assert_array_equal(Y[fresh], np.tile([1.0, -1.0], LEAST // 2))
    positive = fresh[Y[fresh] > 0]
    assert np.all(np.diff(positive) > 0)  # in the order of the rows
    assert positive[0] < 5
    assert np.diff(positive).max() < 10 * N / LEAST


def test_the_first_set_follows_a_given_order():
    problem, order = soft_margin(GRAM, Y, 1.0), np.random.default_rng(3).permutation(N)
    _, fresh = chosen(sets(problem, order=order), problem, np.zeros(N), untouched=True)
    places = np.argsort(order)[fresh]
    assert np.all(np.diff(places[::2]) > 0)
    assert np.all(np.diff(places[1::2]) > 0)


def test_sets_double_up_to_the_largest():
    problem = soft_margin(GRAM, Y, 1.0)
    made = sets(problem, largest=300)
    sizes = [sum(map(len, chosen(made, problem, np.zeros(N)))) for _ in range(8)]
    assert sizes[0] >= LEAST
    assert all(after in (2 * before, 300) for before, after in itertools.pairwise(sizes))
    assert sizes[-1] == 300


@pytest.mark.parametrize("seed", range(4))
def test_fresh_rows_violate_most_on_both_sides_in_turn(seed):
    problem = soft_margin(GRAM, Y, 1.0)
    beta, working = some_point(problem, seed), np.random.default_rng(seed).permutation(N)[:100]
    kept, fresh = chosen(sets(problem, shrinking=False), problem, beta, working)
    np.testing.assert_array_equal(kept, working[-LEAST // 2 :])
    assert len(fresh) == LEAST - len(kept)
    assert not set(kept) & set(fresh)
    v = Y - K @ beta
    up, down = v.copy(), v.copy()  # what may rise and what may fall; what is kept is not fresh
    up[(beta >= problem.upper) | np.isin(np.arange(N), kept)] = -np.inf
    down[(beta <= problem.lower) | np.isin(np.arange(N), kept)] = np.inf
    taken = []
    for riser, faller in zip(np.argsort(-up), np.argsort(down), strict=True):
        taken += [row for row in (riser, faller) if row not in taken]
    np.testing.assert_array_equal(fresh, taken[: len(fresh)])


def test_rows_that_are_settled_at_a_bound_leave_where_shrinking_is_allowed():
    problem = soft_margin(GRAM, np.ones(N) * np.where(np.arange(N) % 2, 1.0, -1.0), 1.0)
    beta, v = np.zeros(N), np.zeros(N)
    beta[:4] = problem.lower[:4] + problem.upper[:4]  # at their bounds away from zero
    v[:4] = 5.0 * problem.p[:4]  # and pushed against them
    beta[[10, 11]], v[[10, 11]] = 0.5 * problem.p[[10, 11]], [-1.0, 1.0]  # free ones that violate
    working = np.array([0, 1, 2, 3, 10, 11])
    for shrinking, expected in ((True, [10, 11]), (False, [0, 1, 2, 3, 10, 11])):
        kept, _ = chosen(sets(problem, shrinking=shrinking), problem, beta, working, v)
        np.testing.assert_array_equal(kept, expected)


def regression(kink, group=None, totals=None):
    zero, one = np.zeros(N), np.ones(N)
    if group is None:
        group, totals = one_group(N)
    return BoxQP(GRAM, Box(np.sin(X[:, 0]), -one, one, np.full(N, kink), zero), group, totals)


def test_a_kink_keeps_small_slopes_out():
    problem = regression(0.4)
    _, fresh = chosen(sets(problem, largest=N), problem, np.zeros(N), untouched=True)
    centred = np.sin(X[:, 0])
    spread = centred.max() - centred.min() - 0.8
    assert spread > 0
    # A pair (i, j) gains where p_i - p_j exceeds both kinks: rows in no such pair stay out.
    gains = (centred - 0.4 > centred.min() + 0.4) | (centred + 0.4 < centred.max() - 0.4)
    assert len(fresh) > 0
    assert gains[fresh].all()


def test_slopes_of_groups_compare_within_their_own():
    """All rows of the second group have one slope, far above the first group's: nothing is to be gained there."""
    group = np.arange(N) % 2
    problem = regression(0.0, group, np.zeros(2))
    v = np.where(group == 1, 100.0, np.random.default_rng(1).normal(size=N))
    _, fresh = chosen(sets(problem), problem, np.zeros(N), v=v)
    assert len(fresh) == LEAST
    assert (group[fresh] == 0).all()
    v = np.where(group == 1, 100.0 + 10.0 * np.random.default_rng(2).normal(size=N), v)
    _, fresh = chosen(sets(problem), problem, np.zeros(N), v=v)
    assert (group[fresh] == 1).mean() > 0.9  # now it is the second one where more is to be gained
