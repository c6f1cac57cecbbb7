"""Naive Bayes by counting (note 003, section 1.2).

x_j in {0, ..., m-1} and y in {0, ..., c-1}; x_ij^k = 1 where example i has x_j = k, y_il = 1 where its class is l.
Maximum likelihood:  pi_l = sum_i y_il / n,   eta_ljk = sum_i y_il x_ij^k / sum_h sum_i y_il x_ij^h.
"""

import numpy as np

from maxmargin.textbook import inputs


def indicators(values, m):
    """1 at the value, 0 elsewhere, along a new last axis: y_il and x_ij^k."""
    return (values[..., None] == np.arange(m)).astype(float)


def estimate(X, y, m, c):
    """pi (c) and eta (c, p, m) by counting.

    X is n x p with the values 0 to m-1, y has the n labels 0 to c-1, each of them at least once.
    """
    x, y = indicators(inputs.values(X, m), m), indicators(inputs.classes(y, len(X), c), c)
    counts = np.einsum("il,ijk->ljk", y, x)
    return y.sum(axis=0) / len(y), counts / counts.sum(axis=2, keepdims=True)


def log_likelihood(X, y, pi, eta):
    """L = sum_i [log p(y_i | pi) + log p(x_i | y_i, eta)]."""
    return np.log(pi[y]).sum() + np.log(eta[y[:, None], np.arange(X.shape[1]), X]).sum()


def posterior(X, pi, eta):
    """softmax(x'theta_l + beta_l) with theta = ln eta, beta = ln pi and x the indicators (0 ln 0 = 0 where x = 0).

    pi and eta as ``estimate`` returns them; a row for each of X, a column for each class.
    A row that is impossible in every class tells nothing of its class: it has the prior.
    """
    X = inputs.values(X, eta.shape[2])
    with np.errstate(divide="ignore"):
        theta, beta = np.log(eta), np.log(pi)
    scores = beta + sum(theta[:, j, X[:, j]].T for j in range(X.shape[1]))
    scores = np.where(np.isneginf(scores).all(axis=1, keepdims=True), beta, scores)
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def gaussian_estimate(X, y):
    """pi, the means mu_l, and the one diagonal Sigma of all classes (section 1.1); the classes are np.unique(y)."""
    X, y = inputs.rows(X), np.asarray(y)
    inputs.one_per_row(y, len(X))
    classes = np.unique(y)
    mu = np.array([X[y == l].mean(axis=0) for l in classes])
    return np.array([np.mean(y == l) for l in classes]), mu, ((X - mu[np.searchsorted(classes, y)]) ** 2).mean(axis=0)
