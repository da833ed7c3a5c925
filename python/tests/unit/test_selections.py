"""Reads over several labels, ranks, both directions, and filters."""

import datetime as dt
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
import pytest

import hedgerow


@pytest.fixture
def db() -> Iterator[hedgerow.Database]:
    with hedgerow.open() as db:
        db.define_label("calls", multi=True)
        with db.write() as tx:
            tx.put_edge(1, 2)
            tx.put_edge(1, 2, label="knows", since=2019)
            tx.put_edge(2, 3, label="knows", since=2024)
            tx.put_edge(3, 1, label="likes", stars=4.5, text="b")
            tx.put_edge(4, 4, label="likes", stars=1.0)
            for rank in (10, 20, 30):
                tx.put_edge(3, 4, label="calls", rank=rank, seconds=rank)
        yield db


def nested(depth: int) -> Any:
    return ("not", nested(depth - 1)) if depth else ("since", ">", 1)


def test_lists_take_several_labels_and_both_directions(db: hedgerow.Database) -> None:
    g = db.snapshot()
    assert g.neighbors(1, label=["knows", "likes"]) == [2]
    assert g.neighbors(1, "both", label=("likes", "knows"), labels=True) == [(2, "knows"), (3, "likes")]
    assert g.neighbors(2, "both", labels=True) == [(1, ""), (1, "knows"), (3, "knows")]
    assert g.neighbors(4, "both", ranks=True) == [(3, 10), (3, 20), (3, 30), (4, 0)]
    assert [g.degree(4, direction) for direction in ("out", "in", "both")] == [1, 4, 4]
    assert g.degree(3, label=iter(["likes", "calls"])) == 4
    edges = g.edges(label=["likes", "knows"])
    assert edges.labels is not None and edges.labels.tolist() == ["knows", "knows", "likes", "likes"]
    assert (edges.src.tolist(), edges.dst.tolist(), edges.ranks) == ([1, 2, 3, 4], [2, 3, 1, 4], None)
    # As a mapping of one label.
    assert g.neighbors(1, label=["knows"], properties=True) == [(2, {"since": 2019})]


def test_a_range_of_ranks_is_a_window_of_time(db: hedgerow.Database) -> None:
    g = db.snapshot()
    assert g.neighbors(3, label="calls", rank_range=(10, 30), ranks=True) == [(4, 10), (4, 20)]
    assert g.neighbors(3, label="calls", rank_range=(None, 20), ranks=True) == [(4, 10)]
    assert g.degree(3, label="calls", rank_range=(20, None)) == 2
    # Other edges have rank 0.
    assert (g.degree(3, rank_range=(1, None)), g.degree(3, rank_range=(0, 15))) == (3, 2)
    edges = g.edges(rank_range=(20, 31))
    assert edges.ranks is not None and edges.ranks.tolist() == [20, 30]
    assert g.wcc(label="calls", rank_range=(40, 50)).counts() == {1: 1, 2: 1, 3: 1, 4: 1}


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (("since", ">", 2020), [(2, 3)]),
        (("since", "<=", 2019), [(1, 2)]),
        (("since", "!=", 2019), [(2, 3)]),
        (("since", "=", 2019), [(1, 2)]),
        (("stars", ">", 4), [(3, 1)]),
        (("text", "==", "b"), [(3, 1)]),
        (("text", "<", "b"), []),
    ],
)
def test_a_filter_chooses_edges(db: hedgerow.Database, where: Any, expected: list[tuple[int, int]]) -> None:
    g = db.snapshot()
    src, dst, _ = g.edges(where=where)
    assert list(zip(src.tolist(), dst.tolist(), strict=True)) == expected
    for a, b in expected:
        assert g.neighbors(a, where=where) == [b]
        assert g.neighbors(b, "in", where=where) == [a]
    reached = g.bfs(2, label=["knows", "likes"], where=where).to_dict()
    assert {v for v, hops in reached.items() if hops == 1} == {b for a, b in expected if a == 2}


def test_conditions_must_all_be_met(db: hedgerow.Database) -> None:
    db.add_edges(
        [5, 5, 5],
        [1, 2, 3],
        label="met",
        properties={
            "at": np.array(["2014-01-01", "2015-06-01", "2016-01-01"], "datetime64[D]"),
            "op": ["A", "M", None],
            "raw": [b"ab", b"", None],
            "share": [0.5, None, 2.0],
        },
    )
    g = db.snapshot()
    low, high = dt.datetime(2015, 1, 1), dt.datetime(2016, 1, 1)
    for where, expected in [
        ([("at", ">=", low), ("at", "<", high)], [2]),
        ((("at", ">=", "2014-01-01"), ("at", "<", dt.date(2016, 1, 1)), ("op", "!=", "M")), [1]),
        ([("at", ">=", np.datetime64(low))], [2, 3]),
        ([], [1, 2, 3]),
        (("at", "in", ["2014-01-01", dt.date(2016, 1, 1)]), [1, 3]),
        (("op", "in", ["A", "M", "D"]), [1, 2]),
        (("op", "in", {"M"}), [2]),
        (("op", "in", np.array(["A", "M"])), [1, 2]),
        (("share", "in", [2, 7]), [3]),
        (("op", "is", None), [3]),
        (("op", "is not", None), [1, 2]),
        ([("op", "is", None), ("share", "is", None)], []),
        (("op", "prefix", ""), [1, 2]),
        (("raw", "prefix", b"a"), [1]),
        ([("raw", "is not", None), ("share", "is", None)], [2]),
        (("op", "not in", ["A", "D"]), [2]),
        (("not", ("op", "prefix", "A")), [2]),
        (("not", ("op", "is", None)), [1, 2]),
        (("or", ("op", "==", "A"), ("share", ">", 1)), [1, 3]),
        (("or", ("op", "==", "A")), [1]),
        (("and", ("op", "is not", None), ("or", ("share", "<", 1), ("at", "<", low))), [1]),
        (("not", ("or", ("op", "==", "M"), ("share", "==", 0.5))), []),
        (("not", [("op", "==", "A"), ("share", "==", 0.5)]), [2, 3]),
        (("not", ("share", "==", 0.5)), [3]),
        ([("or", ("share", "is", None), ("share", ">", 1)), ("at", ">=", low)], [2, 3]),
        (("or", [("op", "==", "A"), ("share", "<", 1)], [("op", "is", None), ("raw", "is", None)]), [1, 3]),
    ]:
        chosen: Any = {"label": "met", "where": where}
        assert g.neighbors(5, **chosen) == expected, where
        assert g.degree(5, **chosen) == len(expected)
        assert g.edges(**chosen).dst.tolist() == expected
        assert g.edge_table(**chosen).dst.tolist() == expected
        assert pl.DataFrame(g.edge_stream(**chosen, columns=["dst"]))["dst"].to_list() == expected
        assert g.degrees([5], **chosen).tolist() == [len(expected)]
        assert g.neighbors_of([5], **chosen).neighbors.tolist() == expected
        assert sorted(v for v, hops in g.k_hop([5], 1, **chosen).items() if hops) == expected
        assert [v for v, hops in g.bfs(5, **chosen).items() if hops == 1] == expected
    lengths = g.sssp(5, label="met", weight="share", where=[("share", "is not", None), ("op", "is", None)])
    assert {v for v, length in lengths.items() if length < math.inf} == {5, 3}
    # Edges of a label without the property have no value.
    assert g.neighbors(1, label=["knows", "met"], where=("op", "is", None)) == [2]
    assert g.neighbors(1, label=["knows", "met"], where=("op", "is not", None)) == []
    table = g.edge_table(["knows", "met"], where=("op", "is", None))
    assert table.labels is not None and table.labels.tolist() == ["knows", "knows", "met"]


def test_kernels_read_several_labels(db: hedgerow.Database) -> None:
    g = db.snapshot()
    assert g.bfs(1, label="knows").to_dict() == {1: 0, 2: 1, 3: 2, 4: -1}
    assert g.bfs(1).to_dict() == {1: 0, 2: 1, 3: 2, 4: 3}
    assert g.triangle_count(label=["knows", "likes"]) == 1
    assert g.triangle_count(label="knows") == 0
    assert g.wcc(label=["knows", "likes"]).counts() == {1: 3, 4: 1}
    assert g.bfs(3, label=["knows", "likes"], direction="both").to_dict() == {1: 1, 2: 1, 3: 0, 4: -1}
    assert g.bfs(3, label=["knows", "likes"], direction="in").to_dict() == {1: 2, 2: 1, 3: 0, 4: -1}
    forward, backward = (g.pagerank(label="knows", direction=to).top(1)[0][0] for to in ("out", "in"))
    assert (forward, backward) == (3, 1)
    assert g.run("pagerank", label="knows", direction="in").top(1)[0][0] == 1
    assert g.run("wcc", direction="both").counts() == {1: 4}
    with pytest.raises(hedgerow.DataError, match='the edge from . to . has no value of property stars of label "knows"'):
        g.sssp(1, label=["knows", "likes"], weight="stars")
    lengths = g.sssp(3, label=["likes"], weight="stars").to_dict()
    assert lengths == {1: 4.5, 2: math.inf, 3: 0.0, 4: math.inf}


def test_the_second_kernel_builds_nothing(db: hedgerow.Database) -> None:
    g = db.snapshot()
    g.wcc()  # the view of vertices too
    for chosen in ({"label": ["knows", "likes"]}, {"where": ("since", ">", 2020)}, {"direction": "both"}):
        g.pagerank(**chosen)  # type: ignore[arg-type]
        # Incoming lists are made when they are first read.
        g.bfs(2, **chosen)  # type: ignore[arg-type]
        charged = db.stats().view_bytes
        g.bfs(1, **chosen)  # type: ignore[arg-type]
        g.pagerank(**chosen)  # type: ignore[arg-type]
        assert db.stats().view_bytes == charged
    g.close()
    assert db.stats().view_bytes < charged


@pytest.mark.parametrize(
    ("arguments", "message", "kind"),
    [
        ({"where": ("since", ">", "x")}, 'since of label "knows" has type i64, but the value of the filter', "DataError"),
        ({"where": ("stars", ">", 2**60 + 1)}, "where: property stars", "DataError"),
        ({"where": ("until", ">", 1)}, "has a property until", "DataError"),
        ({"where": ("until", ">", 1), "label": "knows"}, 'label "knows" has no property until', "DataError"),
        ({"where": ("since", "~", 1)}, "a comparison must be one of ==, !=", "DataError"),
        ({"where": ("since", "==", None)}, 'write ("since", "is", None) for edges without a value', "DataError"),
        ({"where": ("since", "in", [1, None])}, 'write ("since", "is", None) for edges without a value', "DataError"),
        ({"where": ("since", "is", 3)}, '"is" compares with None alone, found 3 (int): write == or !=', "DataError"),
        ({"where": ("stars", "<", math.nan)}, "property stars cannot be compared with NaN", "DataError"),
        ({"where": ("stars", "in", [1.0, math.nan])}, "property stars cannot be compared with NaN", "DataError"),
        ({"where": ("text", "in", [])}, "property text is compared with an empty list", "DataError"),
        ({"where": ("text", "in", "ab")}, '"in" takes a sequence of values, found str: put it into a list', "TypeError"),
        ({"where": ("since", "in", 3)}, '"in" takes a sequence of values, found int', "TypeError"),
        ({"where": ("since", "in", range(2**20 + 1))}, "exceeds the limit of 1048576", "DataError"),
        ({"where": ("since", "in", [1, "x"])}, "has type i64, but the value of the filter has type utf8", "DataError"),
        ({"where": ("text", "==", ["a"])}, 'several follow "in", as in ("text", "in", [...])', "TypeError"),
        ({"where": ("text", "!=", ("a", "b"))}, 'several follow "not in", as in ("text", "not in", [...])', "TypeError"),
        ({"where": ("since", "prefix", "2")}, "is of type i64, and texts and bytes alone have a prefix", "DataError"),
        ({"where": ("text", "startswith", "a")}, 'did you mean "prefix"?', "DataError"),
        ({"where": ("text", "IN", ["a"])}, 'found "IN": did you mean "in"?', "DataError"),
        ({"where": ("since", "between", (1, 2))}, 'write two conditions, [("since", ">=", low), ', "DataError"),
        ({"where": ("since", "not_in", [1])}, 'did you mean "not in"?', "DataError"),
        ({"where": ("since", "not in", [])}, "property since is compared with an empty list", "DataError"),
        ({"where": ("not", ("since", "prefix", "2"))}, "texts and bytes alone have a prefix", "DataError"),
        ({"where": ("or", ("since", ">", 1), ("until", "<", 2))}, "has a property until: the properties are", "DataError"),
        ({"where": ("not", ("since", ">", 1), ("since", "<", 2))}, '"not" takes one condition', "DataError"),
        ({"where": ("or", [("since", ">", 1), ("since", "<", 2)])}, '"or" takes its conditions one after another', "DataError"),
        ({"where": ("and", [("since", ">", 1)])}, '"and" takes its conditions one after another', "DataError"),
        ({"where": ("xor", ("since", ">", 1), ("since", "<", 2))}, "where must be a tuple", "TypeError"),
        ({"where": nested(200)}, "groups are nested deeper than 100", "DataError"),
        ({"where": ("or", *[("since", ">", 1)] * 1025)}, "exceeds the limit of 1024", "DataError"),
        ({"where": [("since", ">", 1), ("until", "<", 2)]}, "has a property until: the properties are", "DataError"),
        ({"where": ["since", ">", 1]}, "where must be a tuple (property, comparison, value), a sequence", "TypeError"),
        ({"where": 7}, "where must be a tuple", "TypeError"),
        ({"where": "since>1"}, "where must be a tuple", "TypeError"),
        ({"where": ("since", ">")}, "where must be a tuple", "TypeError"),
        ({"label": ["knows", "knew"]}, "no label knew", "ProgrammingError"),
        ({"label": []}, "no label is named", "DataError"),
        ({"label": ["knows", 1]}, "label must be a str or a sequence of str, found 1 (int)", "TypeError"),
        ({"label": 7}, "label must be a str or a sequence of str, found 7 (int)", "TypeError"),
        ({"rank_range": 7}, "rank_range must be a tuple", "TypeError"),
        ({"rank_range": (1, -2)}, "rank -2 is out of range", "DataError"),
        ({"direction": "up"}, 'direction must be "out", "in" or "both"', "DataError"),
    ],
)
def test_what_makes_no_sense_is_refused(
    db: hedgerow.Database, arguments: dict[str, Any], message: str, kind: str
) -> None:
    g = db.snapshot()
    expected = TypeError if kind == "TypeError" else getattr(hedgerow, kind)
    for read in (lambda: g.degree(1, **arguments), lambda: g.bfs(1, **arguments)):
        with pytest.raises(expected) as raised:
            read()
        assert message in str(raised.value)
