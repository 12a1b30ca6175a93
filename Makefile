# Thin front for CMake. Two commands do everything on a fresh Debian machine: make run, make test.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: all build run test bench install check-long format format-check tidy fuzz ci clean packages

all build: packages
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)

packages:
	@tools/packages.sh build test

run: all
	@tools/demo.sh build/pess build/demo

test: all
	@ctest --test-dir build --output-on-failure -j $(JOBS)

check-long: all
	@tools/check-long.sh

bench: all
	@tools/packages.sh bench
	@bench/run

install: all
	@cmake --install build --prefix $(PREFIX)

format:
	@clang-format -i $$(git ls-files '*.[ch]')

format-check:
	@clang-format --dry-run -Werror $$(git ls-files '*.[ch]')

tidy: all
	@clang-tidy -p build --quiet $$(git ls-files 'src/*.c' 'cli/*.c')

# Every fuzz target for FUZZ_SECONDS from its corpus; what it finds is written to build-fuzz/<target>-*.
FUZZ_SECONDS ?= 60
fuzz:
	@tools/packages.sh build ci
	@tools/fuzz.sh $(FUZZ_SECONDS)

ci:
	@tools/ci.sh

clean:
	@rm -rf build build-* build.log
