PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --no-input install --quiet
# Two workers for two cores: each computes with one thread (tests/conftest.py).
JOBS ?= 2

.PHONY: setup test demo lint wheel

setup: $(VENV)/ready

# pip is given torch by its exact version: a range takes the newest build, which is several gigabytes on some platforms
$(VENV)/ready: pyproject.toml constraints.txt
	@echo "setting up $(VENV): torch first, which is the large one; this takes a minute or two, once"
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --constraint constraints.txt torch
	@echo "setting up $(VENV): the rest"
	@$(PIP) --constraint constraints.txt --editable '.[test]'
	@touch $@

lint: setup
	$(BIN)/ruff check specc tests benchmarks demo

test: lint
	$(BIN)/python -m pytest -n $(JOBS)

demo: setup
	@$(BIN)/python -m demo

wheel: setup
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir dist .
