"""Pairs of classes: their rows, coefficients, votes, and the order in which they are solved."""

import itertools

import numpy as np
from sklearn.utils.multiclass import _ovr_decision_function

from maxmargin.multiclass import OneVsOne
from maxmargin.multiclass import one_vs_one as ovo


def test_pairs_join_and_split():
    labels = np.array([0, 0, 1, 1, 2, 2, 2])
    for n_classes, names in ((3, labels), (4, labels + (labels > 0))):
        tasks, edges = OneVsOne(n_classes).tasks(names), np.searchsorted(names, np.arange(n_classes + 1))
        assert len(tasks) == n_classes * (n_classes - 1) // 2
        rng = np.random.default_rng(0)
        betas = [rng.normal(size=task.size(len(labels))) for task in tasks]
        coef = ovo.join(betas, edges)
        assert coef.shape == (n_classes - 1, 7)
        for beta, again in zip(betas, ovo.split(coef, edges), strict=True):
            np.testing.assert_array_equal(beta, again)


def test_tasks_of_rows_in_any_order():
    labels = np.array([2, 0, 1, 1, 0, 2])
    tasks = OneVsOne(3).tasks(labels)
    np.testing.assert_array_equal(tasks[1].rows, [0, 1, 4, 5])
    np.testing.assert_array_equal(tasks[1].signs, [-1.0, 1.0, 1.0, -1.0])
    assert [task.name for task in tasks] == ["pair 1/3", "pair 2/3", "pair 3/3"]


def test_decisions_of_pairs_are_those_of_their_own_machines():
    rng = np.random.default_rng(1)
    labels = np.sort(rng.integers(0, 4, size=30))
    tasks = OneVsOne(4).tasks(labels)
    betas = [rng.normal(size=task.size(len(labels))) for task in tasks]
    coef, K = ovo.join(betas, np.searchsorted(labels, np.arange(5))), rng.normal(size=(5, 30))
    sums = np.stack([coef[:, labels == c] @ K[:, labels == c].T for c in range(4)])
    together = ovo.pair_decisions(sums, np.zeros(6))
    for column, (task, beta) in enumerate(zip(tasks, betas, strict=True)):
        np.testing.assert_allclose(together[:, column], K[:, task.rows] @ beta)


def test_votes_and_scores():
    tie = np.array([[1.0, -2.0, 3.0]])  # 0 beats 1, 2 beats 0, 1 beats 2
    np.testing.assert_array_equal(ovo.votes(tie, 3), [[1, 1, 1]])
    assert np.argmax(ovo.class_scores(tie, 3)) == 1
    decisions = np.random.default_rng(2).normal(size=(50, 6))
    reference = _ovr_decision_function(decisions < 0, -decisions, 4)
    np.testing.assert_allclose(ovo.class_scores(decisions, 4), reference)


def test_rounds_hold_every_pair_once_and_neighbours_are_disjoint():
    for k in (2, 3, 6, 9):
        order = ovo.rounds(k)
        pairs = list(itertools.combinations(range(k), 2))
        assert sorted(order) == list(range(len(pairs)))
        for start in range(0, len(order), k // 2):
            classes = [c for number in order[start : start + k // 2] for c in pairs[number]]
            assert len(set(classes)) == len(classes)
