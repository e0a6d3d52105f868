# Thin targets over cargo and scripts/. `make run WORKSPACE=path` and `make test` are all that a bare machine needs: both
# install what is missing. The target directory is cargo's own, or CARGO_TARGET_DIR.

TARGET := $(or $(CARGO_TARGET_DIR),target)
TOOLS := $(abspath $(TARGET)/tools)
SEMDEX := $(TARGET)/release/semdex
LISTEN ?= 127.0.0.1:7878
# Workspaces for `bench` and `tour`: directories; the corpora are unpacked where none are given.
WORKSPACES ?=
# Of the crate, for `build` and `run`: `bedrock` has the client that runs of a model need, `otel` exports spans.
FEATURES ?=
# What tests and lints are built with: all of them.
ALL_FEATURES := bedrock,otel

export SEMDEX_TOOLS := $(TOOLS)
# Of gopls and of what the tests build, which stays from one run to the next.
export SEMDEX_TEST_CACHE ?= $(abspath $(TARGET))/tmp/cache

.PHONY: help build install run test test-times test-all lint clippy lint-files bench tour fuzz check-workspaces

help:
	@echo 'make run WORKSPACE=path   build in release mode and serve the workspace at path, trusted'
	@echo 'make test                 all tests'
	@echo 'make test-times           the same, and the slowest tests'
	@echo 'make test-all             the same, then the pages in a browser, generated clients, schemathesis, real agents'
	@echo 'make lint                 rustfmt, clippy, cargo-deny, the OpenAPI linter'
	@echo 'make build                the release binary: $(SEMDEX)'
	@echo 'make install              build, and copy semdex to PREFIX/bin ($(PREFIX)), with completions and man pages'
	@echo 'make tour                 every verb with curl, request and reply'
	@echo 'make bench                the programs behind the figures that the README claims'
	@echo 'make fuzz                 every fuzz target for FUZZ_SECONDS, ten minutes where nothing is said'

build:
	cargo build --locked --release $(if $(FEATURES),--features $(FEATURES))

# For the user alone: no directory of the system is written.
PREFIX ?= $(HOME)/.local
SHARE := $(PREFIX)/share

install: build
	install -D -m 755 $(SEMDEX) "$(PREFIX)/bin/semdex"
	mkdir -p "$(SHARE)/bash-completion/completions" "$(SHARE)/zsh/site-functions" "$(SHARE)/fish/vendor_completions.d"
	$(SEMDEX) completions bash > "$(SHARE)/bash-completion/completions/semdex"
	$(SEMDEX) completions zsh > "$(SHARE)/zsh/site-functions/_semdex"
	$(SEMDEX) completions fish > "$(SHARE)/fish/vendor_completions.d/semdex.fish"
	mkdir -p "$(SHARE)/man/man1"
	$(SEMDEX) man --directory "$(SHARE)/man/man1"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) ;; *) echo 'add $(PREFIX)/bin to PATH, so that agents find semdex';; esac

run:
	@test -n "$(WORKSPACE)" || { echo 'which workspace? make run WORKSPACE=path/to/it' >&2; exit 2; }
	@test -d "$(WORKSPACE)" || { echo 'there is no directory $(WORKSPACE): WORKSPACE names the workspace to serve' >&2; exit 2; }
	@scripts/install-missing.sh go std
	$(MAKE) build
	$(SEMDEX) serve --trust --listen $(LISTEN) "$(WORKSPACE)"

# Tests wait for servers and tools for a part of their time: two run for each processor.
TEST_TOOLS := go std venv node lsp git
# One cache of what Go compiles for the tests of all crates.
export GOCACHE ?= $(shell go env GOCACHE 2>/dev/null)
CARGO_TEST := cargo test --locked --workspace --features $(ALL_FEATURES) --lib --bins --tests
export RUST_TEST_THREADS ?= $(shell echo $$(( $$(nproc) * 2 )))

# The first test that needs gopls would wait for minutes until it is compiled: that is done beside Cargo's work.
WITH_GOPLS := scripts/install-missing.sh gopls &

test:
	@scripts/install-missing.sh $(TEST_TOOLS)
	$(WITH_GOPLS) $(CARGO_TEST)

# libtest measures each test only as a nightly; the variable that says so is set for the test programs alone.
RUNNER := CARGO_TARGET_$(shell rustc -vV | sed -n 's/^host: //p' | tr a-z- A-Z_)_RUNNER

test-times:
	@scripts/install-missing.sh $(TEST_TOOLS)
	$(WITH_GOPLS) $(RUNNER)='env RUSTC_BOOTSTRAP=1' scripts/test-times.py --top 30 --keep $(TARGET)/test-times.tsv \
		$(CARGO_TEST) -- -Z unstable-options --report-time

# The binary of the tests, as `make test` has built it.
test-all: test
	@scripts/install-missing.sh node chromium
	python3 -B tests/faces/run.py $(TARGET)/debug/semdex
	python3 -B tests/agents/run.py $(TARGET)/debug/semdex

lint: clippy lint-files

clippy:
	cargo clippy --locked --workspace --all-targets --features $(ALL_FEATURES) -- -D warnings

# All but what a compiler has to run for.
lint-files:
	cargo fmt --all --check
	@scripts/install-missing.sh deny node go
	$(TOOLS)/bin/cargo-deny --locked check bans licenses sources
	scripts/lint-openapi.sh

# Before anything is built: a name that is wrong would be met minutes later.
check-workspaces:
	@for workspace in $(WORKSPACES); do \
		test -d "$$workspace" || { echo "there is no directory $$workspace: WORKSPACES names the workspaces to take" >&2; exit 2; }; \
	done

tour: check-workspaces build
	@scripts/install-missing.sh go std
	scripts/tour.sh $(SEMDEX) $(WORKSPACES)

bench: check-workspaces build
	@scripts/install-missing.sh go std strace ra git
	scripts/bench.sh $(SEMDEX) $(WORKSPACES)

# semdex with optimisation; all that it uses is optimised in any case. CHECKER is a target of Go's own.
FUZZ_SECONDS ?= 600
CHECKER := crates/go/src/checker/program

fuzz:
	@scripts/install-missing.sh go
	CARGO_PROFILE_DEV_OPT_LEVEL=2 SEMDEX_FUZZ_SECONDS=$(FUZZ_SECONDS) cargo test --locked --workspace --features $(ALL_FEATURES) --lib --tests fuzz_ -- --nocapture --test-threads 2
	cd $(CHECKER) && go test -run XXX -fuzz FuzzMessages -fuzztime $(FUZZ_SECONDS)s .
