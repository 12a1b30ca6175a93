#!/usr/bin/env bash
# venv.sh BUILD: a wheel of the package in BUILD, and a fresh virtual environment BUILD/venv in which it is installed and
# tried. NumPy is Debian's; nothing is fetched.
set -eu
cd "$(dirname "$0")/../.."
build=$1
python=$(sed -n 's/^PESS_PYTHON:FILEPATH=//p' "$build/CMakeCache.txt")
mkdir -p "$build/wheel"
rm -rf "$build/venv" "$build"/wheel/*.whl
PESS_BUILD=$build PYTHONPATH=python/packaging "$python" -c "import backend; backend.build_wheel('$build/wheel')"
"$python" -m venv --system-site-packages "$build/venv"
"$build/venv/bin/python" -m pip install --quiet --no-index --disable-pip-version-check "$build"/wheel/*.whl
cd "$build" && venv/bin/python ../python/packaging/smoke.py
