"""Features translated, scaled and decorrelated (note 002)."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np

from maxmargin.core.rows import Array
from maxmargin.estimators import LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PAGE, PALETTE, panels
from maxmargin.lectures.note_002 import linear_machines as linear
from maxmargin.lectures.page import Shown, Table
from maxmargin.preprocessing import Whitener
from maxmargin.textbook import newton, sgd

LIMIT = 5000  # steps of gradient descent that are waited for


def why_translate() -> Shown:
    r"""Whitening, and why to translate as well

    "Whitening features is a very good idea; important to translate as well - why?" (002:302-303). Length and weight of
    400 fish of two kinds, far from the origin. Three answers, each measured.

    *Steps.* A step changes $(\mathbf a, b)$ by the error times $(\mathbf x, 1)$, so what descent feels is the matrix
    $\mathbb E[(\mathbf x, 1)(\mathbf x, 1)^T]$, and the number of steps grows with the ratio of its largest to its
    smallest eigenvalue. Scaling alone leaves it in the thousands: far from the origin all $(\mathbf x, 1)$ point the
    same way. Translation does most; decorrelated features make the matrix the identity. Above: gradient descent on the
    logistic $S$ with the step $1/L$.

    *SGD.* The same for the note's steps, given the best of seven step lengths for each kind of features.

    *Penalty.* With a free $b$ a translation changes neither $\mathbf a$ nor $S$ at the optimum, only the way there.
    With the bias in the penalty (the appended 1 of note 004) it changes the machine: far from the origin a large $b$ is
    needed, and paid for. Shrinking $\mathbf a$ moves the line away from the origin, too (see
    [what a step does](#push-and-turn)); that is harmless if the origin is in the middle of the data.
    """
    (X, y), (X_test, y_test) = data.fish(400, 0), data.fish(4000, 1)
    kinds = {
        "raw": Whitener(center=False, scale=False),
        "scaled": Whitener(center=False),
        "translated": Whitener(scale=False),
        "translated, scaled": Whitener(),
        "decorrelated as well": Whitener(decorrelate=True),
    }
    found = {name: speed(whitener.fit(X).transform(X), y, whitener.transform(X_test), y_test)
             for name, whitener in kinds.items()}  # fmt: skip
    steps = {name: f["steps"] if f["steps"] < LIMIT else f"over {LIMIT}" for name, f in found.items()}
    rows = [(name, f["condition"], steps[name], f["sgd"], f["penalised"], f["free"]) for name, f in found.items()]
    header = ("features", "ratio of eigenvalues", "steps of descent", "accuracy of SGD", "penalised bias", "free bias")
    raw, scaled, moved, both, white = found.values()
    same = abs(raw["S"] - moved["S"]), float(np.abs(raw["a"] - moved["a"]).max())
    return Shown(lambda: draw_descent(found), (Table(header, rows),), (
        ("translation changes neither a nor the smallest S when b is free, to 1e-6", max(same) < 1e-6),
        (f"{LIMIT} steps are too few for raw and scaled features, {moved['steps']} enough for translated ones",
         min(raw["steps"], scaled["steps"]) >= LIMIT and moved["steps"] < 0.1 * LIMIT),
        (f"{both['steps']} are enough if they are scaled as well, {white['steps']} if they are decorrelated too",
         white["steps"] < both["steps"] < moved["steps"]),
        ("scaling without translation leaves a ratio above 1000, decorrelation makes it 1",
         scaled["condition"] > 1000 and abs(white["condition"] - 1) < 1e-6),
        (f"2000 steps of SGD: accuracy {raw['sgd']:.2f} raw, {both['sgd']:.2f} translated and scaled",
         both["sgd"] > raw["sgd"] + 0.05),
        (f"penalised bias: accuracy {scaled['penalised']:.2f} scaled, {both['penalised']:.2f} translated as well",
         scaled["penalised"] < both["penalised"] - 0.03),
        ("with a free bias both give the same", abs(scaled["free"] - both["free"]) < 1e-3),
    ))  # fmt: skip


def speed(X: Array, y: Array, X_test: Array, y_test: Array) -> dict[str, Any]:
    """Eigenvalue ratio, steps of descent to 1e-3 of the least S, and accuracies after training on these features."""
    lam = 1e-2
    ones = np.column_stack([X, np.ones(len(y))])
    eigenvalues = np.linalg.eigvalsh(ones.T @ ones / len(y))
    (a, _), history = newton.newton(X, y, lam, "logistic")
    least, curve = history[-1]["S"], []
    u_a, u_b, eta = np.zeros(X.shape[1]), 0.0, 1 / (eigenvalues[-1] / 4 + lam)
    while len(curve) < LIMIT and (not curve or curve[-1] > 1e-3):
        g_a, g_b = sgd.gradient(u_a, u_b, X, y, lam, "logistic")
        u_a, u_b = u_a - eta * g_a, u_b - eta * g_b
        curve.append(sgd.S(u_a, u_b, X, y, lam, "logistic") - least)
    runs = [sgd.stochastic_gradient_descent(X, y, lam, [(1000, eta), (1000, eta / 10)], np.random.default_rng(0))[0]
            for eta in np.logspace(-5, 1, 7)]  # fmt: skip
    scores = {bias: LinearSVC(loss="hinge", lam=lam, fit_intercept=bias).fit(X, y).score(X_test, y_test)
              for bias in ("regularized", True)}  # fmt: skip
    return {"condition": float(eigenvalues[-1] / eigenvalues[0]), "steps": len(curve), "curve": np.array(curve),
            "S": least, "a": a, "sgd": max(linear.accuracy(*run, X_test, y_test) for run in runs),
            "penalised": scores["regularized"], "free": scores[True]}  # fmt: skip


def draw_descent(found: dict[str, Any]) -> Any:
    """Gradient descent on each kind of features, and the accuracies."""
    figure, (left, right) = panels(1, 1, width=PAGE, height=3.1)
    for colour, (name, f) in zip(PALETTE, found.items(), strict=False):
        left.loglog(np.arange(1, len(f["curve"]) + 1), f["curve"], color=colour, lw=2, label=name)
    left.set(xlabel="steps of gradient descent", ylabel="$S$ above its minimum", xlim=(0.8, 3e4), title="logistic $S$")
    left.legend(fontsize=9, loc="lower right")
    places = np.arange(len(found))
    for shift, colour, key, label in ((-0.2, PALETTE[0], "sgd", "SGD, 2000 steps"),
                                      (0.2, PALETTE[1], "penalised", "penalised bias, optimum")):  # fmt: skip
        right.bar(places + shift, [f[key] for f in found.values()], 0.38, color=colour, label=label)
    right.axhline(found["translated, scaled"]["free"], color=INK, lw=1.2, ls="--", label="free bias, optimum")
    right.set_xticks(places, [textwrap.fill(name, 13) for name in found])
    right.set(ylabel="accuracy", ylim=(0.4, 1.0), title="4000 new fish")
    right.legend(fontsize=9, loc="upper center", ncols=3)
    return figure
