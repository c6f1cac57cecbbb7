r"""Note 001: from large margins to small weights

"Support vector machines": the margin by algebra, slack, and algorithm 24. The note writes $\vec x$ where it means the
weights $w$, and $1/f$ where it means the inverse of the margin. The algorithms are in `maxmargin.textbook.margins` and
`maxmargin.textbook.hinge_regularized_gd`; the machine for work is `LinearSVC(loss="hinge", C=1/lam)`.
"""

from maxmargin.lectures.note_001.margin_and_slack import margin_by_algebra, margin_with_slack, slack_is_hinge
from maxmargin.lectures.note_001.regularized_descent import algorithm_24

DEMONSTRATIONS = (
    margin_by_algebra,
    margin_with_slack,
    slack_is_hinge,
    algorithm_24,
)
