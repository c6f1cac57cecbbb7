r"""Note 003: generative models, hard and soft margin

"Lecture note 13: Linear classification and SVM" (Z. Zhang; scribes Y. Chen, Y. Cheng and T. Fu). Naive Bayes by
counting, the hard margin and its dual, slack to the power 1 or 2. The algorithms are in
`maxmargin.textbook.naive_bayes`, `hard_margin`, `soft_margin` and `interior_point`; the estimators for work are
`maxmargin.bayes` and `SVC`.
"""

from maxmargin.lectures.note_003.generative_models import counting, exponential_family, gaussian_classes
from maxmargin.lectures.note_003.soft_margin_conditions import kkt_table, slack_powers
from maxmargin.lectures.note_003.strong_duality import duality, hard_margin

DEMONSTRATIONS = (
    counting,
    gaussian_classes,
    exponential_family,
    hard_margin,
    duality,
    kkt_table,
    slack_powers,
)
