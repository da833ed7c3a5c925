"""Closing and destroying objects on a slow disk: other Python threads run meanwhile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# Makes every sync take long, for what is loaded after it.
SLOW_SYNCS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
static int slowly(const char *name, int fd) {
    usleep(100 * 1000);
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}
int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
"""

# Prints for how long the action took, and the longest time for which another thread did not run.
PROGRAM = """
import gc, os, sys, threading, time
import hedgerow

db = hedgerow.open(sys.argv[1], durability="manual")
pipeline = db.pipeline()
for i in range(100):
    db.insert_edge(i, i + 1)
pipeline.insert_edge(5, 9)
g = db.snapshot()
tx = db.write()
tx.put_edge(1, 7)
longest = 0.0

def beat():
    global longest
    last = time.perf_counter()
    while True:
        time.sleep(0.002)
        now = time.perf_counter()
        longest, last = max(longest, now - last), now

def close():
    pipeline.close(), g.close(), tx.rollback(), db.close()

def drop():
    global pipeline, g, tx, db
    del pipeline, g, tx, db

def collect():
    global pipeline, g, tx, db
    cycle = [pipeline, g, tx, db]
    cycle.append(cycle)
    del pipeline, g, tx, db, cycle
    gc.collect()

threading.Thread(target=beat, daemon=True).start()
time.sleep(0.05)
before = time.perf_counter()
{"close": close, "drop": drop, "collect": collect}[sys.argv[2]]()
print(time.perf_counter() - before, longest, flush=True)
os._exit(0)
"""


@pytest.fixture(scope="module")
def slow_disk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A library to load first."""
    compiler = shutil.which("cc")
    if compiler is None or not sys.platform.startswith("linux"):
        pytest.skip("needs a C compiler named cc, and Linux")
    folder = tmp_path_factory.mktemp("slow")
    (folder / "slow.c").write_text(SLOW_SYNCS)
    subprocess.run([compiler, "-shared", "-fPIC", "-o", folder / "slow.so", folder / "slow.c", "-ldl"], check=True)
    return folder / "slow.so"


@pytest.mark.parametrize("action", ["close", "drop", "collect"])
def test_other_threads_run(slow_disk: Path, store: Path, action: str) -> None:
    command = [sys.executable, "-I", "-c", PROGRAM, str(store), action]
    environment = os.environ | {"LD_PRELOAD": str(slow_disk)}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    took, longest = map(float, ended.stdout.split())
    assert took > 0.1, "no sync was slow: the test shows nothing"
    assert longest < took / 2
