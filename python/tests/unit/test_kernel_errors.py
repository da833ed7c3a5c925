"""What errors of kernels say: the caller's ids, the names of kinds and labels, and near names; never internal numbers."""

import re
from collections.abc import Callable

import pytest
from support import ROOT

import hedgerow

# Of the guide: command line, and Rust and Python.
NAMES = re.findall(r"^\| `run (\w+)` \| `(\w+)` \|", (ROOT / "docs/guide/kernels.md").read_text(), re.MULTILINE)


def test_a_matching_names_the_ends_of_the_edge(db: hedgerow.Database) -> None:
    db.add_edges([101, 102, 103], [102, 103, 101])
    with pytest.raises(hedgerow.DataError, match=r"the edge between 10[123] and 10[123] closes a cycle of odd length"):
        db.snapshot().run("matching")


WEIGHED: dict[str, Callable[[hedgerow.Snapshot], object]] = {
    "sssp": lambda g: g.sssp(500),
    "sssp against": lambda g: g.sssp(502, direction="in"),
    "sssp with progress": lambda g: g.run("sssp", source=500, progress=lambda done, total: None),
    "wpath": lambda g: g.run("wpath", source=500, target=502),
    "wpagerank": lambda g: g.run("wpagerank"),
    "louvain": lambda g: g.run("louvain"),
    "leiden": lambda g: g.run("leiden"),
    "wbetweenness": lambda g: g.run("wbetweenness"),
    "wcloseness": lambda g: g.run("wcloseness"),
    "wwalks": lambda g: g.run("wwalks"),
    "kpaths": lambda g: g.run("kpaths", source=500, target=502, k=2),
}


@pytest.mark.parametrize("kernel", WEIGHED)
def test_a_negative_weight_is_told_with_the_ends_of_its_edge(kernel: str) -> None:
    with hedgerow.open(weighted=True) as db:
        db.add_edges([500, 501], [501, 502], [1.0, -2.0])
        with pytest.raises(hedgerow.DataError, match="the edge between 50[12] and 50[12] weighs -2, expected"):
            WEIGHED[kernel](db.snapshot())


def test_an_infinite_weight_and_too_large_a_sum() -> None:
    with hedgerow.open(weighted=True, keys="str") as db:
        db.add_edges(["ann", "ann"], ["bob", "cem"], [1e308, 1e308])
        with pytest.raises(hedgerow.DataError, match="the weights of the edges from ann sum to inf"):
            db.snapshot().run("wpagerank")
        db.put_edge("ann", "bob", float("inf"))
        with pytest.raises(hedgerow.DataError, match="the edge between ann and bob weighs inf, expected a finite number"):
            db.snapshot().run("msf")
        db.add_edges(["u", "v"], ["v", "u"], [0.0, 0.0])
        with pytest.raises(hedgerow.DataError, match="the edge between [uv] and [uv] weighs 0, expected more than 0"):
            db.snapshot().run("wbetweenness", sources=["u"])


@pytest.fixture
def airports(db: hedgerow.Database) -> hedgerow.Database:
    db.define_kind("pilot", "str")
    db.define_kind("airport")
    db.define_label("flies_to", src="pilot", dst="airport")
    db.define_label("route", src="airport", dst="airport")
    db.add_edges([1, 2, 3], [2, 3, 1], label="route")
    db.add_edges(["ann"], [1], label="flies_to")
    return db


MISSING: list[Callable[[hedgerow.Snapshot], object]] = [
    lambda g: g.neighbors(("airport", 9)),
    lambda g: g.neighbors(("airport", 9), label=["route", "flies_to"]),
    lambda g: g.degree(("airport", 9), label="route"),
    lambda g: g.neighbors(("airport", 9), label="route", limit=1),
    lambda g: g.degrees([9], label="route"),
    lambda g: g.neighbors_of([("airport", 9)]),
    lambda g: g.k_hop([9], 2, kind="airport"),
    lambda g: g.bfs(("airport", 9)),
    lambda g: g.run("ppr", sources=[("airport", 9)]),
]


@pytest.mark.parametrize("at", range(len(MISSING)))
def test_a_missing_vertex_is_told_with_the_name_of_its_kind(airports: hedgerow.Database, at: int) -> None:
    with pytest.raises(hedgerow.IntegrityError, match=r'no vertex \("airport", 9\)$'):
        MISSING[at](airports.snapshot())


def test_a_missing_end_is_told_with_the_name_of_its_kind(airports: hedgerow.Database) -> None:
    with pytest.raises(hedgerow.IntegrityError, match=r'no vertex \("pilot", "zoe"\)$'):
        with airports.write(create_endpoints=False) as tx:
            tx.put_edge("zoe", 1, label="flies_to")
    with airports.write() as tx, pytest.raises(hedgerow.IntegrityError, match=r'no vertex \("airport", 9\)$'):
        tx.neighbors(("airport", 9))


def test_errors_of_kernels_on_kinds_name_pairs(airports: hedgerow.Database) -> None:
    with pytest.raises(hedgerow.DataError, match=r'the edge between \("airport", [123]\) and \("airport", [123]\) closes'):
        airports.snapshot().run("matching", label="route")


def test_every_name_of_the_guide_is_a_kernel(db: hedgerow.Database) -> None:
    assert len(NAMES) >= 30
    db.add_edges([1, 2], [2, 3])
    g = db.snapshot()
    ends = {"source": 1, "target": 3}
    for name, function in NAMES:
        answers = []
        for called in (name, function):
            try:
                answers.append(str(g.run(called, sources=[1])))
            except hedgerow.DataError as refused:
                assert "no kernel" not in str(refused)
                answers.append(str(refused).replace(called, name))
        assert answers[0] == answers[1]
    assert g.run("shortest_path", **ends)[0].tolist() == [1, 2, 3]
    assert g.run("triangle_count") == g.triangle_count() == 0
    assert db.maintain("triangle_count").name == "tc"


def test_near_names_are_suggested(airports: hedgerow.Database) -> None:
    airports.define_property("elevation", int, kind="airport")
    g = airports.snapshot()
    for call, kind, message in (
        (lambda: g.run("betweeness"), hedgerow.DataError, 'there is no kernel "betweeness": did you mean "betweenness"'),
        (lambda: g.run("core_number"), hedgerow.DataError, 'did you mean "core_numbers"?'),
        (lambda: g.run("zzzz"), hedgerow.DataError, 'the kernels are "bfs", "pagerank"'),
        (lambda: g.run("bfs", sorce=1), hedgerow.DataError, 'bfs has no parameter "sorce": did you mean "source"?'),
        (lambda: g.run("tc", x=1), hedgerow.DataError, 'tc has no parameter "x": there are no parameters'),
        (lambda: g.run("louvain", x=1), hedgerow.DataError, 'louvain has no parameter "x": the parameters are "'),
        (lambda: airports.maintain("trangle_count"), hedgerow.DataError, 'did you mean "triangle_count"?'),
        (lambda: g.degrees([1], label="rout"), hedgerow.ProgrammingError, 'did you mean "route"?'),
        (lambda: g.neighbors(("airprt", 1)), hedgerow.ProgrammingError, 'did you mean "airport"?'),
        (lambda: g.vertex_table("airport", properties=["elevaton"]), hedgerow.DataError, 'vertices of kind airport have no property elevaton: did you mean "elevation"?'),
        (lambda: g.neighbors(1, label="xyz"), hedgerow.ProgrammingError, 'no label xyz: the labels are "", "flies_to", "route"'),
    ):
        with pytest.raises(kind, match=re.escape(message)):
            call()
    with pytest.raises(hedgerow.ProgrammingError) as far:
        g.neighbors(1, label="xyz")
    assert "did you mean" not in str(far.value)
