# Every target does its own set-up; nothing has to be installed by hand beyond rustup and a C compiler.

SHELL := /bin/bash
.DEFAULT_GOAL := help

.PHONY: help demo tour test test-postgres lint fmt conformance bench fuzz soak coverage local dist dist-test

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 14

demo: ## a journey is planned by peers of five protocols; the hub stays up to be tried (scripts/demo --script: it ends)
	@scripts/demo

tour: ## a hub alone with plain curl: plain words, questions, a yes, kill -9
	@scripts/tour

test: ## everything that must hold: format, lints, docs, dependency rules, licences, all tests, some seconds of fuzzing (FUZZ_SECONDS)
	@scripts/test

test-postgres: ## the integration tests with every hub on PostgreSQL
	@scripts/test-postgres

lint: ## the checks of `make test` that run no test
	@scripts/lint

fmt: ## format the sources
	cargo fmt --all

conformance: ## list the requirements that no test and no deviation names
	@scripts/conformance

bench: ## measure against a bare echo server, nlip-server and other MCP proxies; rewrites docs/benchmarks.md
	@scripts/bench

fuzz: ## fuzz every decoder for FUZZ_SECONDS each (default 60); TARGET= for one of them, INPUT= for one input again
	@scripts/fuzz

soak: ## the long runs, about an hour and a half: crash rounds (SOAK_SECONDS), everybody dying (SOAK_MATRIX_SECONDS), a million tasks, fuzzing (FUZZ_SECONDS each)
	@scripts/soak

coverage: ## line coverage of the tests, as text; skipped where the toolchain has no llvm-tools
	@scripts/coverage

local: ## a small language model on this machine: one answer that streams, and a team of two; fetches 98 MB once
	@scripts/local

dist: ## the program as it is published, with no newer glibc than 2.28, and packages and an image that carry it, into dist/ (DIST_KEY, DIST_PROGRAM)
	@scripts/dist

dist-test: ## each package of dist/ is installed in a clean place and answers a call; names what this machine cannot try
	@scripts/dist-test
