"""Peers multiply with the BLAS that they find. Where Debian's reference BLAS is all there is, PyTorch takes ten times as
long and more as with OpenBLAS, and a ratio to it says nothing."""
import os
import sys

FAST, REFERENCE = ("openblas", "mkl", "blis", "atlas"), "/blas/libblas.so"


def expect():
    """Ends the program, once NumPy or PyTorch has been imported, unless a fast BLAS came with it."""
    with open("/proc/self/maps", encoding="ascii", errors="replace") as maps:
        loaded = maps.read()
    if REFERENCE in loaded or not any(name in loaded for name in FAST):
        name = os.path.basename(sys.argv[0])
        sys.exit(f"{name}: found the reference BLAS, expected a fast one: apt-get install libopenblas0 ('make bench' does)")
