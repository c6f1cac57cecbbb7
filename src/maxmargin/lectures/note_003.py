r"""Note 003: generative models, hard and soft margin

"Lecture note 13: Linear classification and SVM" (Z. Zhang; scribes Y. Chen, Y. Cheng and T. Fu). Naive Bayes by
counting, the hard margin and its dual, slack to the power 1 or 2. The algorithms are in
`maxmargin.textbook.naive_bayes`, `hard_margin`, `soft_margin` and `interior_point`; the estimators for work are
`maxmargin.bayes` and `SVC`.
"""

from __future__ import annotations

import numpy as np

from maxmargin.bayes import CategoricalNB, GaussianNB, MultinomialNB
from maxmargin.estimators import SVC, LinearSVC
from maxmargin.lectures import data
from maxmargin.lectures.drawing import INK, PALETTE, field, frame, line, panels, points
from maxmargin.lectures.page import Shown, Table
from maxmargin.textbook import hard_margin as hard
from maxmargin.textbook import margins, naive_bayes, smo
from maxmargin.textbook import soft_margin as soft


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
    figure, axes = panels(2)
    shared, own = GaussianNB(covariance="shared").fit(X, y), GaussianNB(covariance="per_class").fit(X, y)
    for ax, machine, name in zip(axes, (shared, own), ("one covariance", "one per class"), strict=True):
        frame(ax, X)
        field(ax, lambda Z, machine=machine: np.diff(machine.predict_joint_log_proba(Z), axis=1), levels=(0,))
        points(ax, X, y, 12)
        ax.set_title(f"{name}: {machine.score(X, y):.1%} right")
    pi, mu, variances = naive_bayes.gaussian_estimate(X, y)
    theta = mu / variances
    beta = np.log(pi) - 0.5 * (mu**2 / variances).sum(axis=1)
    scores = X @ theta.T + beta
    posterior = np.exp(scores - np.logaddexp.reduce(scores, axis=1)[:, None])
    return Shown(figure, claims=(
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


def hard_margin() -> Shown:
    r"""The hard margin, in primal and dual

    $\min\frac12\|w\|^2$ subject to $y_i(w^Tx_i + b) \ge 1$, and its dual $\max\sum_i\alpha_i -
    \frac12\sum_{ij}\alpha_i\alpha_j y_iy_jx_i^Tx_j$ subject to $\alpha_i\ge 0$, $\sum_i\alpha_iy_i = 0$. Both are
    solved as quadratic programs by the interior-point method. $w = \sum_i\alpha_iy_ix_i$, and every support vector
    gives $b = y_i - w^Tx_i$; the note's "for all $i$" holds on the support vectors $S$ alone, over which it then takes
    the mean. At the optimum both values and the Lagrangian are one number. The table has the optimality conditions of
    $w$ and $b$ from the primal and $\alpha$ from the dual.
    """
    X, y = data.separable_clouds()
    w, b, _, _ = hard.primal(X, y)
    K = X @ X.T
    alpha, _ = hard.dual(K, y)
    S = np.flatnonzero(alpha > 0)
    b_of_S = y[S] - X[S] @ ((alpha * y) @ X)
    values = 0.5 * w @ w, hard.W(alpha, K, y), hard.lagrangian(w, b, alpha, X, y)
    violations = hard.kkt(w, b, alpha, X, y)
    figure, (left, right) = panels(2)
    frame(left, X)
    points(left, X, y)
    line(left, w, b, (0.0, -1.0, 1.0))
    left.scatter(*X[S].T, s=110, facecolor="none", edgecolor=INK)
    left.set_title(f"{len(S)} support vectors (circles), 1/||w|| = {margins.margin(w):.3f}", fontsize=10)
    right.bar(
        np.arange(len(y)), margins.distance(X, w, b), color=[PALETTE[1] if i in S else "#cbd5e0" for i in range(len(y))]
    )
    right.axhline(margins.margin(w), color=INK, ls="--", lw=1)
    right.set(xlabel="example", ylabel="distance $|w^Tx+b|/\\|w\\|$", title="support vectors are nearest")
    production = SVC(kernel="linear", C=float("inf"), tol=1e-8).fit(X, y)
    conditions = Table(("condition", "largest violation"), [(name, f"{v:.1e}") for name, v in violations.items()])
    return Shown(figure, (conditions,), (
        ("every condition holds to 1e-6, w = sum of alpha_i y_i x_i among them", max(violations.values()) < 1e-6),
        (f"primal value, dual value and Lagrangian are {values[0]:.6f}, to 1e-6 of it",
         bool(np.ptp(values) < 1e-6 * values[0])),
        ("every support vector gives the same b, and so does their mean (1e-6)",
         bool(np.abs(b_of_S - b).max() < 1e-6 and abs(hard.bias(alpha, K, y) - b) < 1e-6)),
        ("SVC(C=inf) has the same hyperplane (1e-5)",
         bool(np.allclose([*production.coef_[0], production.intercept_[0]], [*w, b], atol=1e-5))),
        ("the examples at distance 1/||w|| are the support vectors", set(S) == set(np.flatnonzero(
            margins.distance(X, w, b) < margins.margin(w) * (1 + 1e-6)))),
    ))  # fmt: skip


def duality() -> Shown:
    r"""Strong duality: the gap closes

    The note says that there is always a gap between the primal and the dual problem. There is always a *nonnegative*
    one: for every admissible pair the dual value is at most the primal value. But these programs are convex with linear
    constraints, so strong duality holds: at the optimum the gap is zero (Slater's condition is not even needed for
    linear constraints). That is what every fit of this library reports: a pair that proves how near it is.
    """
    X, y = data.two_clouds(apart=2.5, seed=1)
    K, C = X @ X.T, 1.0
    _, _, found = smo.smo(K, y, C, epsilon=1e-9)
    alphas = _smo_path(K, y, C)
    primal = [_primal_of(alpha, K, y, C) for alpha in alphas]
    dual = [soft.W(alpha, K, y, C) for alpha in alphas]
    best = found[-1]["dual"]
    rng = np.random.default_rng(0)
    any_dual = [soft.W(_admissible(rng, y, C), K, y, C) for _ in range(300)]
    any_primal = [soft.objective(rng.normal(size=2), rng.normal(), X, y, C) for _ in range(300)]
    figure, (left, right) = panels(2)
    left.plot(primal, color=PALETTE[1], lw=2, label="primal of w, best b")
    left.plot(dual, color=PALETTE[0], lw=2, label="dual W(alpha)")
    left.axhline(best, color=INK, lw=0.8, ls="--")
    left.set(xlabel="pair steps of SMO", ylabel="value", title="both close in on one number", ylim=(0, 3 * best))
    left.legend(fontsize=9)
    right.semilogy(np.array(primal) - np.array(dual), color=PALETTE[2], lw=2)
    right.set(xlabel="pair steps of SMO", ylabel="primal minus dual", title="the gap")
    machine = LinearSVC(loss="hinge", C=C, tol=1e-8).fit(X, y)
    return Shown(figure, claims=(
        ("300 admissible alphas never exceed 300 arbitrary hyperplanes", max(any_dual) <= min(any_primal)),
        (f"the last gap is {primal[-1] - dual[-1]:.1e}, below 1e-6 of the value", primal[-1] - dual[-1] < 1e-6 * best),
        (f"LinearSVC's certificate: relative gap {machine.certificate_.relative_gap:.1e}",
         machine.certificate_.relative_gap < 1e-7),
    ))  # fmt: skip


def kkt_table() -> Shown:
    r"""The Karush-Kuhn-Tucker conditions of a fitted machine

    For $p = 1$: $\alpha_i + \beta_i = c$, $\alpha_i[y_i(w^Tx_i+b) - 1 + \xi_i] = 0$ and $\beta_i\xi_i = 0$. They sort
    the examples into three kinds: beyond the margin ($\alpha = 0$), on it ($0 < \alpha < c$, $\xi = 0$), and within it
    or wrong ($\alpha = c$, $\beta = 0$, $\xi > 0$). The table shows three of each; all quantities come from the primal
    program with its slacks and both kinds of multipliers. The Lagrangian is then the objective, since all its products
    vanish, and $b$ follows from the multipliers of the dual program alone, by the examples on the margin.
    """
    X, y = data.two_clouds(apart=2.5, seed=1)
    c = 1.0
    (w, b, xi), (alpha, beta), _ = soft.primal(X, y, c)
    small = 1e-5 * c
    kinds = {
        "beyond": np.flatnonzero(alpha < small),
        "on the margin": np.flatnonzero((alpha > small) & (alpha < c - small)),
        "within or wrong": np.flatnonzero(alpha > c - small),
    }
    f = X @ w + b
    rows = [(i, kind, int(y[i]), float(y[i] * f[i]), *(abs(round(float(v[i]), 6)) for v in (alpha, beta, xi)))
            for kind, members in kinds.items() for i in members[:3]]  # fmt: skip
    violations = soft.kkt(w, b, xi, alpha, beta, X, y, c)
    objective, lagrangian = soft.objective(w, b, X, y, c), soft.lagrangian(w, b, xi, alpha, beta, X, y, c)
    of_dual, _ = soft.dual(X @ X.T, y, c)
    figure, (left,) = panels(1, width=5.4, height=4.6)
    frame(left, X)
    line(left, w, b, (0.0, -1.0, 1.0))
    points(left, X, y, 18)
    for (kind, members), colour in zip(kinds.items(), ("none", PALETTE[2], PALETTE[3]), strict=True):
        if colour != "none":
            left.scatter(
                *X[members].T, s=95, facecolor="none", edgecolor=colour, lw=1.6, label=f"{kind}: {len(members)}"
            )
    figure.legend(loc="outside lower center", ncols=2, fontsize=9)
    left.set_title(f"beyond the margin: {len(kinds['beyond'])} examples")
    conditions = Table(("condition", "largest violation"), [(name, f"{v:.1e}") for name, v in violations.items()])
    header = ("example", "kind", "y", "y f(x)", "alpha", "beta", "xi")
    margin = kinds["on the margin"]
    return Shown(figure, (Table(header, rows), conditions), (
        ("every condition holds to 1e-6", max(violations.values()) < 1e-6),
        (f"the Lagrangian is the objective, {objective:.6f}, and so is the dual value, to 1e-6 of it",
         bool(np.ptp([objective, lagrangian, soft.W(of_dual, X @ X.T, y, c)]) < 1e-6 * objective)),
        (f"the dual's multipliers give the same b = {b:.6f} (1e-6)", abs(soft.bias(of_dual, X @ X.T, y, c) - b) < 1e-6),
        ("examples on the margin have y f = 1 (1e-5)", bool(np.allclose(y[margin] * f[margin], 1, atol=1e-5))),
        ("every misclassified example has alpha = c", bool(np.all(alpha[y * f < 0] > c - small))),
    ))  # fmt: skip


def slack_powers() -> Shown:
    r"""Slack to the power 1 and 2

    $\min\frac12\|w\|^2 + c\sum_i\xi_i^p$. For $p = 2$ the constraint $\xi\ge 0$ changes nothing (a negative slack would
    cost as much as a positive one), $\alpha_i = 2c\xi_i$ has no upper bound, and the dual gets $\frac1{2c}$ on the
    diagonal. For $p = 1$ the slacks vanish from the dual but for the bound $c$.

    The note first writes the objective with $(1 - y_i(w^Tx_i+b))^p$ where it needs $(\cdot)_+$: without it $p = 1$ is
    linear in $b$ and falls for ever if one class has more examples than the other (if not, $w = c\sum_iy_ix_i$,
    whatever the examples look like), and $p = 2$ is least squares, which punishes examples for being *too* right. And
    $\lambda = 1/c$ turns one form into the other for both powers, with the whole objective divided by $c$.
    """
    X, y = data.outlier_clouds()
    c = 1.0
    ((w1, b1, _), _, _), ((w2, b2, xi2), (alpha2, beta2), _) = soft.primal(X, y, c, 1), soft.primal(X, y, c, 2)
    ones = np.column_stack([X, np.ones(len(y))])
    squares = np.linalg.solve(2 * c * ones.T @ ones + np.diag([1.0, 1.0, 0.0]), 2 * c * ones.T @ y)
    figure, (left,) = panels(1, width=7.0, height=3.4)
    frame(left, X)
    points(left, X, y, 20)
    line(left, w1, b1, label="p = 1", color=PALETTE[0])
    line(left, w2, b2, label="p = 2", color=PALETTE[2])
    line(left, squares[:2], squares[2], label="p = 2 as printed: least squares", color=PALETTE[3])
    left.legend(fontsize=9, loc="upper right")
    left.set_title("points far on their own side pull the least squares line")
    without = [c * np.sum(1 - y * (X @ w1 + b)) + 0.5 * w1 @ w1 for b in (0.0, 1e3, 1e6)]
    wrong = {name: int(np.sum(y * (X @ w + b) <= 0)) for name, (w, b) in
             {"p = 1": (w1, b1), "p = 2": (w2, b2), "least squares": (squares[:2], squares[2])}.items()}  # fmt: skip
    apart = [_lambda_against_c(X, y, 2.0, p) for p in (1, 2)]
    return Shown(figure, (Table(("machine", "misclassified"), list(wrong.items())),), (
        ("p = 2: alpha + beta = 2 c xi (1e-8), and beta vanishes (1e-5)",
         bool(np.allclose(alpha2 + beta2, 2 * c * xi2, atol=1e-8) and beta2.max() < 1e-5)),
        ("without the positive part p = 1 falls without end as b grows",
         bool(without[0] > without[1] > without[2] and without[2] < -1e6)),
        ("least squares misclassifies the most", max(wrong, key=lambda name: wrong[name]) == "least squares"),
        ("for both powers lambda = 1/c (LinearSVC) is the machine of c (quadratic program), to 1e-6",
         max(apart) < 1e-6),
    ))  # fmt: skip


def _lambda_against_c(X, y, c: float, p: int) -> float:
    """The largest difference of w and b: lambda/2 ||w||^2 + sum of xi^p by LinearSVC, c by a quadratic program."""
    (w, b, _), _, _ = soft.primal(X, y, c, p)
    loss = "hinge" if p == 1 else "squared_hinge"
    machine = LinearSVC(loss=loss, lam=1 / c, lam_form="sum", tol=1e-11).fit(X, y)
    return float(np.abs([*machine.coef_[0] - w, machine.intercept_[0] - b]).max())


def _smo_path(K, y, C: float) -> list:
    """The multipliers after every pair step of SMO."""
    alpha, v, path = np.zeros(len(y)), y.copy(), []
    for _ in range(4000):
        i, j, violation = smo.violating_pair(v, alpha, y, C)
        path.append(alpha.copy())
        if violation <= 1e-9:
            break
        step = smo.pair_step(i, j, v, alpha, K, y, C)
        alpha[i], alpha[j] = alpha[i] + y[i] * step, alpha[j] - y[j] * step
        v = v - step * (K[:, i] - K[:, j])
    return path


def _primal_of(alpha, K, y, C: float) -> float:
    """The primal value of w = sum alpha y x with its best bias, one of the kinks y_i - w'x_i."""
    scores = K @ (alpha * y)
    kinks = y - scores
    losses = np.maximum(0.0, 1 - y * (scores + kinks[:, None])).sum(axis=1)
    return float(0.5 * (alpha * y) @ scores + C * losses.min())


def _admissible(rng, y, C: float):
    """Random multipliers in the box whose classes weigh the same."""
    alpha = rng.uniform(0, C, len(y))
    total = min(alpha[y > 0].sum(), alpha[y < 0].sum())
    return alpha * np.where(y > 0, total / alpha[y > 0].sum(), total / alpha[y < 0].sum())
