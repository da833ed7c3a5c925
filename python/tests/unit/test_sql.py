"""`Snapshot.sql`: queries of DuckDB over kinds, labels and kernels have the results of DuckDB over the exported files."""

from __future__ import annotations

import builtins
import datetime
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest

import hedgerow
from hedgerow import _sql

# Joins, filters and aggregates over the tables of `shop`.
QUERIES = [
    "SELECT count(*) FROM pays",
    "SELECT src, count(*) AS n FROM pays GROUP BY src ORDER BY n DESC, src LIMIT 10",
    'SELECT dst, sum(amount), avg(amount), max("at") FROM pays GROUP BY dst HAVING count(*) > 2',
    "SELECT note, count(*), count(amount) FROM pays GROUP BY note",
    "SELECT * FROM pays WHERE amount > 90 AND note IS NOT NULL",
    "SELECT src, dst, rank FROM pays WHERE \"at\" BETWEEN TIMESTAMPTZ '2024-02-01 00:00:00+00' AND TIMESTAMPTZ '2024-03-01 00:00:00+00'",
    "SELECT v.name, p.amount FROM pays p JOIN vertices v ON v.id = p.src WHERE v.age < 30",
    "SELECT a.age, b.age, count(*) FROM pays p JOIN vertices a ON a.id = p.src JOIN vertices b ON b.id = p.dst GROUP BY ALL",
    "SELECT name FROM vertices v WHERE NOT EXISTS (SELECT 1 FROM pays WHERE src = v.id)",
    "SELECT k.dst, count(*) FROM knows k JOIN knows l ON k.dst = l.src GROUP BY k.dst",
    "SELECT DISTINCT b.dst FROM knows a JOIN knows b ON a.dst = b.src WHERE a.src = 7",
    "SELECT count(*) FROM knows a JOIN knows b ON a.dst = b.src JOIN knows c ON b.dst = c.src AND c.dst = a.src",
    "SELECT since // 10 AS decade, count(*) FROM knows GROUP BY decade ORDER BY decade",
    "SELECT title, count(*) FROM visits JOIN page ON page.id = visits.dst GROUP BY title",
    "SELECT v.name, list(w.dst ORDER BY w.dst) FROM visits w JOIN vertices v ON v.id = w.src GROUP BY v.name",
    "SELECT p.title, avg(v.age) FROM page p LEFT JOIN visits w ON w.dst = p.id LEFT JOIN vertices v ON v.id = w.src GROUP BY ALL",
    "SELECT src FROM pays INTERSECT SELECT src FROM knows",
    "SELECT id FROM vertices EXCEPT SELECT dst FROM pays",
    "WITH big AS (SELECT * FROM pays WHERE amount >= 50) SELECT src, row_number() OVER (PARTITION BY src ORDER BY amount, rank) FROM big",
    "WITH RECURSIVE r(id, n) AS (SELECT 7::UBIGINT, 0 UNION SELECT k.dst, n + 1 FROM r JOIN knows k ON k.src = r.id WHERE n < 3) SELECT * FROM r",
    "SELECT quantile_cont(amount, [0.1, 0.5, 0.9]) FROM pays",
    "SELECT src, dst FROM edges WHERE src < dst UNION ALL SELECT dst, src FROM edges WHERE dst < src",
]


@pytest.fixture(scope="module")
def shop() -> Iterator[hedgerow.Snapshot]:
    rng = np.random.default_rng(4)
    with hedgerow.open() as db:
        db.define_kind("page", keys="str")
        db.define_label("visits", src="", dst="page")
        db.define_label("pays", multi=True, src="", dst="")
        db.define_label("knows", src="", dst="")
        people = np.arange(200)
        names = [None if n % 17 == 0 else f"name {n % 90}" for n in people]
        db.add_vertices(people, properties={"name": names, "age": rng.integers(18, 80, 200)})
        db.add_vertices(["a", "b", "c d"], kind="page", properties={"title": ["Owls", None, "Birds"]})
        days = np.datetime64("2024-01-01") + rng.integers(0, 90, 900)
        amounts = [None if n % 11 == 0 else float(n % 101) for n in rng.integers(0, 10_000, 900)]
        notes = [None if n % 3 == 0 else f"note {n % 5}" for n in rng.integers(0, 100, 900)]
        ends = rng.integers(0, 150, (2, 900))
        db.add_edges(*ends, label="pays", properties={"amount": amounts, "at": days, "note": notes})
        db.add_edges(*rng.integers(0, 200, (2, 1500)), label="knows", properties={"since": rng.integers(1950, 2024, 1500)})
        db.add_edges(rng.integers(0, 200, 300), [["a", "b", "c d"][n] for n in rng.integers(0, 3, 300)], label="visits")
        with db.snapshot() as snapshot:
            yield snapshot


@pytest.fixture(scope="module")
def parquet(shop: hedgerow.Snapshot, tmp_path_factory: pytest.TempPathFactory) -> duckdb.DuckDBPyConnection:
    """Returns a connection with a view of each exported file."""
    files = shop.export(tmp_path_factory.mktemp("shop") / "tables", partitions=2).files
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'").fetchall()
    for table in {Path(file).name.split(".")[0] for file in files if not file.endswith("json")}:
        name = table.rpartition("-")[2]
        path = Path(files[0]).parent / f"{table}.*parquet"
        connection.execute(f"CREATE VIEW \"{name}\" AS FROM read_parquet('{path}')")
    return connection


@pytest.mark.parametrize("datasets", [True, False], ids=["datasets", "streams"])
@pytest.mark.parametrize("large", [0, 10**9], ids=["divided", "whole"])
@pytest.mark.parametrize("query", QUERIES)
def test_results_are_those_of_the_files(
    shop: hedgerow.Snapshot, parquet: duckdb.DuckDBPyConnection, query: str, large: int, datasets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_sql, "_LARGE", large)
    # Without PyArrow, DuckDB reads streams.
    monkeypatch.setattr(_sql, "_has_datasets", lambda: datasets)
    found, expected = shop.sql(query), parquet.sql(query)
    assert found.columns == expected.columns
    rows, others = found.fetchall(), expected.fetchall()
    # No edge has the default label.
    assert bool(rows) is ("FROM edges" not in query)
    assert sorted(map(repr, rows)) == sorted(map(repr, others))


# DuckDB takes NaN for the greatest number; `where` and PyArrow follow IEEE 754.
OF_FLOATS = [
    "x > 1",
    "x >= 1",
    "x < 1",
    "x <= 1",
    "x = 1.5",
    "x <> 1.5",
    "NOT x <= 1",
    "NOT x > 1",
    "x BETWEEN 1 AND 'inf'",
    "x > 1 OR x IS NULL",
    "x > 1 AND x < 'inf'",
    "x = 'NaN'::DOUBLE",
    "x > 'inf'::DOUBLE",
    "x IN (0, 1.5, 7)",
    "x NOT IN (0, 1.5)",
    "x IS NOT NULL AND NOT (x < 1 OR x = 1.5)",
    "x IS DISTINCT FROM 1.5",
]


@pytest.mark.parametrize("datasets", [True, False], ids=["datasets", "streams"])
@pytest.mark.parametrize("condition", OF_FLOATS)
def test_nan_is_the_greatest_number_of_sql(condition: str, datasets: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_sql, "_has_datasets", lambda: datasets)
    values = [float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, 1.5, None]
    with hedgerow.open() as db:
        db.add_edges([1] * 8, range(8), label="has", properties={"x": values})
        with db.snapshot() as snapshot, duckdb.connect() as connection:
            connection.execute("CREATE TABLE has (dst BIGINT, x DOUBLE)")
            connection.executemany("INSERT INTO has VALUES (?, ?)", [list(row) for row in enumerate(values)])
            query = f"SELECT dst FROM has WHERE {condition} ORDER BY dst"
            assert snapshot.sql(query).fetchall() == connection.sql(query).fetchall()


def test_conditions_of_a_query_are_tested_in_the_store(shop: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyarrow", reason="PyArrow cannot be installed here")
    made: list[Any] = []
    of_label = hedgerow.Snapshot.edge_stream

    def edge_stream(self: hedgerow.Snapshot, label: str | None = None, **chosen: Any) -> Any:
        made.append(chosen)
        return of_label(self, label, **chosen)

    monkeypatch.setattr(hedgerow.Snapshot, "edge_stream", edge_stream)
    for large, parts in ((10**9, 1), (0, 2)):
        monkeypatch.setattr(_sql, "_LARGE", large)
        made.clear()
        ((count,),) = shop.sql("SELECT count(*) FROM pays WHERE note = 'note 3' AND amount < 50").fetchall()
        assert count > 0
        scans = [chosen for chosen in made if "columns" in chosen]
        assert len(scans) >= parts and len({repr(chosen["part"]) for chosen in scans}) >= parts
        for chosen in scans:
            assert chosen["columns"] == ["src"]
            assert sorted(chosen["where"][0][1:]) == [("amount", "<", 50.0), ("note", "==", "note 3")]


@pytest.mark.parametrize(
    ("query", "columns"),
    [
        ("SELECT count(*) FROM pays", {"src"}),
        ("SELECT p.amount FROM pays p WHERE DST > 3", {"dst", "amount"}),
        ("SELECT sum(amount) FROM pays JOIN knows USING (src)", {"src", "amount"}),
        ("FROM pays", None),
        ("SELECT p FROM pays p", None),
        ("SELECT count(pays) FROM pays", None),
        ("SELECT a FROM pays AS p(a, b)", None),
        ("SELECT 1 FROM pays NATURAL JOIN knows", None),
        ("SELECT #1 FROM pays", None),
        ("SELECT COLUMNS('a.*') FROM pays", None),
        ("DESCRIBE pays", None),
        ("WITH q AS (SELECT note FROM pays) SELECT * FROM q", None),
        ("WITH q AS (SELECT note FROM pays) SELECT upper(note) FROM q", {"note"}),
    ],
)
def test_only_the_columns_that_a_query_may_read_are_made(
    shop: hedgerow.Snapshot, query: str, columns: set[str] | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_sql, "_has_datasets", lambda: False)
    made: list[Any] = []
    of_label = _sql.Snapshot.edge_stream

    def edge_stream(self: hedgerow.Snapshot, label: str, **chosen: Any) -> Any:
        made.append((label, chosen.get("columns")))
        return of_label(self, label, **chosen)

    class Spied:
        def __getattr__(self, name: str) -> Any:
            return (lambda *given, **named: edge_stream(shop, *given, **named)) if name == "edge_stream" else getattr(shop, name)

    _sql.sql(Spied(), query).fetchall()  # type: ignore[arg-type]
    found = [chosen for label, chosen in made if label == "pays"][-1]
    assert (found if found is None else set(found)) == columns


def test_kernels_are_tables(shop: hedgerow.Snapshot) -> None:
    assert shop.sql("SELECT count(*) FROM degrees").fetchall() == [(shop.vertex_count,)]
    for kernel in ("bfs", "triangle_count", "path"):
        with pytest.raises(hedgerow.ProgrammingError, match=f"kernel .* has arguments without defaults.*tables={{'{kernel}': g.run"):
            shop.sql(f"SELECT * FROM {kernel}")
    # A query that defines the name itself runs no kernel.
    assert shop.sql("WITH path AS (SELECT 1 AS n), Pagerank AS (SELECT 2) SELECT n FROM path, pagerank").fetchall() == [(1,)]
    with hedgerow.open() as db:
        db.add_edges([1, 2, 3, 8], [2, 3, 1, 9])
        g = db.snapshot()
        assert g.sql("SELECT count(DISTINCT value) FROM wcc").fetchall() == [(2,)]
        top = g.sql("SELECT p.id, p.value FROM pagerank p JOIN edges e ON e.src = p.id ORDER BY p.value DESC, p.id").fetchall()
        scores = g.pagerank()
        assert top == [(key, scores[key]) for key, _ in top] and len(top) == 4


def test_names_of_tables(db: hedgerow.Database) -> None:
    db.define_kind("Page")
    db.define_kind("both")
    for label in ("Knows", "knows", "both", "wcc", "my label", "edges"):
        db.add_edges([1], [2], label=label, properties={"of": [label]})
    db.add_edges([5, 6], [7, 8])
    g = db.snapshot()
    assert g.sql('SELECT of FROM "my label"').fetchall() == [("my label",)]
    assert g.sql("SELECT of FROM Knows").fetchall() == [("Knows",)]
    assert g.sql("SELECT count(*) FROM PAGE").fetchall() == [(0,)]
    # A name that the program chose comes before the default label and before a kernel.
    assert g.sql("SELECT of FROM edges").fetchall() == [("edges",)]
    assert g.sql("SELECT of FROM wcc").fetchall() == [("wcc",)]
    for query in ("SELECT * FROM KNOWS", 'SELECT * FROM "both"', 'SELECT * FROM "Knows" a, "knows" b'):
        with pytest.raises(hedgerow.ProgrammingError, match="names of your own by tables="):
            g.sql(query)
    db.add_edges([1], [2], label="Ärzte", properties={"of": ["a"]})
    g = db.snapshot()
    assert g.sql('SELECT of FROM "Ärzte"').fetchall() == g.sql('SELECT of FROM "ÄRZTE"').fetchall() == [("a",)]
    with pytest.raises(hedgerow.DataError, match="two names differ in upper and lower case alone"):
        g.sql("SELECT 1", tables={"T": g.edge_stream("knows"), "t": g.edge_stream("knows")})
    for query in ("SELECT * FROM nothing", "SELECT FROM FROM", "SELECT nope FROM edges"):
        with pytest.raises(duckdb.Error) as caught:
            g.sql(query)
        assert '"edges"' in caught.value.__notes__[0] and "tables= adds others" in caught.value.__notes__[0]
    with pytest.raises(hedgerow.DataError, match="tables must map names to tables, found list"):
        g.sql("SELECT 1", tables=[])  # type: ignore[arg-type]


def test_a_query_reads_other_tables_too(shop: hedgerow.Snapshot) -> None:
    chosen = {"chosen": pl.DataFrame({"id": [7]})}
    rows = shop.sql("SELECT k.dst FROM knows k JOIN chosen ON chosen.id = k.src", tables=chosen).fetchall()
    assert sorted(key for (key,) in rows) == sorted(set(shop.neighbors(7, label="knows")))
    # They come before those of the graph.
    assert shop.sql("SELECT count(*) FROM Pays", tables={"pays": pl.DataFrame({"src": [1]})}).fetchall() == [(1,)]
    assert shop.sql("SELECT count(*) FROM pays WHERE src = ?", parameters=[7]).fetchall() == [(shop.degree(7, label="pays"),)]
    assert shop.sql("SELECT count(*) FROM pays WHERE src = $who", parameters={"who": 7}).fetchall() == [(shop.degree(7, label="pays"),)]
    slim = {"slim": shop.edge_stream("pays", columns=["dst"], where=("note", "is", None)), "near": shop.bfs(7, label="knows")}
    assert shop.sql("SELECT count(*) FROM slim", tables=slim).fetchall() == shop.sql("SELECT count(*) FROM pays WHERE note IS NULL").fetchall()
    relation = {"mine": duckdb.sql("SELECT 7::UBIGINT AS id"), "theirs": shop.sql("SELECT id FROM vertices WHERE id < 3")}
    assert shop.sql("SELECT (SELECT sum(id) FROM mine), (SELECT count(*) FROM theirs)", tables=relation).fetchall() == [(7, 3)]
    hops = shop.sql("SELECT count(*) FROM near WHERE value = 1", tables=slim).fetchall()
    assert hops == [(len(set(shop.neighbors(7, label="knows")) - {7}),)]
    unseen = pl.DataFrame({"x": [1]})
    for name in ("unseen", "tables", "known", "given"):
        with pytest.raises(duckdb.Error, match="does not exist"):
            shop.sql(f"SELECT * FROM {name}", tables={"other": unseen})
    own = shop.sql("WITH pays AS (SELECT * FROM pays WHERE src = 7) SELECT count(*) FROM pays").fetchall()
    assert own == [(shop.degree(7, label="pays"),)]


def test_results_of_two_snapshots_stay_apart(db: hedgerow.Database) -> None:
    db.add_edges([1], [2])
    one = db.snapshot().sql("SELECT count(*) FROM edges")
    db.add_edges([2], [3])
    other = db.snapshot().sql("SELECT count(*) FROM edges")
    assert [relation.fetchall() for relation in (one, other, one)] == [[(1,)], [(2,)], [(1,)]]


def test_a_query_shows_its_snapshot_beside_writers(db: hedgerow.Database) -> None:
    db.add_edges(np.arange(5000), np.arange(5000) + 1)
    g, stop = db.snapshot(), threading.Event()

    def write() -> None:
        while not stop.is_set():
            db.add_edges(np.arange(100), np.arange(100) + 7000)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for _ in range(5):
            assert g.sql("SELECT count(*), count(DISTINCT e.src) FROM edges e JOIN vertices v ON v.id = e.dst").fetchall() == [(5000, 5000)]
    finally:
        stop.set()
        writer.join()
    relation = g.sql("SELECT count(*) FROM edges")
    g.close()
    with pytest.raises((duckdb.Error, hedgerow.ClosedError)):
        relation.fetchall()
    with pytest.raises(hedgerow.ClosedError):
        g.sql("SELECT count(*) FROM edges")


def test_without_the_package(shop: hedgerow.Snapshot, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *arguments: Any, **named: Any) -> Any:
        if name == "duckdb":
            raise ImportError("no module named duckdb")
        return imported(name, *arguments, **named)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(hedgerow.NotSupportedError, match=r"pip install hedgerow\[sql\]"):
        shop.sql("SELECT 1")


def test_times_are_compared_in_utc(db: hedgerow.Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        db.add_edges([1, 2], [2, 3], label="t", properties={"when": np.array(["2024-01-01T23:30", "2024-01-02T00:30"], "M8[m]")})
        g = db.snapshot()
        assert g.edge_table("t", where=("when", "<", "2024-01-02")).src.tolist() == [1]
        assert g.sql("SELECT src FROM t WHERE \"when\" < '2024-01-02'").fetchall() == [(1,)]
        assert g.sql("SELECT src FROM t WHERE \"when\" < ?", parameters=[datetime.datetime(2024, 1, 2)]).fetchall() == [(1,)]
    finally:
        monkeypatch.undo()
        time.tzset()


def test_values_come_back_as_they_are(db: hedgerow.Database) -> None:
    at = datetime.datetime(2024, 2, 29, 1, 2, 3, 4, tzinfo=datetime.UTC)
    db.add_edges([2**64 - 1], [0], properties={"at": [at], "raw": [b"\0\xff"], "ok": [True], "n": [-(2**63)], "x": [float("inf")], "t": ["é"]})
    rows = db.snapshot().sql("SELECT src, dst, epoch_us(\"at\"), raw, ok, n, x, t FROM edges").fetchall()
    assert rows == [(2**64 - 1, 0, round(at.timestamp() * 1e6), b"\0\xff", True, -(2**63), float("inf"), "é")]
