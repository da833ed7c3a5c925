"""Kernels tell how far they are, and what a callback raises ends them."""

import threading

import pytest

import hedgerow


@pytest.fixture
def g() -> hedgerow.Snapshot:
    db = hedgerow.open()
    db.add_edges(range(500), [(v * 7 + 1) % 500 for v in range(500)])
    return db.snapshot()


def test_steps_grow_and_all_are_done_at_the_end(g: hedgerow.Snapshot) -> None:
    told: list[tuple[int, int]] = []
    # So many iterations take longer than the time between two calls.
    g.run("pagerank", iterations=50_000, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (50_000, 50_000)
    steps = [done for done, _ in told]
    assert steps == sorted(steps)
    assert {total for _, total in told} <= {0, 50_000}


def test_a_search_counts_the_vertices_that_it_reaches(g: hedgerow.Snapshot) -> None:
    told: list[tuple[int, int]] = []
    g.run("bfs", source=0, progress=lambda done, total: told.append((done, total)))
    done, total = told[-1]
    assert total == 500
    assert 0 < done <= total


def test_an_exception_of_the_callback_ends_the_kernel(g: hedgerow.Snapshot) -> None:
    def impatient(done: int, total: int) -> None:
        raise TimeoutError(f"{done} of {total}")

    # Would take days.
    with pytest.raises(TimeoutError):
        g.run("pagerank", iterations=2**32 - 1, progress=impatient)
    assert g.run("pagerank", iterations=2).values.sum() > 0.99


def test_other_threads_are_told_too(g: hedgerow.Snapshot) -> None:
    told: list[threading.Thread] = []
    work = threading.Thread(target=lambda: g.run("wcc", progress=lambda *_: told.append(threading.current_thread())))
    work.start()
    work.join()
    assert set(told) == {work}


def test_what_cannot_be_called_is_refused(g: hedgerow.Snapshot) -> None:
    with pytest.raises(TypeError):
        g.run("wcc", progress=1)  # type: ignore[arg-type]
