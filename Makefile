# make train        train an agent with the default settings (a few minutes), figures at the end
# make test         run all tests
# make verify      play the engine beside the plain-Python reference, 5,000,000 decisions
# make leaderboard  play all agents against each other, for docs/leaderboard.md
# make check        format, lint, types: what pre-commit and CI check
# make format       put the code into the form that `make check` asks for
# make clean        remove the environment, caches and compiled code
#
# Each makes .venv and installs what it needs when that is missing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed

.PHONY: train test verify leaderboard check format clean

train: $(INSTALLED)
	$(BIN)/python -m training.train

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2

verify: $(INSTALLED)
	$(BIN)/python -m tests.verify --json docs/results/verify.json

leaderboard: $(INSTALLED)
	$(BIN)/python -m training.leaderboard
	$(BIN)/python docs/generate.py

check: $(INSTALLED)
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

format: $(INSTALLED)
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

$(INSTALLED): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable ".[dev]"
	touch $@

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache dist build
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
