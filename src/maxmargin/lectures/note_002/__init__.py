r"""Note 002: linear classifiers and the linear SVM

"Linear Classifiers and the Linear SVM" (D. A. Forsyth). An example is $(\mathbf x_i, y_i)$ with $y_i = \pm 1$,
$\gamma_i = \mathbf a^T\mathbf x_i + b$, and the label predicted is the sign of $\gamma_i$. The objective is

$$S(\mathbf a, b; \lambda) = \frac1N\sum_i \max(0, 1 - \gamma_i y_i) + \frac\lambda2\,\mathbf a^T\mathbf a .$$

The algorithms are in `maxmargin.textbook.sgd`, `newton`, `margins` and `reductions`; the machine for work is
`LinearSVC(loss="hinge", lam=...)`, or with the steps of the note `SGDSVC`. With `SVC` the same objective is
$C = 1/(N\lambda)$. References such as (002:192) are lines of the note.
"""

from maxmargin.lectures.note_002.bias_variance import bias_and_variance
from maxmargin.lectures.note_002.choice_of_lambda import choosing_lambda, seasons
from maxmargin.lectures.note_002.costs import desired_costs, scaling_argument
from maxmargin.lectures.note_002.geometry_of_steps import line_geometry, never_zero_gradient, push_and_turn
from maxmargin.lectures.note_002.logistic_regression import logistic_and_hinge
from maxmargin.lectures.note_002.stochastic_descent import fixed_schedule, partial_data, unbiased_costs
from maxmargin.lectures.note_002.support_vectors import few_examples
from maxmargin.lectures.note_002.ten_classes import wrong_bits
from maxmargin.lectures.note_002.whitening import why_translate

DEMONSTRATIONS = (
    bias_and_variance,
    desired_costs,
    scaling_argument,
    unbiased_costs,
    fixed_schedule,
    partial_data,
    choosing_lambda,
    seasons,
    line_geometry,
    push_and_turn,
    never_zero_gradient,
    why_translate,
    few_examples,
    logistic_and_hinge,
    wrong_bits,
)
