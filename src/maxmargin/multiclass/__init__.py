"""Level 3: many classes as several problems of two.

A reduction turns class indices into tasks of two sides and the tasks' decisions back into a class. It knows nothing of
who solves the tasks: any binary classifier with a decision function serves.

>>> import numpy as np
>>> from sklearn.datasets import load_iris
>>> from sklearn.linear_model import LogisticRegression
>>> from maxmargin.multiclass import OneVsOne
>>> X, labels = load_iris(return_X_y=True)
>>> pairs = OneVsOne(3)
>>> machines = [LogisticRegression().fit(X[task.rows], task.signs) for task in pairs.tasks(labels)]
>>> decisions = np.column_stack([machine.decision_function(X) for machine in machines])
>>> bool((pairs.winners(decisions) == labels).mean() > 0.95)
True
"""

from maxmargin.multiclass.one_vs_one import OneVsOne
from maxmargin.multiclass.one_vs_rest import OneVsRest
from maxmargin.multiclass.output_codes import OutputCodes, bit_codes, exhaustive_codes, random_codes
from maxmargin.multiclass.reduction import Reduction, Task

__all__ = [
    "OneVsOne",
    "OneVsRest",
    "OutputCodes",
    "Reduction",
    "Task",
    "bit_codes",
    "exhaustive_codes",
    "random_codes",
]
