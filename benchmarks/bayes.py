"""Naive Bayes: time to fit and predict against scikit-learn's classes of the same names, and whether they agree."""

import math
import pathlib
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn import naive_bayes

import maxmargin
from benchmarks import sets

LEVELS = {"min_categories": 8}  # of grey: not every pixel has them all in the rows to learn from
SIDES = (maxmargin, naive_bayes)


class Task(NamedTuple):
    """Rows to learn from and rows to predict, for a class and parameters that both sides have."""

    model: str
    parameters: dict[str, Any]
    data: str
    X: Any
    y: np.ndarray
    X_test: Any


def tasks(folder: pathlib.Path | None) -> list[Task]:
    """Counts, numbers and categories: stored sets, or without a folder generated ones."""
    if folder is None:
        return generated_tasks()
    words, groups, new_words = stored("20news_counts", folder)
    cover, trees, _ = stored("covtype", folder)
    pixels, digits, new_pixels = stored("mnist", folder)
    return [
        Task("MultinomialNB", {}, "20news counts", words, groups, new_words),
        Task("GaussianNB", {}, "covtype", cover.astype(np.float64), trees, cover.astype(np.float64)),
        Task("GaussianNB", {}, "mnist", pixels.astype(np.float64), digits, new_pixels.astype(np.float64)),
        Task("CategoricalNB", LEVELS, "mnist in levels", *levels_of(pixels, digits, new_pixels)),
    ]


def levels_of(pixels: np.ndarray, digits: np.ndarray, new_pixels: np.ndarray) -> tuple[np.ndarray, ...]:
    """Grey values 0 ... 255 as categories."""
    return (pixels // 32).astype(np.int64), digits, (new_pixels // 32).astype(np.int64)


def stored(name: str, folder: pathlib.Path) -> tuple[Any, np.ndarray, Any]:
    """X, y and the test rows as they are stored, in float32."""
    with np.load(folder / f"{name}.npz") as z:
        return sets.stored_rows(z, "X", dense=False), z["y"], sets.stored_rows(z, "X_test", dense=False)


def generated_tasks() -> list[Task]:
    """The same kinds of data, at random."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, 20, size=5000)
    words = sparse.random_array((5000, 20_000), density=0.005, format="csr", rng=rng)
    words.data = np.ceil(5.0 * words.data)
    numbers = rng.normal(size=(5000, 50)) + 0.1 * y[:, None]
    categories = rng.integers(0, 8, size=(5000, 50))
    return [
        Task("MultinomialNB", {}, "generated counts", words, y, words),
        Task("GaussianNB", {}, "generated numbers", numbers, y, numbers),
        Task("CategoricalNB", {}, "generated categories", categories, y, categories),
    ]


def best_times(works: list[Callable[[], Any]], repeats: int) -> list[float]:
    """Best seconds of each, in turn, after one run that does not count."""
    best = [math.inf] * len(works)
    for repeat in range(repeats + 1):
        for k, work in enumerate(works):
            begun = time.perf_counter()
            work()
            if repeat:
                best[k] = min(best[k], time.perf_counter() - begun)
    return best


def difference(ours: Any, theirs: Any, X: Any) -> float:
    """Largest difference of log probabilities, relative where they are above one."""
    mine, its = ours.predict_log_proba(X), theirs.predict_log_proba(X)
    return float((np.abs(mine - its) / np.maximum(1.0, np.abs(its))).max())


def run(folder: pathlib.Path | None, repeats: int) -> None:
    """Print one line per model and data."""
    print(
        "model           data                   fit: ours  sklearn  ratio   predict: ours  sklearn  ratio   difference"
    )
    for task in tasks(folder):
        models = [getattr(side, task.model)(**task.parameters).fit(task.X, task.y) for side in SIDES]
        fits = best_times([lambda m=m, t=task: m.fit(t.X, t.y) for m in models], repeats)
        predictions = best_times([lambda m=m, t=task: m.predict(t.X_test) for m in models], repeats)
        apart = difference(*models, task.X_test)
        print(
            f"{task.model:<15} {task.data:<20} "
            f"{fits[0]:>10.4f} s {fits[1]:>7.4f} {fits[1] / fits[0]:>5.1f}x "
            f"{predictions[0]:>14.4f} s {predictions[1]:>7.4f} {predictions[1] / predictions[0]:>5.1f}x {apart:>12.1e}",
            flush=True,
        )
