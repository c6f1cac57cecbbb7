"""Machines for two classes that make one for ten (note 002): what each of them gets wrong."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PALETTE, panels
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import reductions


def wrong_bits() -> Shown:
    r"""Ten classes from machines for two

    Three ways to use binary machines for the ten digits (002:370-380): a machine per bit of the label (the "bad
    option"), one versus one, one versus all. Bits are worst, for two reasons. All four bits must be right, so the
    errors of the machines add up. And each bit asks an odd question: "is the label one of 1, 3, 5, 7, 9?" is no natural
    division of the pictures, so its machine errs more often than those that know one class (right). Some patterns of
    bits are no label at all. That it "doesn't work" is too strong: it works, several times worse.

    "Neither is perfect" of the other two: pairs can tie in their votes; of the machines one versus all, none or several
    may claim an example, which only their scores decide. A machine per bit is repaired by more bits than needed, so
    that wrong ones are outvoted (error-correcting codes, `multi_class="codes"`).
    """
    X, y = data.digits()
    train, test = slice(0, 1200), slice(1200, None)
    ways = {"one versus one": reductions.one_vs_one, "one versus all": reductions.one_vs_all, "bits": reductions.bits}
    accuracy, signs, errors, unknown = {}, {}, {}, 0
    for name, way in ways.items():
        machines: list[LinearSVC] = []
        predicted = way(X[train], y[train], trainer(machines))(X[test])
        accuracy[name] = float(np.mean(predicted == y[test]))
        signs[name] = np.array([machine.decision_function(X[test]) >= 0 for machine in machines])
        errors[name] = errors_of_machines(name, signs[name], y[test])
        unknown = int(np.sum(predicted == -1))
    codes = LinearSVC(loss="hinge", C=1.0, multi_class="codes", code="random").fit(X[train], y[train])
    accuracy["long code"] = float(codes.score(X[test], y[test]))
    every = float(np.mean(np.all(signs["bits"] == bits_of(y[test]), axis=0)))
    claimed = signs["one versus all"].sum(axis=0)
    ties = tied_votes(signs["one versus one"])
    rows = [(name, len(signs[name]) if name in signs else len(codes.coef_), value,
             float(errors[name].mean()) if name in errors else "") for name, value in accuracy.items()]  # fmt: skip
    header = ("way", "machines", "accuracy", "mean error of a machine")
    better = min(accuracy["one versus one"], accuracy["one versus all"])
    return Shown(lambda: draw_bits(accuracy, errors), (Table(header, rows),), (
        (f"bits are worst: {1 - accuracy['bits']:.0%} errors, the others at most {1 - better:.0%}",
         1 - accuracy["bits"] > 2 * (1 - better)),
        ("a prediction by bits is right exactly when all four machines are", every == accuracy["bits"]),
        ("every bit's machine errs more often than the mean machine of the other ways",
         errors["bits"].min() > max(errors["one versus one"].mean(), errors["one versus all"].mean())),
        (f"{unknown} of {len(y[test])} bit patterns are no digit", unknown > 0),
        (f"one versus all: {np.sum(claimed == 0)} examples are claimed by no machine, {np.sum(claimed > 1)} by several",
         bool(np.any(claimed == 0) and np.any(claimed > 1))),
        (f"one versus one: {ties} ties for the most votes", ties > 0),
        (f"a random code of {rows[-1][1]} bits gets {accuracy['long code']:.3f}",
         accuracy["long code"] > accuracy["bits"] + 0.05),
    ))  # fmt: skip


def trainer(machines: list[LinearSVC]) -> Any:
    """A way to train that keeps the machines in ``machines``."""

    def train(X: Array, signs: Array) -> Any:
        machines.append(LinearSVC(loss="hinge", C=1.0).fit(X, signs))
        return machines[-1].decision_function

    return train


def bits_of(y: Array) -> Array:
    """The four bits of each label, a row per bit."""
    return np.array([(y >> bit & 1) == 1 for bit in range(4)])


def errors_of_machines(name: str, signs: Array, y: Array) -> Array:
    """Share of the examples that concern a machine which it gets wrong."""
    if name == "one versus one":
        pairs = list(combinations(range(10), 2))
        return np.array(
            [np.mean((said != (y == p))[(y == p) | (y == q)]) for said, (p, q) in zip(signs, pairs, strict=True)]
        )
    truth = bits_of(y) if name == "bits" else y == np.arange(10)[:, None]
    return np.mean(signs != truth, axis=1)


def tied_votes(signs: Array) -> int:
    """Examples for which two classes share the most votes."""
    votes = np.zeros((10, signs.shape[1]))
    for said, (p, q) in zip(signs, combinations(range(10), 2), strict=True):
        votes[p] += said
        votes[q] += ~said
    return int(np.sum((votes == votes.max(axis=0)).sum(axis=0) > 1))


def draw_bits(accuracy: dict[str, float], errors: dict[str, Array]) -> Any:
    """Errors of each way, and of its machines."""
    figure, (left, right) = panels(2)
    names = list(accuracy)
    bars = left.bar(names, [1 - accuracy[name] for name in names], color=PALETTE[: len(names)], width=0.6)
    left.bar_label(bars, [f"{1 - accuracy[name]:.1%}" for name in names], fontsize=9)
    left.set_xticks(range(len(names)), [name.replace(" ", "\n") for name in names], fontsize=9)
    left.set(ylabel="error", title="error in ten classes", ylim=(0, 1.15 * (1 - min(accuracy.values()))))
    rng = np.random.default_rng(0)
    for place, (colour, values) in enumerate(zip(PALETTE, errors.values(), strict=False)):
        right.plot(place + rng.uniform(-0.12, 0.12, len(values)), values, "o", color=colour, ms=5, alpha=0.8)
        right.hlines(values.mean(), place - 0.3, place + 0.3, color=INK, lw=1.5)
    right.set_xticks(range(len(errors)), [name.replace(" ", "\n") for name in errors], fontsize=9)
    right.set(ylabel="error", title="each binary machine (line: mean)")
    return figure
