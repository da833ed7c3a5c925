"""`Database.load`: files of the command line's layouts into an open store, by the loader of the command line."""

import gzip
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

import hedgerow


@pytest.fixture
def db() -> hedgerow.Database:
    return hedgerow.open()


def _file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_lines_tables_and_directories_are_loaded(tmp_path: Path, db: hedgerow.Database) -> None:
    lines = _file(tmp_path, "a.csv", "src,dst,amount,when\n1,2,9.5,2024-01-01\n2,3,,2024-01-02\n")
    loaded = db.load(lines, label="pays", property=["amount:f64", "when:timestamp"])
    assert (loaded.rows, loaded.new_edges, loaded.new_vertices, loaded.notes) == (2, 2, 3, [])
    assert (loaded.edges, loaded.vertices, loaded.transactions) == (2, 3, 1)
    assert db.snapshot().edge_properties(1, 2, label="pays")["amount"] == 9.5
    people = _file(tmp_path, "people.csv", "id,name:utf8\n1,Ann\n7,Bo\n")
    both = db.load([lines], vertices=people, label="pays", property="amount:f64")
    assert (both.existing_edges, both.new_vertices, both.existing_vertices) == (2, 1, 1)
    assert [note for _, note in both.notes] == ["column 4 (when) is left out; property=\"NAME:TYPE=4\" keeps it"]
    out = db.snapshot().export(tmp_path / "out")
    other = hedgerow.open(tmp_path / "store")
    copied = other.load(tmp_path / "out")
    assert (copied.vertices, copied.edges) == (out.vertices, out.edges) == (4, 2)
    assert other.snapshot().vertex_properties(7) == {"name": "Bo"}
    third = hedgerow.open()
    assert third.load(next(file for file in out.files if "pays" in file), label="pays").new_edges == 2


def test_layouts_of_the_command_line_are_there(tmp_path: Path, db: hedgerow.Database) -> None:
    text = """<graphml><key id="n" for="node" attr.name="name" attr.type="string"/><graph edgedefault="directed">
<node id="1"><data key="n">Ann</data></node><edge source="1" target="2"/><edge source="1" target="x"/></graph></graphml>"""
    with pytest.raises(hedgerow.DataError, match='a.graphml:2: target: vertex id "x" is not a number') as raised:
        db.load(_file(tmp_path, "a.graphml", text))
    assert raised.value.line == 2
    assert db.load(tmp_path / "a.graphml", on_error="skip").rejected == 1
    assert db.snapshot().vertex_properties(1) == {"name": "Ann"}
    loaded = db.load(_file(tmp_path, "out.net", "% asym unweighted\n1 2 1 1082040961\n"), label="met", rank=4)
    assert loaded.new_edges == 1 and "a Konect network, asym unweighted" in [note for _, note in loaded.notes]
    assert db.load(_file(tmp_path, "x", "1|2|-1\n"), format="as-rel", label="pays").new_edges == 1
    assert db.load(_file(tmp_path, "person_0_0.csv", "id|firstName\n5|Bo\n"), format="ldbc").new_vertices == 1
    with pytest.raises(hedgerow.DataError, match="a bipartite network: .* by label=\"NAME\" from_=\"KIND\" to=\"KIND\""):
        db.load(_file(tmp_path, "out.two", "% bip unweighted\n1 1\n"))


def test_progress_grows_to_the_bytes_of_both_readings(tmp_path: Path, db: hedgerow.Database) -> None:
    text = "".join(f"{i} {i + 1}\n" for i in range(100_000))
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(text.encode()))
    plain = _file(tmp_path, "b.txt", text)
    told: list[tuple[int, int]] = []
    db.load([tmp_path / "a.txt.gz", plain], progress=lambda done, total: told.append((done, total)))
    total = 2 * sum(path.stat().st_size for path in (tmp_path / "a.txt.gz", plain))
    assert told[-1] == (total, total)
    assert [done for done, _ in told] == sorted(done for done, _ in told)
    # An export counts rows.
    told.clear()
    for format in ("csv", "parquet"):
        exported = db.snapshot().export(tmp_path / format, format=format, progress=lambda *at: told.append(at))  # type: ignore[arg-type]
        rows = exported.vertices + exported.edges
        assert told[-1] == (rows, rows)


def test_an_exception_of_progress_ends_the_load(tmp_path: Path, db: hedgerow.Database) -> None:
    text = "".join(f"{i} {i + 1}\n" for i in range(300_000))
    file = _file(tmp_path, "a.txt", text)

    def impatient(done: int, total: int) -> None:
        raise TimeoutError

    with pytest.raises(TimeoutError):
        db.load(file, batch=1, progress=impatient)
    # It ended in the first reading.
    assert db.snapshot().edge_count == 0
    db.load(file)
    with pytest.raises(TimeoutError):
        db.snapshot().export(tmp_path / "out", format="csv", progress=impatient)
    assert not (tmp_path / "out").exists()


def test_ctrl_c_ends_a_load(tmp_path: Path) -> None:
    text = "".join(f"{i} {i + 1}\n" for i in range(200_000))
    file = _file(tmp_path, "a.txt", text)
    code = f"""
import os, signal, threading, hedgerow
signal.signal(signal.SIGINT, signal.default_int_handler)
db = hedgerow.open()
timer = threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT))
timer.start()
try:
    db.load({str(file)!r}, batch=1)
    print("loaded")
except KeyboardInterrupt:
    print("interrupted", db.snapshot().edge_count < 200_000)
"""
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "interrupted True\n", ran


def test_one_thread_suffices(tmp_path: Path) -> None:
    file = _file(tmp_path, "a.txt", "".join(f"{i} {i * 7 % 1000}\n" for i in range(50_000)))
    code = f"import hedgerow; db = hedgerow.open({str(tmp_path / 'store')!r}); print(db.load({str(file)!r}, batch=1000).rows)"
    environment = {**os.environ, "RAYON_NUM_THREADS": "1"}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert ran.stdout == "50000\n", ran


def test_other_threads_read_meanwhile(tmp_path: Path, db: hedgerow.Database) -> None:
    file = _file(tmp_path, "a.txt", "".join(f"{i} {i + 1}\n" for i in range(50_000)))
    work = threading.Thread(target=lambda: db.load(file))
    work.start()
    while work.is_alive():
        db.snapshot().vertex_count  # noqa: B018
    work.join()
    assert db.snapshot().edge_count == 50_000


@pytest.mark.parametrize(
    ("text", "arguments", "error", "message", "line"),
    [
        ("1,2\n2,x\n", {}, hedgerow.DataError, ':2: vertex id "x" is not a number', 2),
        ("1,2\n", {"label": "a", "label_column": 3}, hedgerow.DataError, "label_column=: not with label=", None),
        ("1,2\n", {"from_": "a"}, hedgerow.DataError, "from_=: needs to=", None),
        ("1,2\n", {"weighted": True}, hedgerow.DataError, "weighted=True: edges of this store have none", None),
        ("1 2 3\n", {"format": "wel"}, hedgerow.DataError, "its edges have weights, and edges of this store have none", None),
        ("1,2\n", {"format": "x"}, hedgerow.DataError, "format must be one of", None),
        ("1,2\n", {"src_col": 0}, hedgerow.DataError, "columns count from 1", None),
        ("1,2\n", {"src_col": 1.5}, TypeError, "a column is a position", None),
        ("1,2\n", {"property": "x"}, hedgerow.DataError, "property: \"x\" has no type", None),
        ("1,2\n", {"kind": "k"}, hedgerow.DataError, "kind=: nothing uses this kind; give a file of vertices by vertices= or format=\"vertices\"", None),
        ("1,2\n", {"batch": 0}, hedgerow.DataError, "batch must be 1", None),
        ("1,2\n", {"label": "l", "from_": "k", "to": "k"}, hedgerow.ProgrammingError, "from_=: ", None),
    ],
)
def test_faults_name_file_line_and_parameter(
    tmp_path: Path, db: hedgerow.Database, text: str, arguments: dict[str, Any], error: type[Exception], message: str, line: int | None
) -> None:
    file = _file(tmp_path, "a.csv", text)
    with pytest.raises(error) as raised:
        db.load(file, **arguments)
    assert message in str(raised.value)
    assert getattr(raised.value, "line", None) == line
    if line is not None:
        assert raised.value.file == str(file)  # type: ignore[attr-defined]
    assert db.snapshot().vertex_count == 0


def test_malformed_rows_may_be_left_out(tmp_path: Path, db: hedgerow.Database) -> None:
    file = _file(tmp_path, "a.csv", "1,2\n2,x\n3,y\n")
    loaded = db.load(file, on_error="collect")
    assert (loaded.rows, loaded.rejected) == (1, 2)
    assert [(name, line) for name, line, _ in loaded.rejects] == [(str(file), 2), (str(file), 3)]
    assert "rejects" not in repr(loaded) and "rejected=2" in repr(loaded)


def test_files_that_cannot_be_read_are_operational(tmp_path: Path, db: hedgerow.Database) -> None:
    with pytest.raises(hedgerow.OperationalError, match="nowhere.csv: No such file"):
        db.load(tmp_path / "nowhere.csv")
    with pytest.raises(hedgerow.DataError, match="- is standard input"):
        db.load("-")
    with pytest.raises(hedgerow.DataError, match="no file to load"):
        db.load([])
    with hedgerow.open(tmp_path / "store", keys="str") as other, pytest.raises(hedgerow.DataError, match="keys"):
        db.add_edges([1], [2])
        db.snapshot().export(tmp_path / "out")
        other.load(tmp_path / "out")
    with pytest.raises(hedgerow.ClosedError):
        other.load(tmp_path / "a.csv")
