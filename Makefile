# Two commands: `make run` opens the page, `make test` checks everything.
# A stamp in .venv marks each step that has ended, so an interrupted one is taken up again by the next make.

PYTHON ?= python3
PORT ?= 7860
# Passed on to pip, for example: make run PIP_ARGS="--extra-index-url https://download.pytorch.org/whl/cpu"
PIP_ARGS ?=
# Passed on to pytest, for example: make test PYTEST_ARGS="-k inspect"
PYTEST_ARGS ?=

VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --disable-pip-version-check $(PIP_ARGS)

.DEFAULT_GOAL := help
.PHONY: help run test lint bench clean

help:
	@echo "make run     install what is needed and serve the page at http://127.0.0.1:$(PORT)"
	@echo "make test    install what tests need, then lint and run every test"
	@echo "make lint    style, format and types"
	@echo "make bench   measure the numbers of the README"
	@echo "make clean   remove .venv and caches; the workspace stays"
	@echo "Options: PYTHON=python3.12  PORT=7861  PIP_ARGS=\"...\"  PYTEST_ARGS=\"...\""

run: $(VENV)/installed
	$(BIN)/python app.py --port $(PORT)

test: $(VENV)/installed-dev
	$(BIN)/python tests/chromium.py
	$(MAKE) --no-print-directory lint
	$(BIN)/python -m pytest $(PYTEST_ARGS)

lint: $(VENV)/installed-dev
	$(BIN)/python -m ruff check .
	$(BIN)/python -m ruff format --check .
	$(BIN)/python -m mypy

bench: $(VENV)/installed
	$(BIN)/python -m benchmarks

clean:
	rm -rf $(VENV) .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find app.py ftui tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/made:
	@command -v $(PYTHON) >/dev/null || \
	  { echo "ftui needs Python 3.11 or newer, and there is no $(PYTHON): install it, or name yours with PYTHON=..."; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "ftui needs Python 3.11 or newer, and $(PYTHON) is $$($(PYTHON) -V 2>&1): name a newer one, for example PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || \
	  { echo "Python's venv module is missing: install it (Debian and Ubuntu: sudo apt install python3-venv), then try again."; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@touch $@

$(VENV)/installed: $(VENV)/made requirements.txt
	$(PIP) -r requirements.txt
	@touch $@

$(VENV)/installed-dev: $(VENV)/installed requirements-dev.txt
	$(PIP) -r requirements-dev.txt
	@touch $@
