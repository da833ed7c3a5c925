"""`Snapshot.expand`: the edges of given vertices as a stream."""

from __future__ import annotations

import random
from typing import Any

import hedgerow
import polars as pl
import pytest


def filled(directed: bool, seed: int) -> tuple[hedgerow.Database, list[tuple[int, int, int, int]]]:
    """A store with random parallel edges of one label, and the edges: source, destination, rank, amount."""
    rng = random.Random(seed)
    db = hedgerow.open(directed=directed)
    db.define_label("pays", multi=True)
    edges = {(rng.randrange(40), rng.randrange(40), rng.randrange(3)): rng.randrange(100) for _ in range(400)}
    if not directed:
        edges = {(min(a, b), max(a, b), rank): amount for (a, b, rank), amount in edges.items()}
    rows = [(*key, amount) for key, amount in edges.items()]
    db.add_edges(
        [row[0] for row in rows],
        [row[1] for row in rows],
        label="pays",
        ranks=[row[2] for row in rows],
        properties={"amount": [row[3] for row in rows], "note": [f"n{row[3]}" for row in rows]},
    )
    return db, rows


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_rows_are_those_of_the_edges_of_each_vertex(directed: bool, direction: str) -> None:
    db, edges = filled(directed, 5)
    db.settle()
    with db.snapshot() as g:
        keys = [7, 3, 7, 11, 39]
        found = pl.DataFrame(g.expand(keys, direction, where=("amount", ">", 30), rank_range=(0, 2)))
        expected = []
        for key in keys:
            for src, dst, rank, amount in edges:
                is_out, is_in = src == key, dst == key
                if not directed:
                    taken, ends = is_out or is_in, (key, dst if is_out else src)
                else:
                    taken = {"out": is_out, "in": is_in, "both": is_out or is_in}[direction]
                    ends = (src, dst)
                if taken and rank < 2 and amount > 30:
                    expected.append((*ends, rank, amount, f"n{amount}"))
        assert found.columns == ["src", "dst", "rank", "amount", "note"]
        assert sorted(found.rows()) == sorted(expected)
        # Vertex by vertex, in the order of the keys.
        firsts = pl.DataFrame(g.expand([7, 3], "out", columns=["src"]))["src"].to_list()
        assert firsts == sorted(firsts, key=[7, 3].index)


def test_a_stream_can_be_read_again_and_is_of_its_snapshot() -> None:
    db, _ = filled(True, 6)
    with db.snapshot() as g:
        stream = g.expand([1, 2], label="pays")
        first = pl.DataFrame(stream)
        db.put_edge(1, 2, label="pays", rank=50, amount=1)
        assert pl.DataFrame(stream).equals(first)
    with db.snapshot() as g:
        assert pl.DataFrame(g.expand([1, 2])).height == first.height + 1


def test_bad_arguments() -> None:
    db, _ = filled(True, 7)
    g = db.snapshot()
    with pytest.raises(hedgerow.IntegrityError, match=r"keys\[1\]: no vertex 99"):
        g.expand([1, 99])
    assert pl.DataFrame(g.expand([99], missing="empty")).height == 0
    assert pl.DataFrame(g.expand([])).height == 0
    with pytest.raises(hedgerow.DataError, match="there is none; the columns are src, dst, rank, amount, note"):
        g.expand([1], columns=["amounts"])
    with pytest.raises(hedgerow.DataError, match="amount"):
        g.expand([1], where=("amount", ">", "x"))
    db.put_edge(1, 2, label="knows")
    with pytest.raises(hedgerow.ProgrammingError, match="pays"):
        db.snapshot().expand([1])


def test_kinds() -> None:
    db = hedgerow.open()
    db.define_kind("user", "str")
    db.define_kind("page")
    db.define_label("edited", src="user", dst="page")
    db.add_edges(["ann", "bob", "ann"], [7, 7, 8], label="edited", properties={"minor": [True, False, None]})
    with db.snapshot() as g:
        rows: list[tuple[Any, ...]] = pl.DataFrame(g.expand(["ann"])).rows()
        assert sorted(rows, key=str) == [("ann", 7, True), ("ann", 8, None)]
        assert sorted(pl.DataFrame(g.expand([7], "in")).rows()) == [("ann", 7, True), ("bob", 7, False)]


def test_many_keys() -> None:
    """More keys than one thread looks up alone."""
    db = hedgerow.open()
    db.add_edges(range(5000), range(1, 5001), label="next")
    g = db.snapshot()
    keys = list(range(4999, -1, -1))
    found = pl.DataFrame(g.expand(keys))
    assert found["src"].to_list() == keys
    assert (found["dst"] - found["src"]).unique().to_list() == [1]
    with pytest.raises(hedgerow.IntegrityError, match=r"keys\[5000\]: no vertex 9999"):
        g.expand([*keys, 9999])
