"""One PageRank iteration as SciPy's sparse matrix product: what a user would pick instead.

Usage: pagerank_scipy.py FOLDER RUNS. The folder holds the backlinks of a web in rows, as raw numbers of this machine:
starts (int64), sources (int32) and link_counts (int32). Prints the seconds of the fastest product and the sum of its
result.
"""

import sys
import time
from pathlib import Path

import numpy as np
from scipy.sparse import csr_matrix

folder, runs = Path(sys.argv[1]), int(sys.argv[2])
starts = np.fromfile(folder / "starts", dtype=np.int64)
sources = np.fromfile(folder / "sources", dtype=np.int32)
link_counts = np.fromfile(folder / "link_counts", dtype=np.int32)
pages = len(link_counts)

shares = (1.0 / np.maximum(link_counts, 1))[sources]
if len(sources) < 2**31:
    starts = starts.astype(np.int32)
matrix = csr_matrix((shares, sources, starts), shape=(pages, pages))
ranks = np.ones(pages)

fastest = float("inf")
for _ in range(runs):
    start = time.perf_counter()
    received = matrix @ ranks
    fastest = min(fastest, time.perf_counter() - start)
print(fastest, received.sum())
