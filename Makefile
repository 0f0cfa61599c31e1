# Two commands do everything: `make run` and `make test`; `make` lists the others. Both create or reuse .venv from requirements.lock.
PYTHON := .venv/bin/python

.PHONY: help run test fuzz lint scripts bench lock environment clean
.DEFAULT_GOAL := help

help: ## list the targets
	@sed -n 's/^\([a-z]*\):[^#]*## \(.*\)/make \1\t\2/p' Makefile

run: environment ## serve the dashboard on generated sample captures at http://127.0.0.1:8050
	$(PYTHON) -m app demo

test: environment ## every test, browser tests included
	bash .ci/chromium
	bash .ci/scripts
	$(PYTHON) -m pytest -n 2 --dist worksteal

fuzz: environment ## thousands of damaged captures; `make test` runs a short part of it
	$(PYTHON) -m tests.fuzz.captures --inputs 3000

lint: environment ## style, format and types
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) -m mypy analysis components app
	bash .ci/scripts tsc -p .
	bash .ci/scripts eslint js
	bash .ci/scripts node build.mjs --check

scripts: environment ## bundle assets/js into assets/scripts.js again
	$(PYTHON) -m app.server.script_constants
	bash .ci/scripts node build.mjs

bench: environment ## the benchmarks behind docs/performance.md
	bash .ci/chromium
	$(PYTHON) -m pytest tests/perf -o python_files='bench_*.py' -s -q --timeout 1800

lock: environment ## make requirements.lock from pyproject.toml again (needs uv)
	uv pip compile pyproject.toml --group dev --universal --python-version 3.11 --generate-hashes --no-header -o requirements.lock
	sed -i '1i # Exact versions of everything Swimscope needs, tests included. Made from pyproject.toml by `make lock`; do not edit.' requirements.lock

environment: ## make or reuse .venv
	@bash .ci/environment

clean: ## remove what the other targets made
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis
