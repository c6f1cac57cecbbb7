"""What ``SGDSVC`` and ``SGDSVR`` share: rules, rows held out, and the way from parameters to a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state

from maxmargin import checks
from maxmargin.checks import Documented, Rule
from maxmargin.core.rows import Array
from maxmargin.machines.online import Learnt, OnlinePlan, Patience, Season


def _is_schedule(value: Any) -> bool:
    if isinstance(value, str):
        return value == "auto"
    try:
        return len(value) > 0 and all(checks.integer(n) and n > 0 and checks.positive(eta) for n, eta in value)
    except TypeError:
        return False


_SWITCH = Rule("True or False", checks.boolean)
_COUNT = Rule("an integer > 0", lambda v: checks.integer(v) and v > 0)
ONLINE_RULES: dict[str, Rule] = {
    **{name: checks.COMMON_RULES[name] for name in ("warm_start", "n_jobs", "verbose")},
    "lam": Rule("a finite number > 0", lambda v: checks.positive(v) and checks.number(v)),
    "C": Rule("a finite number > 0, or None", lambda v: v is None or (checks.positive(v) and checks.number(v))),
    "fit_intercept": _SWITCH,
    "batch_size": _COUNT,
    "schedule": Rule("'auto' or a list of seasons (steps, step length)", _is_schedule),
    "max_iter": _COUNT,
    "average": _SWITCH,
    "monitor": _SWITCH,
    "early_stopping": _SWITCH,
    "validation_fraction": Rule("a number between 0 and 1", lambda v: checks.number(v) and 0 < v < 1),
    "n_iter_no_change": _COUNT,
    "tol": Rule("a number >= 0", lambda v: checks.number(v) and v >= 0),
}


class OnlineLearner(Documented, BaseEstimator):
    """A linear machine that learns in seasons; ``_learnt`` is where its next season would begin."""

    lam: float
    C: float | None
    fit_intercept: bool
    batch_size: int
    schedule: Any
    max_iter: int
    average: bool
    monitor: bool
    early_stopping: bool
    validation_fraction: float
    n_iter_no_change: int
    tol: float
    warm_start: bool
    random_state: Any
    n_jobs: int | None
    verbose: int
    coef_: Any
    intercept_: Array
    seasons_: list[Season]
    n_iter_: int
    t_: float
    _learnt: Learnt

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _loss(self) -> Any:
        """The loss object."""
        raise NotImplementedError

    def _start(self, machines: int, features: int, warm: bool) -> Learnt:
        """Where the first season begins: with weights of zero, unless the last run can be gone on from."""
        known = getattr(self, "_learnt", None) if warm else None
        return known if known is not None and known.fits(machines, features) else Learnt.nothing(machines, features)

    def _plan(
        self,
        X: Any,
        targets: list[Array],
        weights: Array,
        score: Callable[[Array, Array], float] | None = None,
        stream: bool = False,
    ) -> OnlinePlan:
        """The plan of a fit, or of the next rows of a stream."""
        return OnlinePlan(
            name=type(self).__name__,
            X=X,
            targets=targets,
            weights=weights,
            loss=self._loss(),
            lam=self.lam if self.C is None else 1.0 / (self.C * float(weights.sum())),
            bias=bool(self.fit_intercept),
            batch=self.batch_size,
            schedule=None if isinstance(self.schedule, str) else tuple(map(tuple, self.schedule)),
            passes=1 if stream else self.max_iter,
            stream=stream,
            average=bool(self.average),
            seed=int(check_random_state(self.random_state).randint(2**31 - 1)),
            n_jobs=self.n_jobs,
            score=score,
            patience=Patience(self.tol, self.n_iter_no_change) if self.early_stopping else None,
            watch=_print_season if self.verbose else None,
        )

    def _fitted(self, learnt: Learnt) -> dict[str, Any]:
        """The fitted attributes of what was learnt."""
        coef, biases = learnt.weights(bool(self.average), bool(self.fit_intercept))
        return {
            "coef_": coef,
            "intercept_": biases,
            "seasons_": learnt.seasons,
            "n_iter_": len(learnt.seasons),
            "t_": learnt.steps,
            "_learnt": learnt,
        }

    def _split(self, n: int, labels: Array | None) -> tuple[Array, Array] | None:
        """Rows to learn from and rows held out, or None where nobody asks for a score; a share of each class."""
        if not (self.early_stopping or self.monitor):
            return None
        seed = self.random_state if isinstance(self.random_state, int | np.integer) else 0
        order = np.random.default_rng(seed).permutation(n)
        groups = [order] if labels is None else [order[labels[order] == k] for k in np.unique(labels)]
        held = [group[: max(1, round(self.validation_fraction * len(group)))] for group in groups]
        out = np.concatenate(held)
        kept = np.setdiff1d(order, out)
        if not len(kept) or (labels is not None and len(np.unique(labels[kept])) < len(groups)):
            raise ValueError(
                f"{type(self).__name__}: too few rows to hold out validation_fraction="
                f"{self.validation_fraction} of them for early_stopping or monitor."
            )
        return kept, np.sort(out)

    def _refuse_held_out_rows(self) -> None:
        """A stream has none."""
        if self.early_stopping or self.monitor:
            raise ValueError(
                f"{type(self).__name__}.partial_fit cannot hold rows out of a stream: leave early_stopping and monitor "
                "at False, or use fit."
            )


def _print_season(number: int, season: Season) -> None:
    print(f"[maxmargin] season {number}  steps {season.steps}  held-out score {season.score:.4f}")  # noqa: T201
