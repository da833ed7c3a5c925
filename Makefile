# Every command of the project. The work itself is in `xtask` and in `hedgerow-bench`.

.DEFAULT_GOAL := help
.PHONY: help demo test test-deep bench bench-papers rivals lint python docs platforms lab-check lab-test dist clean

CARGO ?= cargo
# The graph of `make bench`; figures for docs/benchmarks.md use kron:18 and kron:20.
GRAPH ?= kron:16
# The engines of the suites that take any, for instance hedgerow,csr,rapidstore,teseo.
ENGINES ?= hedgerow,csr
SUITES_OF_ENGINES := insert update ops analytics mixed
SUITES_OF_THE_STORE := commit recovery format vertices maintained disk
BENCH := $(CARGO) run --release --locked --manifest-path lab/Cargo.toml -p hedgerow-bench
SUITE := $(BENCH) --

help: ## Print this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /  make \1|/' | column -t -s '|'

demo: ## The whole main job in one program; with DATA=PATH on a real event stream
	$(CARGO) run --release --locked -p hedgerow-demo -- $(if $(DATA),--data '$(DATA)')

test: ## Every check and test, whatever fails; with STAGE='a b' only those stages; FAIL_FAST=1 stops at the first failure
	$(CARGO) xtask test $(STAGE) $(if $(FAIL_FAST),--fail-fast)

test-deep: ## One exploring stage, or all, with new seeds: STAGE=crash SECONDS=600
	$(CARGO) xtask test-deep $(if $(STAGE),--stage $(STAGE)) $(if $(SECONDS),--seconds $(SECONDS))

platforms: ## Check the product for Linux on arm64, Linux with musl, and macOS on arm64
	$(CARGO) xtask test platforms

lab-check: ## Check that the lab compiles: research containers, benchmarks, engines of others
	$(CARGO) xtask test lab-check

lab-test: ## Test the lab
	$(CARGO) xtask test lab

bench: ## The quick form of every suite; results in target/bench
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
	mkdir -p target/bench
	$(BENCH) --features forms -- paper --which all --quick --json target/bench/papers.jsonl --report target/bench/papers.html

# RocksDB's binding is made with libclang. The package index has one that needs no installation, without the headers of a compiler:
# those of the C compiler serve.
rivals: ## Build and test LMDB, redb and RocksDB under the benchmarks; RocksDB compiles for minutes
	python3 -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check libclang
	LIBCLANG_PATH=$$(.venv/bin/python -c 'import clang, pathlib; print(pathlib.Path(clang.__file__).parent / "native")') \
		BINDGEN_EXTRA_CLANG_ARGS="-I$$($(CC) -print-file-name=include)" \
		$(CARGO) test --release --locked --manifest-path lab/Cargo.toml -p hedgerow-rivals --features rocksdb

lint: ## Format check, tidy and clippy
	$(CARGO) xtask ci

python: ## Build the Python package, optimised, into .venv
	$(CARGO) xtask python

docs: ## Build the site of the documentation into target/site; open target/site/index.html
	$(CARGO) xtask test docs

dist: ## Build and check the parts of a release, in target/dist; with FINAL=1 refuse a rehearsal
	$(CARGO) xtask dist $(if $(FINAL),--final)

clean: ## Remove what was built: target/, lab/target/, .venv and Python's caches
	rm -rf target lab/target .venv .hypothesis python/.pytest_cache
	find python -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -f python/src/hedgerow/_native*.so
