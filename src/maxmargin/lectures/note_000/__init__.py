r"""Note 000: linear soft margin machines

"Lecture 11: Linear soft margin support vector machines" (P. Felzenszwalb; scribes D. Xiang and T. D. Devlin). The
objective is $F(w) = \frac12\|w\|^2 + C\sum_i \max\{0, 1 - y_i w^Tx_i\}$, labels are $-1$ and $+1$, there is no bias.
The algorithms are in `maxmargin.textbook.gradient_descent` and `maxmargin.textbook.multiclass`, the machine for work is
`LinearSVC(fit_intercept=False)`.
"""

from maxmargin.lectures.note_000.copied_features import fish
from maxmargin.lectures.note_000.hinge_loss import convexity, losses
from maxmargin.lectures.note_000.line_search import stalling_descent
from maxmargin.lectures.note_000.several_classes import multiclass_regions

DEMONSTRATIONS = (
    losses,
    convexity,
    stalling_descent,
    multiclass_regions,
    fish,
)
