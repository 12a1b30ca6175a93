"""peer_cells.py FILE COLUMNS CELLS ITERATIONS: scikit-learn's KMeans on rows of float32, one start; a JSON line."""
import json
import sys
import time

import numpy
from sklearn.cluster import KMeans

import fast_blas

fast_blas.expect()

rows = numpy.fromfile(sys.argv[1], dtype=numpy.float32).reshape(-1, int(sys.argv[2]))
start, ticks = time.perf_counter(), time.process_time()
model = KMeans(n_clusters=int(sys.argv[3]), n_init=1, max_iter=int(sys.argv[4]), tol=1e-4, random_state=1).fit(rows)
print(json.dumps({"seconds": time.perf_counter() - start, "processor": time.process_time() - ticks,
                  "inertia": float(model.inertia_), "iterations": model.n_iter_}))
