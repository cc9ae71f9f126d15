# The two commands of the README are `make dev` and `make test`; the others are for those who work on Detent.

PYTHON ?= python3
BIN := .venv/bin
READY := .venv/ready

.PHONY: dev test check format fuzz bench bench-peers sim docs lock versions versions-pg clean
.DELETE_ON_ERROR:

dev: $(READY)  ## Set up, and run all of Detent with an example app, on a PostgreSQL of its own.
	@$(BIN)/detent dev

test: check  ## Set up, and run everything that has to pass.

check: $(READY)
	@tools/pgbouncer.sh
	@$(BIN)/ruff format --quiet --check . || { echo "run: make format"; exit 1; }
	@$(BIN)/ruff check --quiet .
	@$(BIN)/mypy --no-error-summary detent tools bench
	@$(BIN)/lint-imports --no-logo | tail -n 3
	@$(BIN)/pytest

format: $(READY)  ## Format, and mend what can be mended.
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

fuzz: $(READY)  ## The property tests with a hundred times as many examples.
	@HYPOTHESIS_PROFILE=fuzz $(BIN)/pytest tests/props

bench: $(READY)  ## Figures, one JSON object a result.
	@$(BIN)/python -m bench.time

sim: $(READY)  ## Simulated worlds, each from its seed: SEEDS=n, or SEED=s to play one again.
	@$(BIN)/python -m tests.sim $(if $(SEED),--seed $(SEED)) $(if $(SEEDS),--seeds $(SEEDS))

bench-peers: $(READY)  ## Detent beside Graphile Worker, pg-boss and PgQueuer, as one table.
	@$(BIN)/python -m bench.peers

docs: $(READY)  ## Write docs/requirements.md and docs/schema.sql anew.
	@$(BIN)/python -m tools.requirements
	@$(BIN)/python -m tools.schema

versions:  ## The tests on every supported Python that is installed.
	@for v in 3.11 3.12 3.13; do \
	  python$$v -m venv .venv-$$v && .venv-$$v/bin/python -m pip install --quiet --require-hashes -r requirements-dev.lock \
	  && echo "Python $$v" && .venv-$$v/bin/python -m pytest || exit 1; done

versions-pg: $(READY)  ## The tests of the store on PostgreSQL 14 to 18.
	@$(BIN)/python -m tools.postgres_versions

lock: $(READY)  ## Renew the lock files.
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile pyproject.toml $(COMPILE) -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --group dev $(COMPILE) -o requirements-dev.lock

COMPILE := --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url --upgrade --quiet

$(READY): requirements-dev.lock pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Detent needs Python 3.11 or later, and $(PYTHON) is older: make PYTHON=python3.12 …"; exit 1; }
	@echo "setting up .venv"
	@$(PYTHON) -m venv .venv
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --require-hashes -r requirements-dev.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

clean:
	rm -rf .venv .venv-3.* .mypy_cache .ruff_cache .pytest_cache .hypothesis .postgres .tools .peers dist
