"""What note 004 counts among the strengths and weaknesses of support vector machines, measured."""

from __future__ import annotations

from collections import Counter

import numpy as np
from sklearn.datasets import make_circles
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier

from maxmargin.core.rows import Array
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import data


def objectives_of_machines(starts: int = 10) -> Array:
    """The certified optimum from rows in random orders, and continued from machines with other values of C."""
    X, y = data.moons(120, noise=0.2, seed=3)
    found = []
    for seed in range(starts):
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(y))
        found.append(SVC(C=10.0, gamma=1.0, random_state=seed).fit(X[order], y[order]).certificate_.primal)
        warm = SVC(C=10.0 ** rng.uniform(-2, 3), gamma=1.0, warm_start=True).fit(X, y)
        found.append(warm.set_params(C=10.0).fit(X, y).certificate_.primal)
    return np.array(found)


def losses_of_networks(starts: int = 10) -> Array:
    """Where training ends for a network of two hidden units, from random weights; each end is stationary."""
    X, y = data.moons(120, noise=0.2, seed=3)
    network = MLPClassifier((2,), activation="tanh", solver="lbfgs", alpha=1e-2, tol=1e-6, max_iter=5000)
    return np.array([network.set_params(random_state=seed).fit(X, y).loss_ for seed in range(starts)])


def with_noise_features(counts: tuple[int, ...] = (0, 10, 100, 1000)) -> list[tuple[int, float, float]]:
    """Accuracies of the linear machine and of the nearest neighbour as features of pure noise are added to two."""
    X, y = data.two_clouds(50, apart=4.0, seed=0)
    Z, labels = data.two_clouds(250, apart=4.0, seed=1)
    rng = np.random.default_rng(2)
    noise, more = rng.normal(size=(len(X), max(counts))), rng.normal(size=(len(Z), max(counts)))
    rows = []
    for count in counts:
        seen, unseen = np.hstack([X, noise[:, :count]]), np.hstack([Z, more[:, :count]])
        models = SVC(kernel="linear", C=0.1), KNeighborsClassifier(1)
        machine, nearest = (float(model.fit(seen, y).score(unseen, labels)) for model in models)
        rows.append((count, machine, nearest))
    return rows


def margin_against_slack() -> Array:
    """For values of C, in rows: C, the margin 1/||w|| and the sum of slacks of the machine with that C."""
    (X, y), found = data.two_clouds(60, apart=2.0), []
    for C in np.geomspace(1e-3, 1e2, 16):
        machine = SVC(kernel="linear", C=C).fit(X, y)
        found.append((C, machine.margin_, np.maximum(0, 1 - y * machine.decision_function(X)).sum()))
    return np.array(found)


def common_triples(s: str, t: str) -> float:
    """A kernel of strings: the inner product of their counts of three letters in a row."""
    left, right = (Counter(word[i : i + 3] for i in range(len(word) - 2)) for word in (s, t))
    return float(sum(times * right[triple] for triple, times in left.items()))


def strands(n: int, seed: int) -> tuple[list[str], Array]:
    """Random strands of 24 letters, n with TATAAA somewhere (+1) and n with CCGGAA (-1)."""
    rng, words = np.random.default_rng(seed), []
    for motif in n * ["TATAAA"] + n * ["CCGGAA"]:
        letters, at = "".join(rng.choice(list("ACGT"), 24)), rng.integers(19)
        words.append(letters[:at] + motif + letters[at + 6 :])
    return words, np.repeat([1.0, -1.0], n)


def weights_by_penalty() -> dict[str, Array]:
    """Weights of the linear machine on breast cancer data with 30 features of noise added, for both penalties."""
    X, y = data.cancer()
    noisy = np.hstack([X, np.random.default_rng(0).normal(size=X.shape)])
    return {penalty: LinearSVC(penalty=penalty, C=0.05).fit(noisy, y).coef_[0] for penalty in ("l2", "l1")}


def rings() -> tuple[Array, Array, SVC, SVC]:
    """Two rings, and the machines of the wrong kernel and of a right one."""
    X, y = (np.asarray(part) for part in make_circles(160, factor=0.5, noise=0.08, random_state=0))
    return X, y, SVC(kernel="linear").fit(X, y), SVC(kernel="rbf", gamma=1.0).fit(X, y)
