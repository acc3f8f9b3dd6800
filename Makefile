# Thin over CMake's presets (CMakePresets.json): `make` leaves the command at build/whichtool.
#
#   make           build                       make demo       see it work
#   make test      build and run every test    make bench      ours and peers in one table (PYTHON= with peers)
#   make install   DESTDIR= PREFIX=/usr/local  make fmt lint   clang-format; every static check
#   make uninstall the same: takes away what install put there
#   make lint-full the same as lint, clang-tidy on every file instead of the changed ones
#   make asan tsan the tests under sanitizers  make fuzz       each fuzzer for FUZZ_SECONDS=30
#   make coverage  line coverage of the tests  make clean      removes every build folder
#   make bench-real  finding over real catalogues, fetched from npm and PyPI (docs/real-catalogues.md)
#   make tables      the docs' tables anew, those of minutes, into build/tables; make tables-full: those of hours, too
PREFIX ?= /usr/local
PYTHON ?= python3
FUZZ_SECONDS ?= 30
C_FILES = find src include tests bench examples -name '*.[ch]'

.PHONY: all demo test bench bench-real tables tables-full install uninstall fmt lint lint-full asan tsan fuzz coverage clean

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
