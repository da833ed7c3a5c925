"""Times kernels beside the graph packages that Python users run: NetworKit, igraph and NetworkX.

    make python
    .venv/bin/pip install networkit igraph networkx scipy
    .venv/bin/python python/benches/beside.py --scale 18 --threads 2

The graph is a Graph500 Kronecker graph (symmetric, no self-loops, no duplicates, ids permuted) of 2 ** scale vertices and a
fixed seed, with whole weights 1 to 255. Packages that are not installed are left out. Every package has the graph in its
own form before the first measurement, Hedgerow as a snapshot of a store whose view was made. Runs of the packages
take turns; a row has the median of each package, the spread, and the ratio of the medians. Answers are compared before anything is timed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

Answer = npt.NDArray[np.float64]
# What runs a kernel, and gives what reads its answer: packages keep answers in forms of their own, and reading those is not timed.
Subjects = dict[str, Callable[[], Callable[[], Answer]]]

PAGERANK_ITERATIONS = 20
DAMPING = 0.85
# NetworkX iterates until scores change by less than this times the number of vertices in total.
NETWORKX_TOLERANCE = 1e-9


def kronecker(scale: int, edge_factor: int = 16, seed: int = 1) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """Undirected edges of a Graph500 Kronecker graph, each once."""
    rng = np.random.default_rng(seed)
    count = edge_factor << scale
    src, dst = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    for bit in range(scale):
        down = rng.random(count) > 0.57 + 0.19
        right = rng.random(count) > np.where(down, 0.19 / (0.19 + 0.05), 0.57 / (0.57 + 0.19))
        src |= down.astype(np.uint64) << np.uint64(bit)
        dst |= right.astype(np.uint64) << np.uint64(bit)
    permuted = rng.permutation(1 << scale).astype(np.uint64)
    src, dst = permuted[src], permuted[dst]
    low, high = np.minimum(src, dst), np.maximum(src, dst)
    pairs = np.unique((low << np.uint64(32) | high)[low != high])
    rng.shuffle(pairs)
    return pairs >> np.uint64(32), pairs & np.uint64(0xFFFF_FFFF)


class Graph:
    """The edges that every package is given, and the vertex that searches start at."""

    def __init__(self, scale: int, threads: int) -> None:
        self.src, self.dst = kronecker(scale)
        self.weights = np.random.default_rng(2).integers(1, 256, len(self.src)).astype(np.float64)
        self.count = 1 << scale
        self.threads = threads
        self.source = int(np.argmax(np.bincount(np.concatenate([self.src, self.dst]).astype(np.int64))))


def hedgerow_kernels(graph: Graph) -> Subjects:
    import hedgerow

    db = hedgerow.open(directed=False, weighted=True, keys="dense")
    db.add_vertices(np.arange(graph.count, dtype=np.uint64))
    db.add_edges(graph.src, graph.dst, graph.weights)
    db.settle()
    snapshot = db.snapshot()
    at_source = graph.source

    def values(kernel: str, **parameters: Any) -> Callable[[], Answer]:
        result = snapshot.run(kernel, **parameters)
        return lambda: np.asarray(getattr(result, "values", result), np.float64)

    return {
        "bfs": lambda: values("bfs", source=at_source),
        "pr": lambda: values("pagerank", iterations=PAGERANK_ITERATIONS, damping=DAMPING),
        "pr to its end": lambda: values(
            "pagerank", iterations=100, damping=DAMPING, tolerance=NETWORKX_TOLERANCE * graph.count
        ),
        "wcc": lambda: values("wcc"),
        "sssp": lambda: values("sssp", source=at_source),
        "tc": lambda: values("tc"),
        "kcore": lambda: values("kcore"),
    }


def networkit_kernels(graph: Graph) -> Subjects:
    import networkit as nk

    nk.setNumberOfThreads(graph.threads)
    weighted = nk.GraphFromCoo(
        (graph.weights, (graph.src.astype(np.uint), graph.dst.astype(np.uint))), n=graph.count, weighted=True, directed=False
    )
    plain = nk.graphtools.toUnweighted(weighted)
    plain.sortEdges()
    plain.indexEdges()

    def ran(algorithm: Any, read: Callable[[Any], Any]) -> Callable[[], Answer]:
        algorithm.run()
        return lambda: np.asarray(read(algorithm), np.float64)

    def ranks() -> Callable[[], Answer]:
        algorithm = nk.centrality.PageRank(plain, DAMPING, 0.0)
        algorithm.maxIterations = PAGERANK_ITERATIONS
        return ran(algorithm, lambda ended: ended.scores())

    def distances(searched: Any) -> Callable[[], Answer]:
        return ran(searched, lambda ended: ended.getDistances())

    components = nk.components.ParallelConnectedComponents
    triangles = nk.sparsification.TriangleEdgeScore
    cores = nk.centrality.CoreDecomposition
    return {
        "bfs": lambda: distances(nk.distance.BFS(plain, graph.source, storePaths=False)),
        "pr": ranks,
        "wcc": lambda: ran(components(plain), lambda ended: ended.getPartition().getVector()),
        "sssp": lambda: distances(nk.distance.Dijkstra(weighted, graph.source, storePaths=False)),
        "tc": lambda: ran(triangles(plain), lambda ended: sum(ended.scores()) / 3),
        "kcore": lambda: ran(cores(plain), lambda ended: ended.scores()),
    }


def igraph_kernels(graph: Graph) -> Subjects:
    import igraph

    pairs = np.stack([graph.src, graph.dst], axis=1).astype(np.int64)
    g = igraph.Graph(n=graph.count, edges=pairs, directed=False)
    weights = graph.weights.tolist()

    def ran(answer: Any) -> Callable[[], Answer]:
        return lambda: np.asarray(answer, np.float64)

    def triangles() -> Callable[[], Answer]:
        closed = g.transitivity_undirected(mode="nan")
        degrees = np.asarray(g.degree(), np.float64)
        return ran(round(closed * (degrees * (degrees - 1)).sum() / 6))

    return {
        "bfs": lambda: ran(g.distances(graph.source)[0]),
        "pr": lambda: ran(g.pagerank(damping=DAMPING, implementation="prpack")),
        "wcc": lambda: ran(g.connected_components().membership),
        "sssp": lambda: ran(g.distances(graph.source, weights=weights)[0]),
        "tc": triangles,
        "kcore": lambda: ran(g.coreness()),
    }


def networkx_kernels(graph: Graph) -> Subjects:
    import networkx as nx

    g = nx.Graph()
    g.add_nodes_from(range(graph.count))
    g.add_weighted_edges_from(zip(graph.src.tolist(), graph.dst.tolist(), graph.weights.tolist(), strict=True))

    def per_vertex(found: Mapping[int, float]) -> Callable[[], Answer]:
        return lambda: np.asarray([found.get(vertex, np.inf) for vertex in range(graph.count)], np.float64)

    def numbers(components: list[set[int]]) -> Callable[[], Answer]:
        return per_vertex({vertex: float(number) for number, members in enumerate(components) for vertex in members})

    def triangles(found: Mapping[int, int]) -> Callable[[], Answer]:
        return lambda: np.asarray(sum(found.values()) / 3)

    return {
        "bfs": lambda: per_vertex(nx.single_source_shortest_path_length(g, graph.source)),
        "pr to its end": lambda: per_vertex(
            nx.pagerank(g, alpha=DAMPING, weight=None, tol=NETWORKX_TOLERANCE, max_iter=100)
        ),
        "wcc": lambda: numbers(list(nx.connected_components(g))),
        "sssp": lambda: per_vertex(nx.single_source_dijkstra_path_length(g, graph.source)),
        "tc": lambda: triangles(nx.triangles(g)),
        "kcore": lambda: per_vertex(nx.core_number(g)),
    }


PACKAGES: dict[str, Callable[[Graph], Subjects]] = {
    "networkit": networkit_kernels,
    "igraph": igraph_kernels,
    "networkx": networkx_kernels,
}


def normal(kernel: str, answer: Answer) -> Answer:
    """An answer in a form that does not depend on the package: no path is infinity, a component has its least vertex's number."""
    if kernel in ("bfs", "sssp"):
        return np.where((answer < 0) | (answer >= 2**31), np.inf, answer)
    if kernel == "wcc":
        _, first, numbers = np.unique(answer, return_index=True, return_inverse=True)
        return first[numbers].astype(np.float64)
    if kernel.startswith("pr"):
        # NetworKit does not give the rank of vertices without edges to all: its scores are the same but for a factor.
        return answer / answer.sum()
    return answer


def compare(kernel: str, ours: Answer, theirs: Answer, package: str) -> None:
    """Exits with a message where two packages find different answers."""
    a, b = normal(kernel, ours), normal(kernel, theirs)
    # Ranks are compared in the sum of all differences: twenty iterations with ranks that converged, or two that stop by the same rule.
    bounds = {"pr": 0.01, "pr to its end": 2 * NETWORKX_TOLERANCE * a.size / (1 - DAMPING)}
    bound = bounds.get(kernel)
    equal = np.array_equal(a, b) if bound is None else float(np.abs(a - b).sum()) < bound
    if not equal:
        sys.exit(f"{kernel}: {package} and hedgerow find different answers: {a.ravel()[:5]} and {b.ravel()[:5]}")


def seconds(subject: Callable[[], object]) -> float:
    begin = time.perf_counter()
    subject()
    return time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--scale", type=int, default=14, help="2 ** SCALE vertices (14)")
    parser.add_argument("--threads", type=int, default=2, help="threads of Hedgerow and of NetworKit (2)")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each package for each kernel (5)")
    parser.add_argument("--packages", default="networkit,igraph,networkx", help="which packages, with commas between")
    options = parser.parse_args()
    os.environ["RAYON_NUM_THREADS"] = str(options.threads)
    os.environ["OMP_NUM_THREADS"] = str(options.threads)

    graph = Graph(options.scale, options.threads)
    ours = hedgerow_kernels(graph)
    print(f"scale {options.scale}: {graph.count} vertices, {len(graph.src)} undirected edges, {options.threads} threads")
    print("| kernel | package | hedgerow, ms | package, ms | hedgerow by package |\n| --- | --- | --- | --- | --- |")
    for package in options.packages.split(","):
        try:
            importlib.import_module(package)
        except ImportError:
            print(f"{package} is not installed: left out", file=sys.stderr)
            continue
        theirs = PACKAGES[package](graph)
        for kernel, subject in theirs.items():
            compare(kernel, ours[kernel]()(), subject()(), package)
            mine, other = [], []
            for _ in range(options.repeat):
                mine.append(seconds(ours[kernel]))
                other.append(seconds(subject))
            a, b = statistics.median(mine), statistics.median(other)
            spread = f"{min(other) * 1e3:.1f} to {max(other) * 1e3:.1f}"
            print(f"| {kernel} | {package} | {a * 1e3:.2f} | {b * 1e3:.1f} ({spread}) | {a / b:.4f} |", flush=True)


if __name__ == "__main__":
    main()
