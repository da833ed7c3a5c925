"""Times kernels with their results under names: on a store whose vertices have `u64` or string keys, by the same store of dense ids.

    make python
    .venv/bin/python python/benches/names.py --scale 18

A measured call runs the kernel and reads the answer as two arrays, of keys and of values. Vertices get their keys in the order of their ids, so the
graph lies in memory alike in all stores. Stores take turns; a row has the medians and the median of the ratios.
"""

from __future__ import annotations

import argparse
import statistics
import time
from typing import Any

import numpy as np
import numpy.typing as npt
from beside import kronecker

import hedgerow


def snapshots(scale: int) -> dict[str, tuple[hedgerow.Snapshot, Any]]:
    """A snapshot of the same graph under each kind of key, and the vertex that searches start at."""
    src, dst = kronecker(scale)
    count = 1 << scale
    weights = np.random.default_rng(2).integers(1, 256, len(src)).astype(np.float64)
    source = int(np.argmax(np.bincount(np.concatenate([src, dst]).astype(np.int64))))
    numbers = np.arange(count, dtype=np.uint64)
    # Keys without an order that ids have: an odd factor permutes 64-bit numbers.
    named = numbers * np.uint64(0x9E37_79B9_7F4A_7C15)
    texts = np.asarray([f"{key:016x}" for key in named.tolist()])
    opened: dict[str, tuple[hedgerow.Snapshot, Any]] = {}
    keys: npt.NDArray[Any]
    for kind, keys in (("dense", numbers), ("u64", named), ("str", texts)):
        db = hedgerow.open(directed=False, weighted=True, keys=kind)
        db.add_vertices(keys)
        db.add_edges(keys[src], keys[dst], weights)
        db.settle()
        opened[kind] = (db.snapshot(), keys[source].item())
    return opened


def seconds(snapshot: hedgerow.Snapshot, kernel: str, parameters: dict[str, Any]) -> float:
    begin = time.perf_counter()
    result = snapshot.run(kernel, **parameters)
    keys, values = result.ids, result.values
    took = time.perf_counter() - begin
    assert len(keys) == len(values)
    return took


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=int, default=18, help="2 ** SCALE vertices (18)")
    parser.add_argument("--repeat", type=int, default=9, help="runs of each kernel on each store (9)")
    options = parser.parse_args()

    stores = snapshots(options.scale)
    print("| kernel | dense, ms | u64, ms | str, ms | u64 by dense | str by dense |\n| --- | --- | --- | --- | --- | --- |")
    kernels: dict[str, dict[str, Any]] = {"bfs": {}, "sssp": {}, "pagerank": {"iterations": 20}, "wcc": {}, "lcc": {}, "cdlp": {}}
    for kernel, parameters in kernels.items():
        times: dict[str, list[float]] = {kind: [] for kind in stores}
        for turn in range(options.repeat + 1):
            for kind, (snapshot, source) in stores.items():
                start = {"source": source} if kernel in ("bfs", "sssp") else {}
                took = seconds(snapshot, kernel, parameters | start)
                # The first turn makes views and is not counted.
                if turn > 0:
                    times[kind].append(took)
        medians = {kind: statistics.median(of) * 1e3 for kind, of in times.items()}
        ratios = {kind: statistics.median(a / b for a, b in zip(of, times["dense"], strict=True)) for kind, of in times.items()}
        cells = [f"{medians[kind]:.2f}" for kind in times] + [f"{ratios[kind]:.3f}" for kind in ("u64", "str")]
        print(f"| {kernel} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
