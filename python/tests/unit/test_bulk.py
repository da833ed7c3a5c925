"""add_edges: what it takes, and what it refuses before anything is written."""

import signal
import threading

import numpy as np
import pytest
from support import wait_until

import hedgerow

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", ">i4", ">u8"]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_integer_arrays(db: hedgerow.Database, dtype: str) -> None:
    src, dst = np.array([1, 1, 2], dtype), np.array([2, 3, 3], dtype)
    assert db.add_edges(src, dst) == 3
    with db.write() as tx:
        assert tx.add_edges(dst, src) == 3
        assert tx.has_edge(3, 2)
    g = db.snapshot()
    assert (g.vertex_count, g.edge_count) == (3, 6)
    assert g.neighbors(1) == [2, 3]


def test_arrays_of_any_layout(db: hedgerow.Database) -> None:
    both = np.arange(20, dtype=np.uint64).reshape(10, 2)
    assert db.add_edges(both[:, 0], both[:, 1]) == 10
    assert db.add_edges(both[::-2, 1], both[::-2, 0]) == 5
    frozen = np.array([100, 101])
    frozen.setflags(write=False)
    assert db.add_edges(frozen, frozen) == 2
    unaligned = np.frombuffer(b"x" + np.array([7, 8], np.uint64).tobytes(), np.uint8)[1:].view(np.uint64)
    assert db.add_edges(unaligned, unaligned) == 2
    assert db.snapshot().has_edge(8, 8)
    assert db.check().ok


def test_sequences(db: hedgerow.Database) -> None:
    assert db.add_edges([1, 2], (3, 4)) == 2
    assert db.add_edges(range(10, 20), range(20, 30)) == 10
    assert db.add_edges([2**64 - 1, 5], [0, 2**63]) == 2
    assert db.add_edges(np.array([1, 2**64 - 1], object), [0, 1]) == 2
    assert db.add_edges([], []) == 0
    assert db.add_edges(np.array([], np.int32), []) == 0
    g = db.snapshot()
    assert g.edge_count == 16
    assert g.has_edge(5, 2**63)


def test_texts() -> None:
    with hedgerow.open(keys="str") as db:
        assert db.add_edges(["a", "b"], ("b", "c")) == 2
        assert db.add_edges(np.array(["c", "dd"]), np.array(["dd", "a"], object)) == 2
        assert db.snapshot().bfs("a").to_dict() == {"a": 0, "b": 1, "c": 2, "dd": 3}
        for src, message in [
            (["a", 1], r"src\[1\] must be a str, found int"),
            (["a", None], r"src\[1\]"),
            (["a", "\ud800"], r"src\[1\]: .*surrogates"),
            (["a", "a" * 65537], r"src\[1\]: .*65537"),
            (np.array([1, 2]), r"src\[0\]"),
            ("ab", "found one str"),
            (b"ab", "found one bytes"),
            (7, "sequence"),
        ]:
            with pytest.raises(hedgerow.DataError, match=message):
                db.add_edges(src, ["x", "y"])
        assert db.snapshot().vertex_count == 4


@pytest.mark.parametrize(
    ("src", "message"),
    [
        (np.array([5, -7]), r"src\[1\] is -7"),
        ([5, -(2**70)], r"src\[1\]: "),
        (np.array([1.0, 2.0]), "float64"),
        (np.array([True, False]), "bool"),
        ([True, False], r"src\[0\] is a bool: ids are ints"),
        (np.array([1, True], object), r"src\[1\] is a bool"),
        ([1, 2.5], r"src\[1\]: .*found float"),
        (["a", "b"], r"src\[0\] is .a.: ids are ints"),
        (np.array([1, None], object), r"src\[1\]"),
        (np.array([[1, 2]]), "one dimension, found 2"),
        (np.array(5), "one dimension, found 0"),
        ([[1], [2, 3]], r"src\[0\]: .* found list"),
        (np.array([1, 2, 3]), "src has 3 elements and dst has 2"),
        (np.array([1]), "src has 1 elements and dst has 2"),
        (None, "one dimension"),
        (np.array(["2020-01-01", "2020-01-02"], "datetime64[D]"), "datetime64"),
    ],
)
def test_refused(db: hedgerow.Database, src: object, message: str) -> None:
    with db.write() as tx:
        tx.put_edge(50, 51)
        for add in (db.add_edges, tx.add_edges):
            with pytest.raises(hedgerow.DataError, match=message):
                add(src, [1, 2])
    assert db.snapshot().edges().src.tolist() == [50]


def test_dense_ids_out_of_range() -> None:
    with hedgerow.open(keys="dense") as db:
        with pytest.raises(hedgerow.DataError, match=r"dst\[1\]: vertex id 4294967295 is out of range"):
            db.add_edges([0, 1], [1, 2**32 - 1])
        assert db.snapshot().vertex_count == 0


def test_weights() -> None:
    with hedgerow.open(weighted=True) as db:
        db.add_edges([1, 2], [2, 3], [0.5, 1.5])
        db.add_edges([1], [2], np.array([7], np.int16))
        db.add_edges([3], [4])
        src, dst, weights = db.snapshot().edges()
        assert weights is not None
        rows = sorted(zip(src.tolist(), dst.tolist(), weights.tolist()))
        assert rows == [(1, 2, 7.0), (2, 3, 1.5), (3, 4, 1.0)]
        for bad, message in [
            ([0.5, float("nan")], r"weights\[1\] is NaN"),
            ([0.5], "1 elements for 2 edges"),
            (["a", "b"], "must hold numbers"),
            ([None, 1.0], "must hold numbers"),
            ([[1.0], [2.0]], r"weights\[0\].* must hold numbers, found list"),
            (np.zeros((2, 2)), "one dimension"),
            (7, "one dimension"),
        ]:
            with pytest.raises(hedgerow.DataError, match=message):
                db.add_edges([8, 9], [9, 8], bad)
        assert db.snapshot().edge_count == 3


def test_no_weights(db: hedgerow.Database) -> None:
    with pytest.raises(hedgerow.NotSupportedError, match="no weights"):
        db.add_edges([1], [2], [1.0])


def test_batches(db: hedgerow.Database) -> None:
    assert db.add_edges(range(10), range(1, 11), batch=3) == 10
    assert db.published_ts == 4
    for bad in (0, -1, 2**40):
        with pytest.raises(hedgerow.DataError, match="batch"):
            db.add_edges([1], [2], batch=bad)
    with pytest.raises(TypeError):
        db.add_edges([1], [2], batch="many")


def test_interrupted_between_batches(db: hedgerow.Database) -> None:
    ids = np.arange(3_000_000)

    def interrupt() -> None:
        # Once a batch is there. 2,999 others take seconds, in which this thread gets a processor too.
        wait_until("a batch", lambda: db.published_ts > 0)
        signal.raise_signal(signal.SIGINT)

    other = threading.Thread(target=interrupt)
    # A process that a shell started in the background ignores the signal, and the interpreter leaves it so.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            other.start()
            db.add_edges(ids, ids + 1, batch=1000)
        other.join()
    finally:
        signal.signal(signal.SIGINT, before)
    # It did not run to its end, whole batches are there, and the store goes on.
    with db.snapshot() as g:
        assert 0 < g.edge_count < len(ids)
        assert g.edge_count % 1000 == 0
    assert db.insert_edge(5_000_000, 1)
    assert db.check().ok


def test_repeated_rows_are_counted_whatever_form_ids_have() -> None:
    db = hedgerow.open(directed=False)
    db.define_kind("page", "str")
    db.define_label("links", src="page", dst="page")
    # One column holds ints, the other also a pair.
    assert db.add_edges([6, 8, 6], [8, 6, ("page", "bob")]).repeated == 1
    assert db.add_edges(["a", ("page", "b")], [("page", "b"), "a"], label="links").repeated == 1
    assert db.snapshot().edge_count == 3
