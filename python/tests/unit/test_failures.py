"""What fails outside the program: the log, memory. In child processes, whose limits the system enforces."""

import resource
from pathlib import Path

import pytest
from support import in_child

import hedgerow


def limit(what: int, soft: int) -> None:
    resource.setrlimit(what, (soft, resource.getrlimit(what)[1]))


def test_the_log_fails(store: Path) -> None:
    def body() -> None:
        db = hedgerow.open(store)
        db.insert_edge(0, 1)
        g = db.snapshot()
        # No file may grow beyond this: the log reaches it soon.
        limit(resource.RLIMIT_FSIZE, 4096)
        acknowledged = 1
        with pytest.raises(hedgerow.OutcomeUnknownError, match="reopen"):
            for at in range(1, 1000):
                db.insert_edge(at, at + 1)
                acknowledged = at + 1
        # From here on the store refuses writes; what was read stays readable.
        for call in (lambda: db.insert_edge(1, 2), db.write, db.flush, db.checkpoint, lambda: db.add_edges([1], [2])):
            with pytest.raises(hedgerow.PoisonedError):
                call()
        assert g.neighbors(0) == [1]
        with pytest.raises(hedgerow.PoisonedError):
            db.close()
        limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)
        with hedgerow.open(store) as db:
            assert db.snapshot().edge_count in (acknowledged, acknowledged + 1)
            assert db.insert_edge(5000, 1)

    assert in_child(body) == 0


def test_a_store_that_cannot_be_created(store: Path) -> None:
    def body() -> None:
        limit(resource.RLIMIT_FSIZE, 1024)
        with pytest.raises(hedgerow.OperationalError, match="log"):
            hedgerow.open(store)
        limit(resource.RLIMIT_FSIZE, resource.RLIM_INFINITY)
        hedgerow.open(store).close()

    assert in_child(body) == 0


def test_too_little_memory_for_an_answer() -> None:
    def body() -> None:
        # Dense ids need room for every id below the largest.
        db = hedgerow.open(keys="dense", directed=False)
        db.insert_edge(0, 40_000_000)
        g = db.snapshot()
        assert g.vertices().tolist() == [0, 40_000_000]
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        limit(resource.RLIMIT_AS, used + (128 << 20))
        for call in (lambda: g.bfs(0), lambda: g.sssp(0), g.triangle_count, g.pagerank, g.wcc, g.edges):
            with pytest.raises(hedgerow.OutOfMemoryError):
                call()
        assert g.neighbors(0) == [40_000_000]

    if not Path("/proc/self/statm").exists():
        pytest.skip("the memory in use cannot be read here")
    assert in_child(body) == 0
