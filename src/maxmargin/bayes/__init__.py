"""Level 5: the generative classifiers of the lecture notes (003), which model p(x, y) = p(y) p(x|y)."""

from maxmargin.bayes.categorical import CategoricalNB
from maxmargin.bayes.gaussian import GaussianNB
from maxmargin.bayes.multinomial import MultinomialNB

__all__ = ["CategoricalNB", "GaussianNB", "MultinomialNB"]
