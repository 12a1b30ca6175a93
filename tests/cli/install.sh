# make install: the program runs, and a program outside finds the library by pkg-config and by CMake.
. "$(dirname "$0")/lib.sh"
source_dir=$(cd "$(dirname "$0")/../.." && pwd)
expect 0 cmake --install "$BUILD_DIR" --prefix "$work/prefix"
expect 0 "$work/prefix/bin/pess" --version
expect 0 "$work/prefix/bin/pess" experiment minatar-exploration --out nowhere --dry-run # finds the players
libdir=$(dirname "$(find "$work/prefix" -name libpess.so)")
flags=${SANITIZE:+-fsanitize=$SANITIZE}
export PKG_CONFIG_PATH=$libdir/pkgconfig
expect 0 $COMPILER $flags "$source_dir/examples/first_policy.c" $(pkg-config --cflags --libs pess) -o shared
expect 0 env LD_LIBRARY_PATH="$libdir" ./shared
prints "go, promised value 0.6250"
mkdir outside
cat >outside/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.22)
project(outside C)
find_package(pessimist 0.1 REQUIRED)
add_executable(outside $source_dir/examples/first_policy.c)
target_link_libraries(outside pess::static)
END
expect 0 cmake -S outside -B outside/build -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_C_COMPILER="$COMPILER" -DCMAKE_C_FLAGS="$flags"
expect 0 cmake --build outside/build
expect 0 outside/build/outside
prints "go, promised value 0.6250"
# figures alone load cairo, so nothing else loads the libraries behind it
ldd "$work/prefix/bin/pess" | grep -E 'cairo|libX' && fail "the program loads libraries that only figures need"
# only what pess.h names is visible
nm -D --defined-only "$libdir/libpess.so" | awk '{ print $3 }' | grep -v '^pess_[a-z]' | grep -vE '^(_init|_fini|__asan.*|__odr_asan.*|__ubsan.*)$' >extra
[ ! -s extra ] || fail "symbols that are not the library's own: $(head -5 extra | tr '\n' ' ')"
nm -D --defined-only "$libdir/libpess.so" | awk '{ print $3 }' | grep '^pess__' >internal
[ ! -s internal ] || fail "internal names are visible: $(head -5 internal | tr '\n' ' ')"
finish
