"""The checkpoint that closing a store writes."""

import subprocess
import sys
from pathlib import Path

import hedgerow
import numpy as np
import pytest
from support import FOR_EVER

MANY = 200_000


def fill(store: Path, **options: object) -> hedgerow.Database:
    db = hedgerow.open(store, keys="dense", **options)
    n = np.arange(MANY)
    db.add_edges(n // 10, n * 7919 % 20_011)
    return db


def segments(store: Path) -> int:
    return len(list(store.glob("*.csr")))


def edges(store: Path) -> int:
    with hedgerow.open(store, read_only=True) as db:
        assert db.check().ok
        return db.snapshot().edge_count


def test_the_end_of_a_block_writes_a_checkpoint_where_it_pays(tmp_path: Path) -> None:
    with fill(tmp_path / "a"):
        pass
    assert (segments(tmp_path / "a"), edges(tmp_path / "a")) == (1, MANY)
    fill(tmp_path / "b").close()
    assert segments(tmp_path / "b") == 1
    with hedgerow.open(tmp_path / "few") as db:
        db.insert_edge(1, 2)
    assert segments(tmp_path / "few") == 0


def test_what_writes_none(tmp_path: Path) -> None:
    fill(tmp_path / "off", checkpoint_log_bytes=0).close()
    db = fill(tmp_path / "dropped")
    del db
    with pytest.raises(KeyboardInterrupt), fill(tmp_path / "interrupted"):
        raise KeyboardInterrupt
    exits = "import sys, pathlib; sys.path[:0] = sys.argv[1:3]; import test_closing as t; db = t.fill(pathlib.Path(sys.argv[3]))"
    here = Path(__file__).parent
    arguments = [str(here), str(here.parent), str(tmp_path / "exit")]
    subprocess.run([sys.executable, "-c", exits, *arguments], check=True, timeout=FOR_EVER)
    for name in ("off", "dropped", "interrupted", "exit"):
        assert (segments(tmp_path / name), edges(tmp_path / name)) == (0, MANY), name


def test_a_block_that_another_error_ends_is_closed_as_others(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="mine"), fill(tmp_path / "s"):
        raise ValueError("mine")
    assert segments(tmp_path / "s") == 1


INTERRUPTED = """
import os, pathlib, signal, sys, threading, time
sys.path[:0] = sys.argv[1:3]
import test_closing as t
import hedgerow

signal.signal(signal.SIGINT, signal.default_int_handler)
store = pathlib.Path(sys.argv[3])
db = t.fill(store)

def interrupt():
    # Interrupt as soon as the store is being closed, or has been closed.
    while not db.closed:
        time.sleep(0.0005)
    os.kill(os.getpid(), signal.SIGINT)

threading.Thread(target=interrupt, daemon=True).start()
try:
    db.close()
    time.sleep(60)
except KeyboardInterrupt:
    print("interrupted", db.closed, db.checkpoint_error, flush=True)
db.close()
# The directory is free, and holds everything.
assert t.edges(store) == t.MANY
with hedgerow.open(store) as db:
    db.insert_edge(1, 2)
"""


def test_ctrl_c_ends_the_checkpoint_and_not_the_closing(tmp_path: Path) -> None:
    here = Path(__file__).parent
    arguments = [str(here), str(here.parent), str(tmp_path / "s")]
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, *arguments], capture_output=True, text=True, timeout=FOR_EVER, check=False
    )
    assert (done.returncode, done.stdout) == (0, "interrupted True None\n"), done.stderr
