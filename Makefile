PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: setup test demo lint

setup: $(VENV)/ready

# pip is given torch by its exact version: a range takes the newest build, which is several gigabytes on some platforms
$(VENV)/ready: pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	touch $@

test: setup
	$(BIN)/ruff check specc tests benchmarks
	$(BIN)/python -m pytest -n 2

demo: setup
	$(BIN)/python -m specc --version
