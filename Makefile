# make train        train an agent with the default settings (about ten minutes) and draw its figures
# make test         run all tests
# make test-rllib   run the tests of RLlib, and of the environments with the Gymnasium that it pins
# make verify       compare the engine with the plain-Python reference over 5,000,000 decisions
# make leaderboard  play all agents against each other, for docs/leaderboard.md
# make pretrained   train the agent that comes with the project (an hour and a half, two cores)
# make docs         build the documentation site in site/
# make tables       regenerate the tables of the docs from code and results
# make notebooks    run all notebooks from top to bottom (some minutes)
# make check        check format, lint, imports and types, as pre-commit and CI do
# make format       format the code and apply the fixes of the linter
# make clean        remove the environments, caches and compiled code
#
# Each target creates .venv (or .venv-rllib) and installs what it needs if that is missing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
RLLIB := .venv-rllib
RLLIB_TESTS := tests/training/test_rllib.py tests/envs

.PHONY: train test test-rllib verify leaderboard pretrained docs tables notebooks check format clean

train: $(INSTALLED)
	$(BIN)/python -m training.train

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2

test-rllib: $(RLLIB)/.installed
	$(RLLIB)/bin/python -m pytest -n 2 --dist loadfile $(RLLIB_TESTS)

verify: $(INSTALLED)
	$(BIN)/python -m tools.verify --json docs/results/verify.json

leaderboard: $(INSTALLED)
	$(BIN)/python -m training.leaderboard
	$(BIN)/python -m tools.docs

pretrained: $(INSTALLED)
	@test ! -e runs/pretrained || { echo "runs/pretrained exists: move it, or continue it with --resume"; exit 1; }
	$(BIN)/python -m training.rollouts --players 2 3 4 --shares 2 1 1 --runs runs/pretrained --beliefs --steps 22000000 --evaluation-games 500 --evaluate-seconds 1000

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

tables: $(INSTALLED)
	$(BIN)/python -m tools.docs

notebooks: $(INSTALLED)
	$(BIN)/python -m tools.notebooks

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

$(RLLIB)/.installed: pyproject.toml constraints.txt constraints-rllib.txt
	$(PYTHON) -m venv $(RLLIB)
	grep -v '^gymnasium==' constraints.txt | cat - constraints-rllib.txt > $(RLLIB)/constraints.txt
	$(RLLIB)/bin/python -m pip install --quiet --constraint $(RLLIB)/constraints.txt \
		--editable ".[rllib,render]" pytest pytest-xdist
	touch $@

clean:
	rm -rf $(VENV) $(RLLIB) .pytest_cache .mypy_cache .ruff_cache .import_linter_cache dist build site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
