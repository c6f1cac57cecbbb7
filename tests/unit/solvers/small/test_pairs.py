"""Pairs of small classes in one compiled call."""

from itertools import combinations

import numpy as np
import pytest

from maxmargin.gram import Gram
from maxmargin.kernels import RBF
from maxmargin.losses import Hinge, SquaredHinge
from maxmargin.losses.box import box_of
from maxmargin.models import soft_margin
from maxmargin.solvers import Options, solve
from maxmargin.solvers.small.box import certificate_of, goal_of
from maxmargin.solvers.small.pairs import NUMBERS, Classes, Found, Sides, Span, keep_within, solve_pairs

RNG = np.random.default_rng(0)
SIZES = np.array([12, 0, 7, 9])
EDGES = np.concatenate([[0], np.cumsum(SIZES)])
LABELS = np.repeat(np.arange(4), SIZES)
X = RNG.normal(size=(len(LABELS), 3)) + 0.7 * LABELS[:, None]
COSTS = RNG.uniform(0.5, 2.0, len(LABELS))
KERNEL = RBF(0.4)
PLACES = np.concatenate([[0], np.cumsum(SIZES**2)])


def tile(rows, columns):
    gram = Gram(KERNEL, X)
    return gram.values.exact_tile(*(slice(EDGES[span.begin], EDGES[span.end]) for span in (rows, columns)))


def found_by(loss, spans, keep=keep_within, run=solve_pairs):
    """All pairs, by the tiles between spans of classes."""
    ones = np.ones(len(LABELS))
    sides = Sides(box_of(loss, ones, COSTS, True), box_of(loss, -ones, COSTS, True))
    classes = Classes(EDGES, np.ones(len(LABELS)), sides, np.empty(PLACES[-1]), PLACES)
    found, goal = Found(np.zeros((3, len(LABELS))), np.zeros((6, NUMBERS))), goal_of(1e-3, 0.0)
    for span in spans:
        K = tile(span, span)
        keep(K, span, classes)
        run(K, span, span, classes, goal, found)
    for rows, columns in combinations(spans, 2):
        run(tile(rows, columns), rows, columns, classes, goal, found)
    return found


@pytest.mark.parametrize("spans", [[Span(0, 4)], [Span(0, 2), Span(2, 4)], [Span(k, k + 1) for k in range(4)]])
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_every_pair_is_the_problem_of_its_rows(loss, spans):
    found = found_by(loss, spans)
    proofs = certificate_of(found.outcomes)
    for number, (a, b) in enumerate(combinations(range(4), 2)):
        rows = np.flatnonzero((a == LABELS) | (b == LABELS))
        if not (SIZES[a] and SIZES[b]):
            assert not found.numbers[number].any()
            continue
        y = np.where(LABELS[rows] == a, 1.0, -1.0)
        alone = solve(soft_margin(Gram(KERNEL, X[rows]), y, COSTS[rows], loss), Options(1e-3), "smo")
        beta = np.concatenate([found.coef[b - 1, a == LABELS], found.coef[a, b == LABELS]])
        np.testing.assert_allclose(beta, alone.beta, atol=1e-7)
        ours = np.array([column[number] if np.ndim(column) else column for column in proofs[:6]])
        np.testing.assert_allclose(ours, alone.certificate[:6], atol=1e-7)
        assert found.outcomes.solved[number] == 1.0


def test_the_loops_equal_their_python_text():
    plain = [getattr(loop, "py_func", loop) for loop in (keep_within, solve_pairs)]
    one, other = found_by(Hinge(), [Span(0, 4)]), found_by(Hinge(), [Span(0, 4)], *plain)
    np.testing.assert_allclose(one.coef, other.coef, atol=1e-9)
    np.testing.assert_allclose(one.numbers, other.numbers, atol=1e-9)


def test_two_classes_need_no_copy_of_their_matrix():
    """The tile of two classes is the matrix of the pair."""
    ones, n = np.ones(19), 19
    rows = np.flatnonzero(np.isin(LABELS, (0, 2)))
    edges, places = np.array([0, 12, n]), np.array([0, 144, 144 + 49])
    sides = Sides(*(box_of(Hinge(), sign * ones, COSTS[rows], True) for sign in (1.0, -1.0)))
    classes = Classes(edges, np.ones(n), sides, np.empty(places[-1]), places)
    found = Found(np.zeros((1, n)), np.zeros((1, NUMBERS)))
    K = Gram(KERNEL, X[rows]).values.exact_tile(slice(0, n), slice(0, n))
    before = K.copy()
    keep_within(K, Span(0, 2), classes)
    solve_pairs(K, Span(0, 2), Span(0, 2), classes, goal_of(1e-3, 0.0), found)
    np.testing.assert_array_equal(K, before)
    y = np.where(LABELS[rows] == 0, 1.0, -1.0)
    alone = solve(soft_margin(Gram(KERNEL, X[rows]), y, COSTS[rows]), Options(1e-3), "smo")
    np.testing.assert_allclose(found.coef[0], alone.beta, atol=1e-7)
