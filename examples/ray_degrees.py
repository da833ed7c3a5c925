"""Degrees by Ray: each task counts the edges of the sources in one file, and the program compares them with the store.

Needs Ray and Polars. The argument is the number of parts.
"""

import sys
import tempfile

import numpy as np
import polars as pl
import ray

import hedgerow


@ray.remote
def degrees_of(file):
    """Returns the number of edges of each source in one file."""
    return pl.read_parquet(file).group_by("src").len("degree")


def main(parts=4):
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    with hedgerow.open() as db, tempfile.TemporaryDirectory() as folder:
        rng = np.random.default_rng(1)
        db.add_edges(rng.integers(0, 5000, 100_000), rng.integers(0, 5000, 100_000))
        g = db.snapshot()
        files = [file for file in g.export(f"{folder}/parts", partitions=parts).files if "/edges." in file]
        found = pl.concat(ray.get([degrees_of.remote(file) for file in files]))
        assert found["src"].is_unique().all(), "a vertex is in two parts"
        degrees = dict(found.iter_rows())
        keys = g.vertices()
        assert {key: degrees.get(key, 0) for key in keys.tolist()} == dict(zip(keys.tolist(), g.degrees(keys).tolist(), strict=True))
        print(f"{g.edge_count} edges in {len(files)} files: the degrees of {len(degrees)} vertices agree")
    ray.shutdown()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
