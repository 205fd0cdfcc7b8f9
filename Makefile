# make demo · make test · make check · make interop     (each creates what it needs)
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
SUITES := interop.install clients.nvim_install clients.emacs_install clients.node_install clients.vscode_install

.PHONY: demo setup dev test suites check bench interop clean

demo: setup            ## a chat with the daemon in this very folder
	@$(BIN)/singletree chat

setup: $(VENV)/.ready
dev: $(VENV)/.ready-dev

$(VENV)/.ready: pyproject.toml constraints.txt
	@echo "Installing into $(VENV); that takes a moment, and only the first time." >&2
	@sh .ci/venv $(PYTHON) $(VENV)
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
	@touch $@

$(VENV)/.ready-dev: $(VENV)/.ready
	@echo "Installing what the tests need into $(VENV)." >&2
	@$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

check: dev             ## one fast loop: style, types, floors, quick tests
	@$(BIN)/ruff check daemon tests
	@$(BIN)/ruff format --check -q daemon tests
	@$(BIN)/mypy
	@PYTHONPATH=daemon $(BIN)/lint-imports --no-cache >.floors.log 2>&1 || { cat .floors.log; rm -f .floors.log; exit 1; }
	@rm -f .floors.log
	@$(BIN)/pytest -m 'not slow and not client and not vectors'

test: dev              ## everything; what this machine has no program for is named at the end
	@$(MAKE) --no-print-directory -j2 check suites
	@$(BIN)/pytest -m 'slow or client or vectors'

suites: dev            ## the programs that the tests drive, into .cache/
	@for suite in $(SUITES); do $(BIN)/python -m tests.$$suite || true; done

interop: dev           ## sessions and requests in pi and here: npm installs pi 1.6.0 and Node 22 into .cache/
	@$(BIN)/python -m tests.interop.install
	@$(BIN)/pytest tests/interop

bench: dev             ## what things cost on this machine, one script after the other
	@for script in tests/bench/bench_*.py; do PYTHONPATH=daemon:. $(BIN)/python $$script || exit 1; done

clean:
	@rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
