r"""Errata: slips of the notes, and the computations that show them

Notes are written fast and read for years. Here is where a note is at odds with itself or with what can be computed. A
line is given by note and line number of the text (003:207 is line 207 of note 003). Each row has what is printed, what
holds, and what a computation found; letters, numbers and spelling have none. Where notes merely differ from each other,
see [the table of conventions](../conventions.md). Table 23.1 is [that of note 004](004.md#example-23-3).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple

from maxmargin.lectures import slips
from maxmargin.lectures.page import Shown, Table


class _Slip(NamedTuple):
    """One slip; ``compute`` is None where there is nothing to compute: spelling, letters, numbers."""

    where: str
    printed: str
    holds: str
    compute: Callable[[], slips.Finding] | None


def slips_000() -> Shown:
    """Note 000"""
    return _shown(
        _Slip(
            "000:110",
            "the update adds the misclassified examples",
            "those of E: right ones within the margin as well",
            slips.right_ones_are_added,
        ),
        _Slip(
            "000:33, 58",
            "descent with this line search goes lower at every step and finds the minimum of a convex F",
            "at a kink -grad F may lead upwards for every r, and it stops ([shown](000.md#stalling-descent)); for "
            "smooth F see 000:71",
            slips.line_search_stalls,
        ),
        _Slip(
            "000:71",
            "line search moves lower",
            "line 3 accepts equality: where r = 1/2 only reflects w, F stays and descent stops",
            slips.equality_accepted,
        ),
        _Slip(
            "000:122",
            "the right class leads by more than 1",
            "by at least 1: the loss is zero at equality",
            slips.zero_loss_at_equality,
        ),
        _Slip(
            "000:128",
            "the joint objective has no C, and w_k for w_K",
            "C = 1 whatever the number of rows",
            None,
        ),
    )


def slips_001() -> Shown:
    """Note 001"""
    return _shown(
        _Slip(
            "001:9, 17, 35",
            "minimise 1/f over x and b",
            "over w and b; f(w, b) stands for the margin 1/||w||",
            slips.margin_is_inverse_norm,
        ),
        _Slip(
            "001:27, 29",
            "d+ = (1/||w||) w'x+ + b - 1",
            "d+ = (w'x+ + b)/||w||: the bias is scaled too",
            slips.printed_distance,
        ),
        _Slip(
            "001:33",
            "1/2 [d+ - d-]",
            "1/2 [d+ + d-], since d- is counted on its own side; and w'x+ is 1 - b, not 1",
            slips.printed_margin,
        ),
        _Slip(
            "001:35, 47",
            "||w||^2 here, 1/2 ||w||^2 there",
            "the same machine needs half the C in the second form",
            slips.half_the_C,
        ),
        _Slip(
            "001:51",
            "the algorithm has the parameters D, lambda, MaxIter",
            "and a step size eta, on which all depends",
            slips.explodes,
        ),
        _Slip(
            "001:49",
            "the algorithm finds the large margin",
            "a neighbourhood of it that shrinks with eta ([its path](001.md#algorithm-24))",
            slips.neighbourhood,
        ),
    )


def slips_002() -> Shown:
    """Note 002"""
    return _shown(
        _Slip("002:54", "C(a^T, b)", "C(a, b), as on 002:49", None),
        _Slip("002:54, 76", "c(a, b, x_i)", "the cost depends on the label too", slips.cost_needs_the_label),
        _Slip(
            "002:109", "c(sa, sb, x) = (1 - s(a'x + b)) y", "1 - s (a'x + b) y, while s gamma y < 1", slips.scaled_cost
        ),
        _Slip(
            "002:114",
            "scaling (a, b) down lowers the hinge loss of future items",
            "of wrong ones; that of items which are right but near falls when (a, b) grows",
            slips.scaling_both_ways,
        ),
        _Slip(
            "002:169",
            "C_k sums i = 1, ..., k",
            "over the k examples drawn, not the first k of the data",
            slips.first_are_not_drawn,
        ),
        _Slip(
            "002:256, 355",
            "the gradient of S'",
            "S' is never defined: it is S with one example drawn, which 002:288 calls S",
            None,
        ),
        _Slip(
            "002:286",
            "gamma y > 1 pushes the line away from the example",
            "a shrinks and b stays: the line moves away from the origin, which may be towards the example",
            slips.pushed_towards,
        ),
        _Slip(
            "002:294",
            "otherwise the line is pushed towards the example",
            "towards a wrong one; away from one that is right but near",
            slips.moved_away,
        ),
        _Slip(
            "002:376",
            "one machine per bit does not work",
            "it works where each bit is easy; a bit may join classes that no line separates from the others",
            slips.a_bit_may_be_hard,
        ),
        _Slip(
            "002:305, 366",
            "the gradient is not zero even if every example is right",
            "where lambda > 0; without the penalty it vanishes once all are beyond the margin",
            slips.gradient_that_vanishes,
        ),
        _Slip(
            "002:314",
            "a very small set of examples determines the hyperplane in other cases too",
            "small where classes are apart; of overlapping classes most examples are support vectors",
            slips.many_support_vectors,
        ),
        _Slip("002:307", "lamda", "lambda", None),
    )


def slips_003() -> Shown:
    """Note 003"""
    return _shown(
        _Slip(
            "003:27",
            "Sigma = diag(sigma_1, ...)",
            "its entries are variances, sigma_j^2",
            slips.variances_not_deviations,
        ),
        _Slip(
            "003:43",
            "a product over i of pi_i^y_i",
            "over classes; from 003:77 on i is an example",
            None,
        ),
        _Slip(
            "003:71, 75, 91, 119",
            "l is the class and, in the denominator, the index of the sum; on 003:119 so is k, the value",
            "the sums run over all classes, over all values: other letters",
            None,
        ),
        _Slip(
            "003:77",
            "D is a subset of R^p x {0, 1}^c",
            "of {1, ..., m}^p x {0, 1}^c: the features are categories (003:53)",
            None,
        ),
        _Slip(
            "003:77",
            "the denominator is a constant",
            "it is the same for all classes, and depends on x",
            slips.denominator_varies,
        ),
        _Slip(
            "003:79",
            "log p(D|theta) is called the likelihood",
            "the log-likelihood; both are largest at one point",
            None,
        ),
        _Slip("003:95, 99", "y_j, eta_lj, x_j", "y_i, eta_ljk, x_i", slips.indices_of_the_likelihood),
        _Slip(
            "003:103",
            "multipliers lambda_ij of sum_k eta_ijk = 1",
            "lambda_lj, one per class and feature: minus the number of examples of class l",
            slips.multipliers_are_counts,
        ),
        _Slip(
            "003:121",
            "p(y|x) has the form f(x|theta) = h(x) exp(...)",
            "a distribution of x: that is the form of p(x|y). p(y|x) is of the family in y, with parameters that are "
            "linear in T(x): a generalised linear model, as the note says",
            slips.posterior_is_linear,
        ),
        _Slip("003:145, 205", "w'x - b", "w'x + b elsewhere in the note: b has the other sign", slips.sign_of_b),
        _Slip(
            "003:207",
            "there is always a gap",
            "strong duality: it is zero at the optimum ([shown](003.md#duality))",
            slips.no_gap,
        ),
        _Slip(
            "003:211",
            "unconstrained dual form",
            "alpha >= 0 and sum alpha y = 0 are constraints",
            slips.dual_needs_its_constraints,
        ),
        _Slip("003:213", "the last sum is over i of alpha_j", "one index", slips.lagrangian_becomes_the_dual),
        _Slip("003:219", "quadratic linear programming", "quadratic programming", slips.dual_is_curved),
        _Slip("003:223", "y_i (w'x_i + b) = 1 for all i", "for the support vectors", slips.only_on_the_margin),
        _Slip(
            "003:243",
            "sum of (1 - y f)^p",
            "of the positive parts ([drawn](003.md#slack-powers))",
            slips.no_minimum_in_b,
        ),
        _Slip(
            "003:253",
            "lambda = 1/c gives this hinge form",
            "of p = 1; for p = 2 the positive part is squared",
            slips.squared_in_the_other_form,
        ),
        _Slip("003:257", "the Lagrangian, without signs", "alpha, beta >= 0", slips.signs_are_needed),
        _Slip(
            "003:73", "x_j = x_j^k and theta_lj = ln eta_lj^k", "one entry per value k: theta_ljk = ln eta_ljk", None
        ),
        _Slip("003:249", "minimise over w and b", "over w, b and the slacks", None),
        _Slip("003:283", "the constant C", "c, as before", None),
    )


def slips_004() -> Shown:
    """Note 004"""
    return _shown(
        _Slip("004:54, 370", "the margin is 2/||w||, then 1/||w||", "the first is twice the second", slips.two_margins),
        _Slip("004:50", "the origin is k/||w|| from w'x = k", "|k|/||w||", slips.absolute_distance),
        _Slip(
            "004:71",
            "multipliers should be positive",
            "not negative: zero where a constraint is loose",
            slips.multiplier_of_a_loose_constraint,
        ),
        _Slip(
            "004:78",
            "stationary, g <= 0 and alpha >= 0",
            "and alpha_i g_i = 0",
            slips.complementary_slackness_is_needed,
        ),
        _Slip(
            "004:105",
            "a global maximum can always be found",
            "if a hyperplane separates the classes; if none does, the hard dual grows without end",
            slips.hard_dual_without_end,
        ),
        _Slip(
            "004:129, 141",
            "xi_i approximates, or bounds, the number of errors",
            "the sum of all xi_i bounds it",
            slips.slack_bounds_errors,
        ),
        _Slip(
            "004:140", "xi_i = 0 if x_i is no error", "if it is right and beyond the margin", slips.slack_without_error
        ),
        _Slip(
            "004:227",
            "the feature space is typically infinite-dimensional",
            "the Gaussian kernel's is; a polynomial one's has binom(d + p, p) dimensions",
            slips.polynomial_dimension,
        ),
        _Slip(
            "004:232",
            "a space always separates the training set",
            "unless equal rows have unlike labels",
            slips.equal_rows,
        ),
        _Slip(
            "004:392, 400",
            "(23.27) and (23.28)",
            "w = sum alpha y x and b = mean(y - w'x): of the book, not in the note",
            slips.formulas_of_the_book,
        ),
        _Slip(
            "004:397",
            "w = (0.833, 0.334)",
            "w = (5/6, 1/3), b = -10/3; the multipliers were rounded, w_2 perhaps twice",
            slips.exact_weights,
        ),
        _Slip(
            "004:360",
            "the QP yields the following multipliers",
            "it has many optimal ones here",
            slips.multipliers_not_unique,
        ),
        _Slip(
            "004:423",
            "stochastic gradient ascent",
            "the examples come in order: cyclic coordinate ascent with exact steps",
            slips.step_is_exact,
        ),
        _Slip(
            "004:427",
            "append a 1 for the bias",
            "of use to kernels of inner products; a Gaussian does not see it",
            slips.gaussian_does_not_see_the_one,
        ),
        _Slip(
            "004:432, 439",
            "K(x_k, x_k) and K(x_i, x_k), also for the quadratic loss",
            "entries of the matrix with 1/(2C) on its diagonal",
            slips.loss_without_effect,
        ),
        _Slip("004:441", "alpha_k <= C for both losses", "for the hinge loss alone", slips.clipped_quadratic),
        _Slip(
            "004:811",
            "the share of unseen data that is wrong is at most #SV/n",
            "the leave-one-out error is",
            slips.unseen_error_above_the_bound,
        ),
        _Slip(
            "004:792",
            "inherent feature selection",
            "it selects examples; only penalty='l1' selects features",
            slips.no_zero_weights,
        ),
        _Slip(
            "004:280",
            "tanh fails Mercer's condition for some kappa and theta",
            "for every kappa > 0, whatever theta: its power series has a negative coefficient, though a small sample "
            "may not show it ([map](004.md#mercer-map))",
            slips.tanh_fails_everywhere,
        ),
        _Slip(
            "004:404, 412",
            "w'x_2 = 4.331, and w = (0.833, 0.334) in the hyperplane",
            "4.332; and the table of biases does not follow from the w that is printed",
            slips.printed_products,
        ),
        _Slip(
            "004:747-782",
            "W with L = 0, and 2W with the same loss",
            "true of such a W; the W of the slides has L = 5.27, and doubling it raises the loss",
            slips.doubled_scores,
        ),
        _Slip(
            "004:816",
            "fewer support vectors are simpler, so better",
            "often, not always ([counted](004.md#ockham))",
            slips.fewest_is_not_best,
        ),
        _Slip("004:811", "n is a share of the data", "n is the number of examples everywhere else", None),
        _Slip("004:268, 322", "d is the degree, then the number of features", "two letters", None),
        _Slip(
            "004:309-313",
            "x_i'x_j and phi'phi of rows [x_1 x_2]",
            "outer products as printed; inner ones of columns",
            slips.rows_make_a_matrix,
        ),
        _Slip("004:438-439", "the update of alpha_k has no number", "it stands between lines 11 and 12", None),
        _Slip("004:442-444", "alpha_{t+1} = alpha twice, before and after t <- t + 1", "once", None),
        _Slip("004:699, 726", "questions Q, Q2, Q6", "Q3 to Q5 are missing", None),
        _Slip("004:841-843", "morning and dawn, then dusk and dawn", "two kinds of light, whichever", None),
        _Slip("004:852", "principle component analysis", "principal", None),
    )


def _shown(*found: _Slip) -> Shown:
    """In the order of the note's lines."""
    slips_and_words = [(slip, *(slip.compute() if slip.compute else ("", True))) for slip in sorted(found, key=_line)]
    rows = [(slip.where, slip.printed, slip.holds, words) for slip, words, _ in slips_and_words]
    failed = tuple((f"the computation shows {slip.where}", False) for slip, _, shows in slips_and_words if not shows)
    computed = sum(slip.compute is not None for slip in found)
    every = ((f"all {computed} computations show what they should", True),)
    return Shown(None, (Table(("line", "printed", "holds", "computed"), rows),), failed or every)


def _line(slip: _Slip) -> int:
    """The first of its lines: 33 of 000:33, 58."""
    return int(re.split(r"\D", slip.where.partition(":")[2])[0])
