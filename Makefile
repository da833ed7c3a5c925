# Every command of the project. The work itself is in `xtask` and in `hedgerow-bench`.

.DEFAULT_GOAL := help
.PHONY: help demo test test-deep bench bench-papers rivals lint python clean

CARGO ?= cargo
# The graph of `make bench`; figures for docs/benchmarks.md use kron:18 and kron:20.
GRAPH ?= kron:16
# The engines of the suites that take any, for instance hedgerow,csr,rapidstore,teseo.
ENGINES ?= hedgerow,csr
SUITES_OF_ENGINES := insert update ops analytics mixed
SUITES_OF_THE_STORE := commit recovery format vertices maintained disk
SUITE := $(CARGO) run --release --locked -p hedgerow-bench --

help: ## Print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | column -t -s '|'

demo: ## The whole main job in one program; with DATA=PATH on a real event stream
	$(CARGO) build --release --locked -p hedgerow-bench
	$(CARGO) run --release --locked -p hedgerow-bench -- demo $(if $(DATA),--data '$(DATA)')

test: ## Every check and test; with STAGE='a b' only those stages
	$(CARGO) xtask test $(STAGE)

test-deep: ## One exploring stage, or all, with new seeds: STAGE=crash SECONDS=600
	$(CARGO) xtask test-deep $(if $(STAGE),--stage $(STAGE)) $(if $(SECONDS),--seconds $(SECONDS))

bench: ## The quick form of every suite; results in target/bench
	$(CARGO) build --release --locked -p hedgerow-bench
	mkdir -p target/bench
	set -e; for suite in $(SUITES_OF_ENGINES); do \
		$(SUITE) $$suite --graph $(GRAPH) --engines $(ENGINES) --json target/bench/$$suite.jsonl; \
	done
	set -e; for suite in $(SUITES_OF_THE_STORE); do \
		$(SUITE) $$suite --graph $(GRAPH) --json target/bench/$$suite.jsonl; \
	done
	: > target/bench/linkbench.jsonl # stays empty without LinkBench's files
	$(SUITE) linkbench --json target/bench/linkbench.jsonl
	$(SUITE) report $(patsubst %,target/bench/%.jsonl,$(SUITES_OF_ENGINES) $(SUITES_OF_THE_STORE) linkbench)

bench-papers: ## The experiments of five papers over all containers; results in target/bench
	$(CARGO) build --release --locked -p hedgerow-bench
	mkdir -p target/bench
	$(CARGO) run --release --locked -p hedgerow-bench -- paper --which all --quick --json target/bench/papers.jsonl --report target/bench/papers.html

# RocksDB's binding is made with libclang. The package index has one that needs no installation, without the headers of a compiler:
# those of the C compiler serve.
rivals: ## Build and test LMDB, redb and RocksDB under the benchmarks; RocksDB compiles for minutes
	python3 -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check libclang
	LIBCLANG_PATH=$$(.venv/bin/python -c 'import clang, pathlib; print(pathlib.Path(clang.__file__).parent / "native")') \
		BINDGEN_EXTRA_CLANG_ARGS="-I$$($(CC) -print-file-name=include)" \
		$(CARGO) test --release --locked -p hedgerow-rivals --features rocksdb

lint: ## Format check, tidy and clippy
	$(CARGO) xtask ci

python: ## Build the Python package, optimised, into .venv
	$(CARGO) xtask python

clean: ## Remove what was built: target/, .venv and Python's caches
	rm -rf target .venv .hypothesis python/.pytest_cache
	find python -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/src/hedgerow/_native*.so
