"""Ctrl-C that comes while a call reads its arguments in Python code ends the call, and becomes no other error."""

import _thread
import datetime
import signal
from collections.abc import Callable

import hedgerow
import pytest


class _Interrupted:
    """An argument whose Python code is interrupted, wherever it is asked."""

    def __index__(self) -> int:
        raise KeyboardInterrupt

    def __iter__(self) -> object:
        raise KeyboardInterrupt

    def __repr__(self) -> str:
        return "_Interrupted()"


class _Zone(datetime.tzinfo):
    """A time zone whose code is interrupted when it is asked for the second time."""

    def __init__(self) -> None:
        self.asked = 0

    def utcoffset(self, _time: datetime.datetime | None) -> datetime.timedelta:
        self.asked += 1
        if self.asked == 2:
            raise KeyboardInterrupt
        return datetime.timedelta(0)


@pytest.mark.parametrize("has_kinds", [False, True])
@pytest.mark.parametrize("keys", ["u64", "str"])
def test_ctrl_c_in_an_argument_ends_the_call(keys: str, has_kinds: bool) -> None:
    db = hedgerow.open(keys=keys)
    db.define_label("calls", multi=True)
    if has_kinds:
        db.define_kind("page")
    g, bad = db.snapshot(), _Interrupted()
    calls: list[Callable[[], object]] = [
        lambda: g.neighbors(bad),
        lambda: g.degree(bad),
        lambda: g.bfs(bad),
        lambda: g.run("path", source=bad, target=bad),
        lambda: g.run("ppr", sources=bad),
        lambda: g.k_hop(bad, 2),
        lambda: g.k_hop([bad], 2),
        lambda: g.edges(label=bad),
        lambda: g.neighbors_of([bad]),
        lambda: db.add_edges([bad], [bad]),
        lambda: db.add_edges(bad, bad),
        lambda: db.add_vertices([bad]),
        lambda: db.insert_edge(bad, bad),
    ]
    if has_kinds:
        calls.append(lambda: g.neighbors(("page", bad)))
    swallowed = []
    for number, call in enumerate(calls):
        try:
            call()
        except KeyboardInterrupt:
            continue
        except Exception as error:
            # A str is asked for before any code of the object runs.
            if not (keys == "str" and isinstance(error, TypeError | hedgerow.DataError)):
                swallowed.append((number, error))
        else:
            swallowed.append((number, None))
    assert swallowed == []


def test_ctrl_c_in_a_time_zone_ends_the_call() -> None:
    db = hedgerow.open()
    with db.write() as tx:
        with pytest.raises(KeyboardInterrupt):
            tx.put_edge(1, 2, label="at", at=datetime.datetime(2020, 1, 1, tzinfo=_Zone()))
        tx.rollback()


class _Signals:
    """An argument that every call refuses. Its conversion leaves a SIGINT pending, which Python handles when a message takes its text."""

    __index__ = staticmethod(_thread.interrupt_main)
    __iter__ = staticmethod(_thread.interrupt_main)


def test_ctrl_c_while_a_message_is_made_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    unraisable: list[object] = []
    monkeypatch.setattr("sys.unraisablehook", unraisable.append)
    # A shell that starts the tests in the background makes them ignore interrupts.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    db, bad, lost = hedgerow.open(), _Signals(), []
    db.define_label("calls", multi=True)
    g = db.snapshot()
    calls: list[Callable[[], object]] = [
        lambda: g.neighbors(bad),
        lambda: g.edges(label=bad),
        lambda: g.edges(rank_range=(bad, None)),
        lambda: g.run("ppr", sources=[bad]),
        lambda: db.insert_edge(1, 2, label="calls", rank=bad),
        lambda: db.add_edges([1], [2], label="calls", ranks=bad),
        lambda: db.add_edges([bad], [2]),
    ]
    try:
        for number, call in enumerate(calls):
            try:
                try:
                    call()
                except (TypeError, hedgerow.DataError):
                    pass
                for _ in range(10):
                    # Python runs the handler between rounds of a loop.
                    pass
                lost.append(number)
            except KeyboardInterrupt:
                pass
    finally:
        signal.signal(signal.SIGINT, before)
    assert (lost, unraisable) == ([], [])
