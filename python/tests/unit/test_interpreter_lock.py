"""Closing and destroying objects on a slow disk: other Python threads run meanwhile."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from support import FOR_EVER

# Makes every sync wait until another thread has run, for what is loaded after it. So slow a disk is, whatever else runs on the machine.
SLOW_SYNCS = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <unistd.h>
/* Whether syncs wait, how often the other thread has run, how many syncs have waited, and whether one of them did in vain. */
volatile int slow_armed, slow_beats, slow_syncs, slow_stuck;
static int slowly(const char *name, int fd) {
    int before = slow_beats, looks = 0;
    if (slow_armed) {
        __atomic_add_fetch(&slow_syncs, 1, __ATOMIC_SEQ_CST);
        /* For a minute at least: a thread that may run does so five times. */
        while (slow_beats - before < 5 && !slow_stuck) {
            usleep(1000);
            if (++looks == 60000)
                slow_stuck = 1;
        }
    }
    return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}
int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
"""

# Prints how many syncs waited for another thread, and whether one did in vain.
PROGRAM = """
import ctypes, gc, os, sys, threading, time
import hedgerow

slow = ctypes.CDLL(os.environ["LD_PRELOAD"])
armed, beats, syncs, stuck = (ctypes.c_int.in_dll(slow, f"slow_{name}") for name in ("armed", "beats", "syncs", "stuck"))
db = hedgerow.open(sys.argv[1], durability="manual")
pipeline = db.pipeline()
for i in range(100):
    db.insert_edge(i, i + 1)
pipeline.insert_edge(5, 9)
g = db.snapshot()
tx = db.write()
tx.put_edge(1, 7)

def beat():
    while True:
        time.sleep(0.002)
        beats.value += 1

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
armed.value = 1
{"close": close, "drop": drop, "collect": collect}[sys.argv[2]]()
print(syncs.value, stuck.value, flush=True)
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
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=FOR_EVER, check=True)
    syncs, stuck = map(int, ended.stdout.split())
    assert syncs > 0, "no sync was slow: the test shows nothing"
    assert not stuck, "no other thread ran while one waited for the disk"
