# Thin front for CMake. Two commands do everything on a fresh Debian machine: make run, make test.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)

.PHONY: all build run test scale python check debug bench install duckdb onnxruntime check-long format format-check tidy fuzz docs ci clean configure

# The program and the libraries; what the tests need is built by make test.
all build: configure
	@cmake --build --preset release -j $(JOBS) --target pess pess_static pess_shared pess_manual

configure:
	@tools/packages.sh build
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }

run: all
	@tools/demo.sh build/pess build/demo

# make test L=quick: the tests of one label (quick, cli, deep). One more at once than there are cores: some wait for
# disks, terminals and other processes.
test:
	@tools/packages.sh build test python
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build --preset release -j $(JOBS)
	@ctest --test-dir build --output-on-failure -j $$(($(JOBS) + 1)) $(if $(L),-L $(L))

# build/pess-mpi: many machines, through PETSc over MPI; make test tests it where it can be built
scale:
	@tools/packages.sh build scale
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) --target pess-mpi

# build/venv/bin/python, in which `import pessimist` works, from a wheel in build/wheel
python:
	@tools/packages.sh build python
	@cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build --preset release -j $(JOBS) --target pess_package
	@python/packaging/venv.sh build

# make check T=test_lu: builds and runs one test, and nothing else
check:
	@[ -f build/CMakeCache.txt ] || { tools/packages.sh build test python && cmake --preset release >build.log 2>&1 || { cat build.log; exit 1; }; }
	@tools/check.sh build "$(T)"

# build-debug/pess, with assertions and without optimisation
debug:
	@tools/packages.sh build
	@cmake --preset debug >build.log 2>&1 || { cat build.log; exit 1; }
	@cmake --build --preset debug -j $(JOBS) --target pess

check-long: all
	@tools/check-long.sh

bench: all
	@tools/packages.sh bench
	@bench/run

# DuckDB's shared library for build/pess, the tests and bench/, from npm (it is not in Debian).
duckdb:
	@npm install --silent --no-fund --no-audit --prefix build/duckdb @duckdb/node-bindings-linux-x64
	@ln -sf duckdb/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so build/libduckdb.so

# onnxruntime for the tests, from npm (it is not in Debian): exported policies whose rule needs several networks.
onnxruntime:
	@npm install --silent --no-fund --no-audit --ignore-scripts --prefix build/onnxruntime onnxruntime-web

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

# The documentation and the reference of pess.h as a site: build/docs/html/index.html
docs:
	@tools/packages.sh docs
	@mkdir -p build/docs
	@PESS_VERSION=$$(sed -n 's/^#define PESS_VERSION "\(.*\)"/\1/p' include/pess/base.h) doxygen docs/Doxyfile
	@cp -r docs/results docs/notebooks docs/slurm-array.sh build/docs/html/
	@tools/site.py check build/docs/html
	@echo build/docs/html/index.html

ci:
	@tools/ci.sh

clean:
	@rm -rf build build-* build.log
