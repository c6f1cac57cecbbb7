"""Level 3: solvers know problems, never estimators."""
