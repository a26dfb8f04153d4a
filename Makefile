# make train        train an agent with the default settings (about ten minutes), figures at the end
# make test         run all tests
# make test-rllib   run those of RLlib, and of the environments with the Gymnasium that it asks for
# make verify       play the engine beside the plain-Python reference, 5,000,000 decisions
# make leaderboard  play all agents against each other, for docs/leaderboard.md
# make pretrained   train the agent that comes with the project anew (an hour and a half, two cores)
# make docs         build the documentation site in site/
# make notebooks    run all notebooks again, from top to bottom (some minutes)
# make check        format, lint, types: what pre-commit and CI check
# make format       put the code into the form that `make check` asks for
# make clean        remove the environment, caches and compiled code
#
# Each makes .venv, or .venv-rllib, and installs what it needs when that is missing.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
RLLIB := .venv-rllib
RLLIB_TESTS := rllib.py gymnasium.py pettingzoo.py vector.py spaces.py sb3.py

.PHONY: train test test-rllib verify leaderboard pretrained docs notebooks check format clean

train: $(INSTALLED)
	$(BIN)/python -m training.train

test: $(INSTALLED)
	$(BIN)/python -m pytest -n 2

test-rllib: $(RLLIB)/.installed
	$(RLLIB)/bin/python -m pytest -n 2 --dist loadfile $(addprefix tests/test_, $(RLLIB_TESTS))

verify: $(INSTALLED)
	$(BIN)/python -m tools.verify --json docs/results/verify.json

leaderboard: $(INSTALLED)
	$(BIN)/python -m training.leaderboard
	$(BIN)/python tools/docs.py

pretrained: $(INSTALLED)
	@test ! -e runs/pretrained || { echo "runs/pretrained is there: move it, or go on with --resume"; exit 1; }
	$(BIN)/python -m training.rollouts --players 2 3 4 --shares 2 1 1 --runs runs/pretrained --beliefs --steps 22000000 --evaluation-games 500 --evaluate-seconds 1000

docs: $(INSTALLED)
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict

notebooks: $(INSTALLED)
	$(BIN)/python tools/notebooks.py

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

$(RLLIB)/.installed: pyproject.toml constraints.txt constraints-rllib.txt
	$(PYTHON) -m venv $(RLLIB)
	grep -v '^gymnasium==' constraints.txt | cat - constraints-rllib.txt > $(RLLIB)/constraints.txt
	$(RLLIB)/bin/python -m pip install --quiet --constraint $(RLLIB)/constraints.txt \
		--editable ".[rllib,render]" pytest pytest-xdist
	touch $@

clean:
	rm -rf $(VENV) $(RLLIB) .pytest_cache .mypy_cache .ruff_cache dist build site
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
