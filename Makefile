# Runs CMake with the presets of CMakePresets.json. `make` builds the command as build/whichtool.
#
#   make           build                       make demo       show the main features
#   make test      build and run every test    make bench      compare with peers (PYTHON= with their packages)
#   make install   DESTDIR= PREFIX=/usr/local  make fmt lint   format; run all static checks
#   make uninstall DESTDIR= PREFIX=: remove what `make install` installed
#   make lint-full lint, with clang-tidy on all files instead of changed ones
#   make asan tsan the tests under sanitizers  make fuzz       run each fuzzer for FUZZ_SECONDS=30
#   make coverage  line coverage of the tests  make clean      remove all build folders
#   make bench-page  measure the parts of docs/benchmarks.md, and write it anew with its chart
#   make bench-real  measure find and pick on real catalogues from npm and PyPI (docs/real-catalogues.md)
#   make tables      measure the docs' tables that take minutes, into build/tables; make tables-full: all tables
PREFIX ?= /usr/local
PYTHON ?= python3
FUZZ_SECONDS ?= 30
C_FILES = find src include tests bench examples -name '*.[ch]'

.PHONY: all demo test bench bench-page bench-real tables tables-full install uninstall fmt lint lint-full asan tsan fuzz coverage clean

all:
	@tools/bootstrap
	@tools/build release whichtool

demo: all
	@tools/demo

test:
	@tools/bootstrap
	@tools/test release

bench:
	@tools/bootstrap
	@PYTHON="$(PYTHON)" bench/run

bench-page:
	@tools/bootstrap
	@PYTHON="$(PYTHON)" bench/run --page

bench-real: all
	@"$(PYTHON)" bench/real/real.py build/whichtool
	@"$(PYTHON)" bench/real/dialogues.py build/whichtool

tables: all
	@PYTHON="$(PYTHON)" tools/tables

tables-full: all
	@PYTHON="$(PYTHON)" tools/tables --full

install:
	@tools/bootstrap
	@DESTDIR="$(DESTDIR)" tools/install "$(shell realpath -ms -- "$(PREFIX)")"

uninstall:
	@DESTDIR="$(DESTDIR)" tools/install --remove "$(shell realpath -ms -- "$(PREFIX)")"

fmt:
	@tools/bootstrap lint
	@$(C_FILES) | xargs clang-format -i

lint:
	@tools/bootstrap lint
	@tools/lint

lint-full:
	@tools/bootstrap lint
	@tools/lint full

asan tsan:
	@tools/bootstrap
	@tools/test $@

fuzz:
	@tools/bootstrap fuzz
	@tools/fuzz $(FUZZ_SECONDS)

coverage:
	@tools/bootstrap coverage
	@tools/coverage

clean:
	rm -rf build build-*
