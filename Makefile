# Every target makes its own virtual environment in .venv and installs what it needs.
PYTHON ?= python3
BIN := .venv/bin
# Two processes: many tests use one thread, and those that use more share the cores well.
TESTERS := -n 2 --dist worksteal
.DEFAULT_GOAL := help

.PHONY: help demo test lint bench docs clean

help:
	@echo "make demo   train on bundled data, print accuracy and proof, draw demo/machines.png"
	@echo "make test   run the tests, then the unit tests once more without the compiler"
	@echo "make lint   ruff, pyright, import-linter"
	@echo "make bench  measure against scikit-learn and scikit-learn-intelex; BENCH=... are options, see CONTRIBUTING.md"
	@echo "make docs   run the lectures' demonstrations and build all pages: docs/_build/index.html"
	@echo "make clean  remove all that the other targets made, .venv included"

.venv/made:
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	touch $@

# One stamp per set of extras, renewed when pyproject.toml changes.
.venv/with-%: .venv/made pyproject.toml
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	touch $@

demo: .venv/with-plots
	$(BIN)/maxmargin demo

test: .venv/with-test
	$(BIN)/python -m pytest $(TESTERS)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest tests/unit --ignore tests/unit/decomposition --ignore tests/unit/gram -q -m "not large" $(TESTERS)

lint: .venv/with-lint .venv/with-test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/pyright
	$(BIN)/lint-imports

bench: .venv/with-bench
	$(BIN)/python -m benchmarks $(BENCH)

docs: .venv/with-docs
	$(BIN)/python docs/make_lectures.py
	$(BIN)/python docs/make_reference.py
	$(BIN)/python -m sphinx -W --keep-going -q docs docs/_build
	@echo "docs/_build/index.html"

clean:
	rm -rf .venv demo build docs/_build docs/reference src/maxmargin.egg-info
	rm -rf .pytest_cache .ruff_cache .import_linter_cache .hypothesis
	find docs/lectures -mindepth 1 ! -name table.md -delete
