"""Generative models (note 003): naive Bayes by counting, Gaussian classes, the exponential family."""

from __future__ import annotations

from typing import Any

import numpy as np

from maxmargin.bayes import CategoricalNB, GaussianNB, MultinomialNB
from maxmargin.lectures import data
from maxmargin.lectures.drawing import field, frame, panels, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import naive_bayes


def counting() -> Shown:
    r"""Naive Bayes by counting

    With indicators $y_{il}$ (example $i$ is of class $l$) and $x_{ij}^k$ (its feature $j$ has value $k$), the
    log-likelihood $\sum_i[\log p(y_i|\pi) + \log p(x_i|y_i,\eta)]$ is largest, under $\sum_l\pi_l = 1$ and
    $\sum_k\eta_{ljk} = 1$, at the relative frequencies

    $$\hat\pi_l = \frac{\sum_i y_{il}}{n}, \qquad
    \hat\eta_{ljk} = \frac{\sum_i y_{il}x_{ij}^k}{\sum_v\sum_i y_{il}x_{ij}^v},$$

    and the posterior is a softmax, linear in the indicators: $\theta_{ljk} = \ln\eta_{ljk}$, $\beta_l = \ln\pi_l$,

    $$p(\hat y_l|x) = \frac{\exp(x^T\theta_l + \beta_l)}{\sum_r\exp(x^T\theta_r + \beta_r)}.$$

    The table is nine mushrooms counted by hand. A value never seen with a class gets probability zero and vetoes it,
    whatever the other features say; `CategoricalNB` therefore adds `alpha` = 1 to every count, and `alpha=0` gives the
    note's estimates.
    """
    X, y = data.mushrooms()
    pi, eta = naive_bayes.estimate(X, y, m=3, c=2)
    ours = CategoricalNB(alpha=0.0, min_categories=3).fit(X, y)
    every = np.stack(np.meshgrid(np.arange(3), np.arange(3), indexing="ij"), axis=-1).reshape(-1, 2)
    possible = (eta[:, 0, every[:, 0]] * eta[:, 1, every[:, 1]]).sum(axis=0) > 0
    by_hand = naive_bayes.posterior(every[possible], pi, eta)
    best, worse = naive_bayes.log_likelihood(X, y, pi, eta), []
    rng = np.random.default_rng(0)
    for _ in range(200):
        other = eta * np.exp(0.2 * rng.normal(size=eta.shape))
        worse.append(naive_bayes.log_likelihood(X, y, pi, other / other.sum(axis=2, keepdims=True)))
    smooth = CategoricalNB(min_categories=3).fit(X, y)
    rows = [(data.CAPS[k], data.GILLS[g], *(float(p) for p in ours.predict_proba([[k, g]])[0]),
             *(float(p) for p in smooth.predict_proba([[k, g]])[0])) for k, g in every[possible]]  # fmt: skip
    counts = [(("edible", "poisonous")[l], feature, *(f"{p * n:.0f}/{n}" for p in eta[l, j]))
              for l, n in enumerate(np.bincount(y)) for j, feature in enumerate(("cap", "gills"))]  # fmt: skip
    header = ("cap", "gills", "edible, counted", "poisonous, counted", "edible, smoothed", "poisonous, smoothed")
    return Shown(None, (Table(("class", "feature", "value 0", "value 1", "value 2"), counts), Table(header, rows)), (
        ("CategoricalNB(alpha=0) and the formulas agree to 1e-12",
         bool(np.allclose(ours.predict_proba(every[possible]), by_hand, atol=1e-12))),
        ("no estimate of 200 others is as likely as the counted one", max(worse) < best),
    ))  # fmt: skip


def gaussian_classes() -> Shown:
    r"""Gaussian classes with one diagonal covariance

    $p(x|y=1) = N(\mu_1, \Sigma)$ and $p(x|y=0) = N(\mu_0, \Sigma)$ with $\Sigma =
    \mathrm{diag}(\sigma_1^2,\dots,\sigma_p^2)$ (the note writes $\sigma_j$ for the variances). One $\Sigma$ for both
    classes makes the quadratic terms cancel: the posterior is $\mathrm{softmax}(x^T\theta_l + \beta_l)$ with $\theta_l
    = \Sigma^{-1}\mu_l$, $\beta_l = \ln\pi_l - \frac12\mu_l^T\Sigma^{-1}\mu_l$, and the boundary is a line. With a
    $\Sigma$ per class it is a conic.
    """
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1], 150)
    X = np.where(y[:, None] == 1, [1.5, 0.8], [-1.0, -0.5]) + rng.normal(size=(300, 2)) * np.where(
        y[:, None] == 1, [0.5, 1.4], [1.2, 0.6])  # fmt: skip
    shared, own = GaussianNB(covariance="shared").fit(X, y), GaussianNB(covariance="per_class").fit(X, y)
    pi, mu, variances = naive_bayes.gaussian_estimate(X, y)
    theta = mu / variances
    beta = np.log(pi) - 0.5 * (mu**2 / variances).sum(axis=1)
    scores = X @ theta.T + beta
    posterior = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])

    def picture() -> Any:
        figure, axes = panels(2)
        for ax, machine, name in zip(axes, (shared, own), ("one covariance", "one per class"), strict=True):
            frame(ax, X)
            field(ax, lambda Z, machine=machine: np.diff(machine.predict_joint_log_proba(Z), axis=1), levels=(0,))
            points(ax, X, y, 12)
            ax.set_title(f"{name}: {machine.score(X, y):.1%} right")
        return figure

    return Shown(picture, claims=(
        ("softmax(x'theta + beta) from means and variances is GaussianNB's posterior (1e-10)",
         bool(np.allclose(posterior, shared.predict_proba(X), atol=1e-10))),
        ("where the classes have unlike variances, one covariance per class is right more often",
         own.score(X, y) > shared.score(X, y)),
    ))  # fmt: skip


def exponential_family() -> Shown:
    r"""The exponential family behind them

    $f(x|\theta) = h(x)\exp(\sum_i\eta_i(\theta)T_i(x) - A(\theta))$. For a class $l$ of the counting model $T$ are the
    indicators, $\eta = \ln\eta_{ljk}$, $h = 1$, $A = 0$; of the Gaussian one $T = (x, x^2)$, $\eta = (\Sigma^{-1}\mu_l,
    -\frac12\mathrm{diag}\,\Sigma^{-1})$, $A = \frac12\mu_l^T\Sigma^{-1}\mu_l + \frac12\ln\det 2\pi\Sigma$. Bayes'
    formula turns classes of one family into a softmax that is linear in $T$. So the posterior is of the family as well,
    in $y$: a categorical distribution whose natural parameters, $\theta_l^TT(x) + \beta_l$, are linear in $T(x)$. That
    is a generalised linear model, as the note says; the form that it prints for it is the one of $p(x|y)$, a
    distribution of $x$. The posterior of word counts (multinomial) is checked the same way.
    """
    rng = np.random.default_rng(0)
    counts, y = rng.poisson(2.0, size=(80, 6)), rng.integers(3, size=80)
    words = MultinomialNB(alpha=1.0).fit(counts, y)
    linear = counts @ words.coef_.T + words.intercept_
    softmax = np.exp(linear - np.logaddexp.reduce(linear, axis=1)[:, None])
    X = rng.normal(size=(50, 3)) * [1.0, 2.0, 0.5] + 1
    mu, variances = X.mean(axis=0), X.var(axis=0)
    A = 0.5 * (mu**2 / variances).sum() + 0.5 * np.log(2 * np.pi * variances).sum()
    family = X @ (mu / variances) - 0.5 * X**2 @ (1 / variances) - A
    density = -0.5 * ((X - mu) ** 2 / variances + np.log(2 * np.pi * variances)).sum(axis=1)
    return Shown(claims=(
        ("the Gaussian log density is eta'T(x) - A (1e-12)", bool(np.allclose(family, density, atol=1e-12))),
        ("MultinomialNB's posterior is softmax(x'theta + beta) with its coef_ and intercept_ (1e-12)",
         bool(np.allclose(words.predict_proba(counts), softmax, atol=1e-12))),
    ))  # fmt: skip
