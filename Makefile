# SPDX-License-Identifier: Apache-2.0
# `make help` lists the targets. CMake does the work; the presets in
# CMakePresets.json can be used directly, too.
#
# Targets that need packages first run scripts/setup.sh, which installs missing
# ones (Debian, Ubuntu). SETUP=no skips this.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)
SECONDS ?= 600
SETUP ?= yes
ifeq ($(SETUP),yes)
  setup = scripts/setup.sh
else
  setup = @:
endif

.DEFAULT_GOAL := all
.PHONY: all demo test slow bench reproduce fuzz docs install uninstall format clean help

all: ## Build build/regal and the libraries
	$(setup) build
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release -j $(JOBS)

demo: ## Plan a real network for two devices and show the results
	$(setup) build
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release -j $(JOBS) --target regal
	scripts/demo.sh build/regal

# One more than there are cores: some wait for what they have started.
test: ## Run the test suite: under two minutes on two cores
	$(setup) build test
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -LE slow -j $$(($(JOBS) + 1)) --no-tests=error \
	  --no-label-summary

slow: ## Run the tests that take minutes
	$(setup) build test ortools python jax
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release -j $(JOBS)
	ctest --preset release -L slow --no-tests=error --no-label-summary

# Those that need no arguments.
bench: all ## Run the benchmarks, one after the other
	@set -e; for program in build/bench/bench_*; do \
	  case $$program in *_policy_gain | *_quality) continue ;; esac; \
	  echo "== $$program"; "$$program"; done

# QUICK=1: small; TINY=1: a smoke test; SIZES=limit_graphs=20: other sizes. These
# leave results/ and docs/ alone, unless PUBLISH=1. ONLY=limits,contest: these sections.
# MIX=1: continue the runs of another build. THREADS=1: not all cores.
scale := $(if $(TINY),tiny,$(if $(QUICK),quick,full))
reproduce: ## Make the paper's tables and figures: hours; QUICK=1: ten minutes
	$(setup) build test
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release -j $(JOBS) --target regal
	bench/paper/reproduce.py build/regal --scale $(scale) --only "$(ONLY)" \
	  --sizes "$(SIZES)" --threads $(or $(THREADS),0) $(if $(MIX),--mix) \
	  $(if $(PUBLISH)$(if $(SIZES),,$(filter full,$(scale))),--publish)

fuzz: ## Fuzz every target for SECONDS=600 each, two at a time
	$(setup) build test
	cmake --preset fuzz --log-level=NOTICE
	cmake --build --preset fuzz -j $(JOBS)
	scripts/fuzz.sh build-fuzz/fuzz $(SECONDS)

docs: ## Rewrite the options and the outputs shown in README.md and docs/
	$(setup) build test
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release -j $(JOBS) --target regal
	scripts/make_docs.py build/regal

install: ## Build and install to PREFIX=/usr/local (DESTDIR works too)
	$(setup) build
	cmake --preset release --log-level=NOTICE
	cmake --build --preset release -j $(JOBS) --target regal_install
	cmake --install build --prefix $(PREFIX)

uninstall: ## Remove what the last `make install` installed
	cmake -D MANIFEST=build/install_manifest.txt -P cmake/uninstall.cmake

format: ## Format all C code, and the page if prettier is there
	find include src tests bench examples \
	  \( -name '*.[ch]' -o -name '*.cc' \) -print0 | xargs -0 clang-format -i
	@tests/page/run.sh --format || test $$? -eq 77

clean: ## Remove everything that was built
	rm -rf build build-* demo

help: ## Show this list
	@sed -n 's/^\([a-z]*\):[^#]*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 10
