"""Level 4: a plan of problems in, solutions and a scorer out; knows neither estimators nor scikit-learn."""
