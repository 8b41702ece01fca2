# Few verbs; the README and .ci/run call these too. A stamp in a virtual environment says that a step is done,
# so a second `make test` starts testing at once.

VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
# The first that runs and is new enough: a shim on the PATH may exist and still not run.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3.14 python3; do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && command -v "$$p" && break; done)
PIP_INSTALL := -m pip install --quiet --disable-pip-version-check
FUZZ_SECONDS ?= 60
FUZZ_TARGETS := $(basename $(notdir $(wildcard fuzz/fuzz_targets/*.rs)))
RUST_SOURCES := $(shell find rust -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
# Tests run optimised, but with the checks that a release leaves out: a length from a file must never wrap unseen. Lightly
# optimised: the kernels take minutes longer to compile at full strength, and Python's tests run them as they are shipped.
CHECKED := CARGO_PROFILE_RELEASE_OPT_LEVEL=1 CARGO_PROFILE_RELEASE_OVERFLOW_CHECKS=true CARGO_PROFILE_RELEASE_DEBUG_ASSERTIONS=true \
	CARGO_PROFILE_RELEASE_LTO=off CARGO_PROFILE_RELEASE_CODEGEN_UNITS=16

.DEFAULT_GOAL := help
.PHONY: help demo setup test build lint fmt bench peers handover torch fuzz interop interop-full wheel docs clean

help:  ## list the verbs
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*## /\t/' | expand -t 14

demo: setup  ## open a model that Burn wrote; train one, kill it, resume it to the same bits, export it, ask it
	$(BIN)/python examples/open_burn_model.py
	$(BIN)/python examples/guide/demo.py

setup: $(VENV)/.stamp-core  ## make .venv with an importable burnpy

test: setup  ## the tests of the pure crates and of the package
	$(CHECKED) cargo test --release --quiet
	$(BIN)/python -m pytest

build: $(VENV)/.stamp-dev  ## build the core again, whatever make thinks
	rm -f $(VENV)/.stamp-core
	$(MAKE) $(VENV)/.stamp-core

lint: setup  ## formatting, clippy, ruff, types, and that the stub tells the truth
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --quiet -- -D warnings
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/mypy tests/typing
	$(BIN)/python -m mypy.stubtest burnpy._core --allowlist tests/typing/stubtest_allowlist.txt

fmt: $(VENV)/.stamp-dev  ## lay out Rust and Python
	cargo fmt --all
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .

bench: peers  ## measure against the peers; results go to benches/record
	$(PEERS)/bin/python benches/python/table.py
	$(PEERS)/bin/python benches/python/table.py --suite checkpoints
	cargo bench --quiet
	cargo run --release --quiet --manifest-path benches/rust/peers/Cargo.toml
	$(PEERS)/bin/python benches/python/kernels.py --threads 1
	$(PEERS)/bin/python benches/python/kernels.py --threads 2
	$(PEERS)/bin/python benches/python/training.py
	$(PEERS)/bin/python benches/python/optimizers.py
	test ! -d /usr/share/datasets/fashion-mnist || $(PEERS)/bin/python benches/python/fashion_mnist.py

# The tests that hand arrays to other packages, and the examples that do. They need jax and torch alone, not all the peers of the benchmarks.
handover: $(PEERS)/.stamp-core torch  ## the hand-over tests with jax and torch
	$(PEERS)/bin/python -m pytest tests/test_house.py tests/test_docstrings.py -k examples
	$(PEERS)/bin/python -m pytest -m peers

peers: $(PEERS)/.stamp-peers torch  ## .venv-peers: burnpy beside safetensors, h5py, jax and, where there is room, torch

torch: $(PEERS)/.stamp-core
	sh .ci/install-torch $(PEERS)

# The sanitizers that cargo-fuzz asks for are unstable flags: RUSTC_BOOTSTRAP lets the stable compiler take them.
# A target starts from what it found before and from these. What it finds goes to fuzz/corpus, the first folder.
SEEDS_header := ../tests/corpus ../tests/golden/burn/containers/reader ../tests/golden/burn/records
SEEDS_metadata := $(SEEDS_header)
SEEDS_reader := $(SEEDS_header)
SEEDS_safetensors_header := ../tests/golden/safetensors
SEEDS_pickle := ../tests/golden/pytorch

fuzz:  ## run every fuzz target for FUZZ_SECONDS
	cargo fuzz --version >/dev/null 2>&1 || cargo install --locked --quiet cargo-fuzz
	set -e; cd fuzz; $(foreach target,$(FUZZ_TARGETS),mkdir -p corpus/$(target); \
		RUSTC_BOOTSTRAP=1 cargo fuzz run $(target) corpus/$(target) $(SEEDS_$(target)) -- \
		-max_total_time=$(FUZZ_SECONDS);)

interop: setup  ## let the real Burn read what burnpy wrote
	cargo build --release --locked --quiet --manifest-path tests/interop/Cargo.toml
	$(BIN)/python -m pytest tests/interop

# Compiles all of Burn, into the user's cache: .ci/run has the quick one above.
interop-full: setup  ## let the real Burn run burnpy's modules, optimizers and trainings, and go on with them
	$(BIN)/python -m tests.interop_full.program
	$(BIN)/python -m pytest tests/interop_full

wheel: $(VENV)/.stamp-wheel  ## wheel and sdist in dist/, audited and tried in an empty environment
	rm -rf dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/maturin build --release --zig --compatibility manylinux_2_17 --compression-level 9 --out dist
	$(BIN)/maturin sdist --out dist
	PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/auditwheel show dist/*.whl
	bash .ci/try-wheel $(BIN)/python dist

docs: setup  ## the guide as HTML in docs/_build
	$(BIN)/python $(PIP_INSTALL) --group docs
	$(BIN)/python -m sphinx -W --keep-going -q -b html docs docs/_build

clean:  ## remove what the other verbs made
	rm -rf $(VENV) $(PEERS) target dist docs/_build docs/_generated

$(VENV)/.stamp-dev: pyproject.toml
	@test -n "$(PYTHON)" || { echo "burnpy needs Python 3.11 or newer on the PATH"; exit 1; }
	test -x $(BIN)/python || "$(PYTHON)" -m venv $(VENV)
	$(BIN)/python $(PIP_INSTALL) --upgrade 'pip>=25.1'
	$(BIN)/python $(PIP_INSTALL) --group dev
	touch $@

$(VENV)/.stamp-core: $(VENV)/.stamp-dev $(RUST_SOURCES)
	PIP_QUIET=1 VIRTUAL_ENV="$(CURDIR)/$(VENV)" $(BIN)/maturin develop --release --quiet
	touch $@

$(VENV)/.stamp-wheel: $(VENV)/.stamp-dev
	$(BIN)/python $(PIP_INSTALL) --group wheel
	touch $@

$(PEERS)/.stamp-dev: pyproject.toml
	test -x $(PEERS)/bin/python || "$(PYTHON)" -m venv $(PEERS)
	$(PEERS)/bin/python $(PIP_INSTALL) --upgrade 'pip>=25.1'
	$(PEERS)/bin/python $(PIP_INSTALL) --group handover
	touch $@

# The core is built once, in $(VENV); here only a pointer to the sources is laid down.
$(PEERS)/.stamp-core: $(PEERS)/.stamp-dev $(VENV)/.stamp-core
	echo "$(CURDIR)/python" > "$$($(PEERS)/bin/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))')/burnpy.pth"
	touch $@

$(PEERS)/.stamp-peers: $(PEERS)/.stamp-core
	$(PEERS)/bin/python $(PIP_INSTALL) --group peers
	touch $@
