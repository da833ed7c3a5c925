"""Short programs as users write them, with default arguments, and a plain model of what they mean.

`Program` makes one from a seed, runs it on a store and on the model, and stops at the first difference. The model has no code of
the package: tuples, dictionaries and textbook algorithms. A result that says that it is an estimate is not compared.
"""

import csv
import json
import math
import random
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from heapq import heappop, heappush
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow

import hedgerow

# A vertex is the name of its kind and its key, an edge the name of its label, its ends and its rank.
Vertex = tuple[str, Any]
Edge = tuple[str, Vertex, Vertex, int]
Labels = str | list[str] | None

NUMBERS = list(range(1, 10))
WORDS = ["ann", "bob", "cem", "dan", "eve", "7", "x y", "ü"]


class Difference(AssertionError):
    """The store's answer differs from the model's."""


class Refused(Exception):
    """The model says that the store refuses the call."""


@dataclass
class Label:
    """The definition of a label in a program."""

    multi: bool = False
    ends: tuple[str, str] | None = None
    weights: bool = False


@dataclass
class Model:
    """The content of a store, as plain dictionaries."""

    directed: bool
    weighted: bool
    kinds: dict[str, str]
    labels: dict[str, Label] = field(default_factory=lambda: {"": Label()})
    vertices: dict[Vertex, dict[str, Any]] = field(default_factory=dict)
    edges: dict[Edge, dict[str, Any]] = field(default_factory=dict)

    # Writing ----------------------------------------------------------------------------------------------------------

    def edge(self, label: str, src: Vertex, dst: Vertex, rank: int = 0) -> Edge:
        src, dst = (src, dst) if self.directed or (src[0], str(src[1])) <= (dst[0], str(dst[1])) else (dst, src)
        return (label, src, dst, rank)

    def has_weights(self, label: str) -> bool:
        return self.weighted if label == "" else self.labels[label].weights

    def put(self, edge: Edge, values: dict[str, Any]) -> None:
        _, src, dst, _ = edge
        self.vertices.setdefault(src, {})
        self.vertices.setdefault(dst, {})
        values = {name: value for name, value in values.items() if value is not None}
        if edge[0] == "" and self.weighted:
            values.setdefault("weight", 1.0)
        self.edges[edge] = values

    def next_rank(self, label: str, src: Vertex, dst: Vertex, rank: int) -> int:
        """Returns the rank of a row: the first free one from `rank` on, the rank that follows the previous row's."""
        taken = {edge[3] for edge in self.edges if edge[:3] == self.edge(label, src, dst)[:3]}
        while rank in taken:
            rank = max(max(taken), rank) + 1
        return rank

    def remove_vertex(self, v: Vertex) -> bool:
        self.edges = {edge: row for edge, row in self.edges.items() if v not in edge[1:3]}
        return self.vertices.pop(v, None) is not None

    # Meaning ----------------------------------------------------------------------------------------------------------

    def names(self, label: Labels) -> list[str]:
        return list(self.labels) if label is None else [label] if isinstance(label, str) else label

    def kind_at(self, label: Labels, direction: str) -> str:
        """Returns the kind of a key without a kind, at this end of edges of these labels."""
        if label is None:
            return ""
        kinds = set()
        for name in self.names(label):
            ends = self.labels[name].ends
            if ends is None:
                return ""
            at = {"out": ends[:1], "in": ends[1:]}.get(direction, ends) if self.directed else ends
            kinds |= set(at)
        if len(kinds) > 1:
            raise Refused
        return kinds.pop()

    def graph_of(self, label: Labels) -> set[Vertex]:
        """Returns the vertices on which a kernel runs."""
        ends = [self.labels[name].ends for name in self.names(label)]
        if label is None or None in ends:
            return set(self.vertices)
        kinds = {kind for pair in ends if pair for kind in pair}
        return {v for v in self.vertices if v[0] in kinds}

    def lists(self, label: Labels, direction: str = "out") -> dict[Vertex, list[tuple[Vertex, Edge]]]:
        """Returns the edges of each vertex; an undirected edge is in the lists of both ends."""
        names, found = set(self.names(label)), defaultdict(list)
        for edge in self.edges:
            name, src, dst, _ = edge
            if name not in names:
                continue
            both = direction == "both" or not self.directed
            if both or direction == "out":
                found[src].append((dst, edge))
            # With both directions a loop is still one edge.
            if (both and src != dst) or direction == "in" and self.directed:
                found[dst].append((src, edge))
        return found

    def weights_of(self, label: Labels) -> Callable[[Edge], float]:
        """Returns the weight of an edge for a kernel that reads weights."""
        with_edges = {edge[0] for edge in self.edges}
        names = [name for name in self.names(label) if label is not None or name in with_edges]
        have = {self.has_weights(name) for name in names}
        if have == {True, False}:
            raise Refused
        return (lambda edge: self.edges[edge]["weight"]) if have == {True} else (lambda _: 1.0)

    # Kernels ----------------------------------------------------------------------------------------------------------

    def hops(self, label: Labels, source: Vertex, direction: str = "out") -> dict[Vertex, int]:
        lists, found, front = self.lists(label, direction), {source: 0}, [source]
        while front:
            at = front.pop(0)
            for other, _ in lists[at]:
                if other not in found:
                    found[other] = found[at] + 1
                    front.append(other)
        return found

    def distances(self, label: Labels, source: Vertex) -> dict[Vertex, float]:
        weight, lists, found, queue = self.weights_of(label), self.lists(label), {}, [(0.0, 0, source)]
        tick = 0
        while queue:
            sum_, _, at = heappop(queue)
            if at in found:
                continue
            found[at] = sum_
            for other, edge in lists[at]:
                tick += 1
                heappush(queue, (sum_ + weight(edge), tick, other))
        return found

    def components(self, label: Labels) -> set[frozenset[Vertex]]:
        left, found = self.graph_of(label), set()
        while left:
            part = frozenset(self.hops(label, next(iter(left)), "both"))
            found.add(part)
            left -= part
        return found

    def ranks(self, label: Labels) -> dict[Vertex, float]:
        vertices, lists = self.graph_of(label), self.lists(label)
        n = len(vertices)
        score = dict.fromkeys(vertices, 1 / n) if n else {}
        for _ in range(20 if n else 0):
            idle = math.fsum(score[v] for v in vertices if not lists[v])
            new = dict.fromkeys(vertices, (1 - 0.85) / n + 0.85 * idle / n)
            for v in vertices:
                for other, _ in lists[v]:
                    new[other] += 0.85 * score[v] / len(lists[v])
            score = new
        return score

    def betweenness(self, label: Labels) -> dict[Vertex, float]:
        vertices, lists = self.graph_of(label), self.lists(label)
        total = dict.fromkeys(vertices, 0.0)
        for source in vertices:
            hops = self.hops(label, source)
            order, paths, share = sorted(hops, key=lambda v: hops[v]), defaultdict(float), defaultdict(float)
            paths[source] = 1.0
            for v in order:
                for other, _ in lists[v]:
                    if hops[other] == hops[v] + 1:
                        paths[other] += paths[v]
            for v in reversed(order):
                for other, _ in lists[v]:
                    if hops[other] == hops[v] + 1:
                        share[v] += paths[v] / paths[other] * (1 + share[other])
                if v != source:
                    total[v] += share[v] if self.directed else share[v] / 2
        return total

    def closeness(self, label: Labels) -> dict[Vertex, float]:
        vertices, found = self.graph_of(label), {}
        for v in vertices:
            hops = self.hops(label, v)
            reached, sum_ = len(hops) - 1, sum(hops.values())
            found[v] = reached / sum_ * reached / (len(vertices) - 1) if sum_ else 0.0
        return found

    def triangles(self, label: Labels) -> int:
        lists = self.lists(label, "both")
        near = {v: {other for other, _ in edges if other != v} for v, edges in lists.items()}
        return sum(len(near[a] & near[b]) for a in near for b in near[a]) // 6

    def forest_weight(self, label: Labels) -> float:
        weight, part = self.weights_of(label), {v: v for v in self.graph_of(label)}

        def root(v: Vertex) -> Vertex:
            while part[v] != v:
                v = part[v]
            return v

        sum_, names = 0.0, set(self.names(label))
        for edge in sorted((edge for edge in self.edges if edge[0] in names), key=weight):
            a, b = root(edge[1]), root(edge[2])
            if a != b:
                part[a] = b
                sum_ += weight(edge)
        return sum_


def shown(v: Vertex) -> Any:
    """Returns a vertex in the form in which the package returns it."""
    return v if v[0] else v[1]


def vertex(key: Any) -> Vertex:
    return key if isinstance(key, tuple) else ("", key)


def bag(things: Iterable[Any]) -> list[Any]:
    return sorted(things, key=repr)


def close(a: float, b: float) -> bool:
    return a == b or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12)


class Program:
    """One program: `run` raises `Difference` at the first answer that the model does not give."""

    def __init__(self, seed: int, folder: Path, loader: Path | None = None, *, frames: bool = True) -> None:
        self.seed = seed
        # True if columns may be those of Polars and other libraries, whose threads a forked child lacks.
        self.frames = frames
        self.rng = random.Random(seed)
        self.folder = folder
        self.loader = loader
        self.lines: list[str] = []

    # Choices ----------------------------------------------------------------------------------------------------------

    def is_text(self, kind: str) -> bool:
        return self.model.kinds[kind] == "str"

    def key(self, kind: str) -> Any:
        return self.rng.choice(WORDS if self.is_text(kind) else NUMBERS)

    def any_vertex(self) -> Vertex:
        kind = self.rng.choice(list(self.model.kinds))
        return (kind, self.key(kind))

    def a_label(self) -> str:
        return self.rng.choice(list(self.model.labels))

    def ends(self, label: str, count: int) -> tuple[list[Vertex], list[Vertex]]:
        ends = self.model.labels[label].ends
        if ends is None:
            pick = (lambda: self.any_vertex()) if self.rng.random() < 0.3 else (lambda: ("", self.key("")))
            return [pick() for _ in range(count)], [pick() for _ in range(count)]
        src, dst = ends
        return [(src, self.key(src)) for _ in range(count)], [(dst, self.key(dst)) for _ in range(count)]

    def written(self, label: str, vertices: list[Vertex]) -> list[Any]:
        """Returns keys as a program writes them: without a kind if the label states it, though some programs write pairs there too."""
        stated = self.model.labels[label].ends is not None
        pairs = self.rng.random() < 0.2
        return [v[1] if not v[0] or (stated and not (pairs and self.rng.random() < 0.5)) else v for v in vertices]

    def value(self, name: str) -> Any:
        if name == "name":
            return self.rng.choice(WORDS)
        return self.rng.randrange(100) if name == "since" else self.rng.randrange(100) / 4

    def column(self, keys: list[Any]) -> Any:
        """Returns keys as a list, or as a column of a library."""
        if any(isinstance(key, tuple) for key in keys) or not keys:
            return keys
        ways = [list, np.array, pandas.Series, polars.Series, pyarrow.array]
        return self.rng.choice(ways if self.frames else ways[:2])(keys)

    def table(self, columns: dict[str, list[Any]]) -> Any:
        """Returns columns as a dictionary, or as a frame of a library."""
        if not columns:
            return None
        ways = [dict, pandas.DataFrame, polars.DataFrame, pyarrow.table]
        return self.rng.choice(ways if self.frames else ways[:1])(columns)

    def values(self, names: list[str], count: int) -> list[dict[str, Any]]:
        return [{name: self.value(name) for name in names} for _ in range(count)]

    # Checks -----------------------------------------------------------------------------------------------------------

    def same(self, what: str, found: Any, expected: Any) -> None:
        if found != expected:
            self.differ(what, found, expected)

    def near(self, what: str, found: dict[Vertex, float], expected: dict[Vertex, float]) -> None:
        if found.keys() != expected.keys() or not all(close(found[v], expected[v]) for v in found):
            self.differ(what, found, expected)

    def differ(self, what: str, found: Any, expected: Any) -> None:
        program = "\n".join(self.lines)
        raise Difference(f"program {self.seed}: {what}\n  the store: {found}\n  the model: {expected}\n{program}")

    def call(self, text: str, store: Callable[[], Any], model: Callable[[], Any], same: Callable[..., None] | None = None) -> None:
        """Calls the store and the model, and compares their answers, or checks that both refuse."""
        self.lines.append(text)
        try:
            expected = model()
        except Refused:
            try:
                found = store()
            except hedgerow.Error:
                return
            self.differ(text, found, "an error")
        try:
            found = store()
        except hedgerow.Error as error:
            self.differ(text, repr(error), expected)
        (same or self.same)(text, found, expected)

    # The program ------------------------------------------------------------------------------------------------------

    def run(self) -> None:
        rng = self.rng
        directed, weighted = rng.random() < 0.6, rng.random() < 0.4
        kinds = {"": rng.choice(["u64", "u64", "str"])}
        for name in ("page", "user")[: rng.choice([0, 0, 1, 2, 2])]:
            kinds[name] = rng.choice(["u64", "str"])
        self.model = Model(directed, weighted, kinds)
        for name in ("road", "calls", "likes")[: rng.randrange(4)]:
            ends = None
            if len(kinds) > 1 and rng.random() < 0.7:
                ends = (rng.choice(list(kinds)), rng.choice(list(kinds)))
            self.model.labels[name] = Label(name == "calls" and rng.random() < 0.8, ends, rng.random() < 0.5)
        path = None
        if self.loader is not None:
            path = self.folder / f"store-{self.seed}"
            self.load(path)
        options = {"directed": directed, "weighted": weighted, "keys": kinds[""]}
        self.lines.append(f"db = hedgerow.open({path!r}, {options})")
        with hedgerow.open(path, **options) as self.db:
            self.define()
            for _ in range(rng.randrange(3, 8)):
                rng.choice(self.STEPS)(self)
            self.g = self.db.snapshot()
            self.compare_all()
            for _ in range(10):
                rng.choice(self.READS)(self)

    def define(self) -> None:
        for name, keys in self.model.kinds.items():
            if name and name not in self.db.schema().kinds:
                self.lines.append(f"db.define_kind({name!r}, {keys!r})")
                self.db.define_kind(name, keys)
        for name, label in self.model.labels.items():
            if not name or name in self.db.schema().labels:
                continue
            if not label.multi and label.ends is None and not label.weights and self.rng.random() < 0.3:
                # The first edge defines the label.
                a, b = self.key(""), self.key("")
                self.model.put(self.model.edge(name, ("", a), ("", b)), {})
                self.lines.append(f"db.put_edge({a!r}, {b!r}, label={name!r})")
                self.db.put_edge(a, b, label=name)
                continue
            named: dict[str, Any] = {"multi": True} if label.multi else {}
            named |= {"src": label.ends[0], "dst": label.ends[1]} if label.ends else {}
            # The definition, and not the first edge, states `weight`, so that labels have weights from their first edge on.
            named |= {"properties": {"weight": float}} if label.weights else {}
            self.lines.append(f"db.define_label({name!r}, {named})")
            self.db.define_label(name, **named)

    def load(self, path: Path) -> None:
        """Loads a file of edges by the command line into a new store."""
        rng, model = self.rng, self.model
        # The weights of a label are its property, so such a load makes a store without weights.
        names = [name for name, label in model.labels.items() if label.ends is None and not model.weighted]
        name = rng.choice(["", *names])
        label, count = model.labels[name], rng.randrange(1, 12)
        with_weights = model.has_weights(name)
        src, dst = ([("", self.key("")) for _ in range(count)] for _ in range(2))
        rows = self.values(["since"], count) if name else [{} for _ in range(count)]
        for row in rows:
            row |= {"weight": self.value("weight")} if with_weights else {}
        file = self.folder / f"edges-{self.seed}.csv"
        with file.open("w", newline="") as out:
            lines = csv.writer(out)
            lines.writerow(["from", "to", *rows[0]])
            lines.writerows([a[1], b[1], *row.values()] for a, b, row in zip(src, dst, rows, strict=True))
        command = ["load", path, file, "--keys", model.kinds[""], "--directed" if model.directed else "--undirected"]
        command += ["--weighted"] if model.weighted else []
        command += ["--label", name] if name else []
        command += ["--multi"] if label.multi else []
        command += ["--property", "since:i64"] if name else []
        command += ["--weighted"] if name and with_weights else []
        command = [str(word) for word in [self.loader, *command, "--json"]]
        self.lines.append(f"{' '.join(command)}\n{file.read_text()}")
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            self.differ("the load", done.stderr, "a store")
        repeated = self.put_rows(name, src, dst, rows)
        told = json.loads(done.stdout)
        self.same("rows of the load", (told["rows"], told["repeated_edges"]), (count, repeated))

    def put_rows(self, label: str, src: list[Vertex], dst: list[Vertex], rows: list[dict[str, Any]]) -> int:
        """Puts edges into the model as bulk calls do. Returns the number of rows that repeat an earlier one."""
        model, named, repeated = self.model, set(), 0
        rank = sum(edge[0] == label for edge in model.edges)
        for a, b, row in zip(src, dst, rows, strict=True):
            if model.labels[label].multi:
                edge = model.edge(label, a, b, model.next_rank(label, a, b, rank))
                rank = edge[3] + 1
            else:
                edge = model.edge(label, a, b)
                repeated += edge in named
            named.add(edge)
            model.put(edge, row)
        return repeated

    # Steps ------------------------------------------------------------------------------------------------------------

    def add_edges(self) -> None:
        label, count = self.a_label(), self.rng.randrange(1, 12)
        src, dst = self.ends(label, count)
        names = self.rng.choice([[], ["since"], ["since", "name"]]) if label else []
        rows = self.values(names, count)
        properties = {name: [row[name] for row in rows] for name in names}
        named: dict[str, Any] = {"label": label} if label else {}
        if names:
            named["properties"] = self.table(properties)
        if self.model.has_weights(label):
            for row in rows:
                row["weight"] = self.value("weight")
            named["weights"] = self.column([row["weight"] for row in rows])
        written = [self.written(label, side) for side in (src, dst)]
        keys = [self.column(side) for side in written]
        text = f"db.add_edges({written[0]}, {written[1]}, {label!r}, {rows})"

        def store() -> tuple[int, int]:
            added = self.db.add_edges(*keys, **named)
            return int(added), added.repeated

        self.call(text, store, lambda: (count, self.put_rows(label, src, dst, rows)))

    def put_edges(self) -> None:
        label = self.a_label()
        (src,), (dst,) = self.ends(label, 1)
        values = self.values(self.rng.choice([[], ["since"]]) if label else [], 1)[0]
        named: dict[str, Any] = values | self.named_edge(label)
        edge = self.model.edge(label, src, dst, named.get("rank", 0))
        if self.model.has_weights(label):
            values = values | {"weight": self.value("weight")}
            named["weight"] = values["weight"]
        keys = [*self.written(label, [src]), *self.written(label, [dst])]
        method = self.rng.choice(["put_edge", "insert_edge"])
        text = f"db.{method}({keys[0]!r}, {keys[1]!r}, {named})"

        def model() -> bool:
            self.check_named(label, named)
            is_new = edge not in self.model.edges
            if is_new or method == "put_edge":
                self.model.put(edge, values)
            return is_new

        self.call(text, lambda: getattr(self.db, method)(*keys, **named), model)

    def named_edge(self, label: str) -> dict[str, Any]:
        """Names a label, and of a `multi` one often a rank, which tells its edges apart."""
        rank = {"rank": self.rng.randrange(3)} if self.model.labels[label].multi and self.rng.random() < 0.7 else {}
        return ({"label": label} if label else {}) | rank

    def check_named(self, label: str, named: dict[str, Any]) -> None:
        if self.model.labels[label].multi and "rank" not in named:
            raise Refused

    def transact(self) -> None:
        label = self.a_label()
        src, dst = self.ends(label, 3)
        keys = zip(self.written(label, src), self.written(label, dst), strict=True)
        named = self.named_edge(label)
        weights = {"weight": 2.5} if self.model.has_weights(label) else {}
        pairs = list(keys)

        def body(tx: hedgerow.Transaction) -> None:
            for a, b in pairs:
                tx.put_edge(a, b, **named, **weights)

        def model() -> None:
            self.check_named(label, named)
            for a, b in zip(src, dst, strict=True):
                self.model.put(self.model.edge(label, a, b, named.get("rank", 0)), dict(weights))

        self.call(f"db.transact(put_edge of {pairs}, {named | weights})", lambda: self.db.transact(body), model)

    def add_vertices(self) -> None:
        kind = self.rng.choice(list(self.model.kinds))
        keys = list(dict.fromkeys(self.key(kind) for _ in range(5)))
        names = self.rng.choice([[], ["age"], ["name"], ["age", "name"]])
        rows = [{name: self.rng.randrange(9) if name == "age" else "n" for name in names} for _ in keys]
        named: dict[str, Any] = {"kind": kind} if kind else {}
        if names:
            named["properties"] = self.table({name: [row[name] for row in rows] for name in names})

        def model() -> int:
            for key, row in zip(keys, rows, strict=True):
                self.model.vertices[kind, key] = self.model.vertices.get((kind, key), {}) | row
            return len(keys)

        text = f"db.add_vertices({keys}, kind={kind!r}, {rows})"
        self.call(text, lambda: int(self.db.add_vertices(self.column(keys), **named)), model)

    def remove_edges(self) -> None:
        label = self.a_label()
        src, dst = self.ends(label, 4)
        some = self.rng.sample(list(self.model.edges), min(2, len(self.model.edges)))
        for name, a, b, _ in some:
            if name == label:
                ends = self.model.labels[label].ends
                # The model has the ends of an undirected edge in an order of its own.
                a, b = (b, a) if ends and (a[0], b[0]) != ends else (a, b)
                src, dst = [*src, a], [*dst, b]
        named: dict[str, Any] = {"label": label} if label else {}
        keys = [self.written(label, side) for side in (src, dst)]

        def model() -> int:
            if self.model.labels[label].multi:
                raise Refused
            edges = {self.model.edge(label, a, b) for a, b in zip(src, dst, strict=True)}
            return sum(self.model.edges.pop(edge, None) is not None for edge in edges)

        self.call(f"db.remove_edges({keys}, {named})", lambda: self.db.remove_edges(*keys, **named), model)

    def remove_vertices(self) -> None:
        kind = self.rng.choice(list(self.model.kinds))
        keys = [self.key(kind)]
        named: dict[str, Any] = {"kind": kind} if kind else {}
        text = f"db.remove_vertices({keys}, kind={kind!r})"
        store = lambda: self.db.remove_vertices(keys, **named)  # noqa: E731
        self.call(text, store, lambda: sum(self.model.remove_vertex((kind, key)) for key in keys))

    def set_properties(self) -> None:
        kind = self.rng.choice(list(self.model.kinds))
        keys = list(dict.fromkeys(self.key(kind) for _ in range(3)))
        named: dict[str, Any] = {"kind": kind} if kind else {}

        def model() -> int:
            there = [(kind, key) for key in keys if (kind, key) in self.model.vertices]
            for v in there:
                self.model.vertices[v] = self.model.vertices[v] | {"age": 40}
            return len(there)

        text = f"db.set_vertex_properties({keys}, age=40, kind={kind!r})"
        self.call(text, lambda: self.db.set_vertex_properties(keys, {"age": 40}, **named), model)

    STEPS = [add_edges] * 4 + [put_edges] * 2 + [add_vertices] * 2 + [transact, remove_edges, remove_vertices, set_properties]

    # Reads ------------------------------------------------------------------------------------------------------------

    def compare_all(self) -> None:
        """Compares everything that the store holds."""
        model, g = self.model, self.g
        self.same("vertex_count", g.vertex_count, len(model.vertices))
        self.same("edge_count", g.edge_count, len(model.edges))
        self.same("vertices()", bag(g.vertices().tolist()), bag(map(shown, model.vertices)))
        edges = g.edges()
        weights = [None] * len(edges) if edges.weights is None else edges.weights.tolist()
        labels = [""] * len(edges) if edges.labels is None else edges.labels.tolist()
        found = [
            (*model.edge(label, vertex(a), vertex(b))[:3], None if w is None or math.isnan(w) else w)
            for label, a, b, w in zip(labels, edges.src.tolist(), edges.dst.tolist(), weights, strict=True)
        ]
        expected = [(*edge[:3], row.get("weight")) for edge, row in model.edges.items()]
        self.same("edges()", bag(found), bag(expected))
        for label in model.labels:
            self.same(f"edge_table({label!r})", self.table_of(label), {e: r for e, r in model.edges.items() if e[0] == label})
        for kind in model.kinds:
            table = g.vertex_table(kind) if kind else g.vertex_table()
            columns = {name: column.tolist() for name, column in table.properties.items()}
            found_rows = {
                (kind, key[1] if isinstance(key, tuple) else key): {n: c[at] for n, c in columns.items() if c[at] is not None}
                for at, key in enumerate(table.ids.tolist())
            }
            self.same(f"vertex_table({kind!r})", found_rows, {v: row for v, row in model.vertices.items() if v[0] == kind})

    def table_of(self, label: str) -> dict[Edge, dict[str, Any]]:
        """Returns the edges of a label as `edge_table` returns them."""
        table = self.g.edge_table(label)
        columns = {name: column.tolist() for name, column in table.properties.items()}
        if label == "" and self.model.weighted:
            columns["weight"] = self.weights_of_default()
        ranks = [0] * len(table) if table.ranks is None else table.ranks.tolist()
        rows = enumerate(zip(table.src.tolist(), table.dst.tolist(), ranks, strict=True))
        return {
            self.model.edge(label, vertex(a), vertex(b), rank): {n: c[at] for n, c in columns.items() if c[at] is not None}
            for at, (a, b, rank) in rows
        }

    def weights_of_default(self) -> list[float]:
        edges = self.g.edges(label="")
        return [] if edges.weights is None else edges.weights.tolist()

    def some_labels(self) -> Labels:
        names = list(self.model.labels)
        return self.rng.choice([None, self.rng.choice(names), self.rng.choice(names), self.rng.sample(names, min(2, len(names)))])

    def reader(self, direction: str = "out") -> tuple[Labels, dict[str, Any], Any, Vertex] | None:
        """Returns labels, the arguments that name them, and a vertex of their edges as a program writes it and as the model has it."""
        label = self.some_labels()
        try:
            kind = self.model.kind_at(label, direction)
        except Refused:
            kind = None
        graph = self.model.graph_of(label)
        near = bag(v for v in graph if v[0] == kind) or bag(v for v in graph if v[0])
        if not near:
            return None
        v = self.rng.choice(near)
        if not v[0] and kind != "":
            return None
        return label, {} if label is None else {"label": label}, v[1] if v[0] == kind else v, v

    def list_of_one(self) -> None:
        direction = self.rng.choice(["out", "out", "in", "both"])
        if (reader := self.reader(direction)) is None:
            return
        label, named, key, v = reader
        named |= {} if direction == "out" else {"direction": direction}
        expected = bag(shown(other) for other, _ in self.model.lists(label, direction)[v])
        self.call(f"g.neighbors({key!r}, {named})", lambda: bag(self.g.neighbors(key, **named)), lambda: expected)
        self.call(f"g.degree({key!r}, {named})", lambda: self.g.degree(key, **named), lambda: len(expected))
        if direction == "out" and (label is None or isinstance(label, str)):
            ends = self.model.labels[label or ""].ends
            others = [w for w in self.model.vertices if ends is None or w[0] == ends[1]]
            # At the end of an edge of such a label, a key alone is of the kind that the label states.
            if others and (ends is None or v[0] == ends[0]) and (self.model.directed or ends is None or ends[0] == ends[1]):
                other = self.rng.choice(others)
                is_there = any(w == other for w, _ in self.model.lists(label)[v])
                self.call(f"g.has_edge({key!r}, {shown(other)!r}, {named})", lambda: self.g.has_edge(key, shown(other), **named), lambda: is_there)

    def lists_of_many(self) -> None:
        if (reader := self.reader()) is None:
            return
        label, named, key, v = reader
        kind = v[0]
        keys = bag(w for w in self.model.graph_of(label) if w[0] == kind)
        written = [w[1] if not isinstance(key, tuple) else w for w in keys]
        lists = self.model.lists(label)
        self.call(f"g.degrees({written}, {named})", lambda: self.g.degrees(written, **named).tolist(), lambda: [len(lists[w]) for w in keys])
        found = lambda: [bag(part.tolist()) for part in self.g.neighbors_of(written, **named)]  # noqa: E731
        self.call(f"g.neighbors_of({written}, {named})", found, lambda: [bag(shown(o) for o, _ in lists[w]) for w in keys])
        hops = lambda: {vertex(k): d for k, d in self.g.k_hop([key], 2, **named)}  # noqa: E731
        self.call(f"g.k_hop([{key!r}], 2, {named})", hops, lambda: {w: d for w, d in self.model.hops(label, v).items() if d <= 2})

    def properties(self) -> None:
        v = self.rng.choice(list(self.model.vertices or [self.any_vertex()]))
        expected = self.model.vertices.get(v)
        self.call(f"g.vertex_properties({shown(v)!r})", lambda: self.g.vertex_properties(shown(v)), lambda: expected)

    def search(self) -> None:
        if (reader := self.reader()) is None:
            return
        label, named, key, v = reader
        graph = self.model.graph_of(label)

        def bfs() -> dict[Vertex, int]:
            hops = self.model.hops(label, v)
            return {w: hops.get(w, -1) for w in graph}

        def sssp() -> dict[Vertex, float]:
            sums = self.model.distances(label, v)
            return {w: sums.get(w, math.inf) for w in graph}

        self.call(f"g.bfs({key!r}, {named})", lambda: self.by_vertex(self.g.bfs(key, **named)), bfs)
        self.call(f"g.sssp({key!r}, {named})", lambda: self.by_vertex(self.g.sssp(key, **named)), sssp)

    def kernel(self) -> None:
        label = self.some_labels()
        named = {} if label is None else {"label": label}
        kernels = {"pagerank": self.model.ranks, "betweenness": self.model.betweenness, "closeness": self.model.closeness}
        name = self.rng.choice([*kernels, "wcc", "triangle_count", "msf"])
        text, run = f"g.run({name!r}, {named})", lambda: self.g.run(name, **named)
        if name in kernels:
            self.call(text, run, lambda: kernels[name](label), self.near_unless_estimated)
        elif name == "wcc":
            parts = lambda: self.parts(run())  # noqa: E731
            self.call(text, parts, lambda: self.model.components(label))
        elif name == "triangle_count":
            self.call(text, run, lambda: self.model.triangles(label))
        else:
            self.call(text, lambda: float(np.sum(run().values)), lambda: self.model.forest_weight(label))

    def near_unless_estimated(self, what: str, found: hedgerow.VertexResult, expected: dict[Vertex, float]) -> None:
        if found.estimate is None:
            self.near(what, self.by_vertex(found), expected)

    def by_vertex(self, result: hedgerow.VertexResult) -> dict[Vertex, Any]:
        return {vertex(key): value for key, value in result}

    def parts(self, result: hedgerow.VertexResult) -> set[frozenset[Vertex]]:
        found = defaultdict(set)
        for key, value in result:
            found[value].add(vertex(key))
        return {frozenset(part) for part in found.values()}

    READS = [list_of_one] * 3 + [lists_of_many] * 2 + [properties] + [search] * 3 + [kernel] * 4
