"""Signals in all calls: SIGINT at a random moment of every public call, and destructors that call the store while the interpreter ends.

No call may panic, abort, lose the interrupt or lose what it acknowledged. Processes of `signals.py` make the calls: one
process takes all interrupts, and one forks all children that end.
"""

import collections
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Self

from effort import explored, extent, rounds
from support import FOR_EVER

INTERRUPTS, DEEP_INTERRUPTS = 60, 2_000
EXITS, DEEP_EXITS = 20, 500
SIGNALS = Path(__file__).parents[1] / "signals.py"


class Process:
    """The process that is interrupted."""

    def __init__(self, folder: Path, seed: int) -> None:
        paths = os.pathsep.join([str(SIGNALS.parent), str(Path(__file__).parent)])
        command = [sys.executable, "-W", "ignore", str(SIGNALS), "interrupts", str(folder), str(seed)]
        self.folder = folder
        with (folder / "stderr").open("w") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=os.environ | {"PYTHONPATH": paths}, text=True
            )
        self.calls = int(self.line())

    def line(self) -> str:
        assert self.process.stdout is not None
        line = self.process.stdout.readline().strip()
        assert line, f"the process ended: {self.process.wait(FOR_EVER)}\n{self.errors()}"
        return line

    def errors(self) -> str:
        return (self.folder / "stderr").read_text()[-3000:]

    def say(self, text: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(text)
        self.process.stdin.flush()

    def interrupt(self, call: int, after: float) -> list[str]:
        """Interrupts a call after some seconds. Returns its name and its outcome."""
        self.say(f"{call}\n")
        assert self.line() == "ready"
        time.sleep(after)
        self.process.send_signal(signal.SIGINT)
        self.say("x")
        return self.line().split("\t")

    def end(self) -> list[str]:
        self.say("end\n")
        said = self.line().split("\t")
        assert self.process.wait(FOR_EVER) == 0
        return said

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        with self.process:
            pass


def test_interrupts_of_every_call(tmp_path: Path) -> None:
    floor = extent(INTERRUPTS, DEEP_INTERRUPTS)
    seed = next(rounds(1))
    rng = random.Random(seed)
    wrong, count, called = [], 0, set()
    with Process(tmp_path, seed) as process:
        order = list(range(process.calls))
        rng.shuffle(order)
        for at in rounds(floor):
            said = process.interrupt(order[at % len(order)], rng.random() ** 2 * 0.006)
            called.add(said[0])
            count += 1
            if said[1:] != ["interrupted"]:
                wrong.append((at, said))
        # Negative control: the test notices a call that loses the interrupt.
        assert process.interrupt(-1, 0.001)[1] == "swallowed"
        assert process.end()[0] == "end"
    assert wrong == []
    assert "panicked" not in process.errors() and "PanicException" not in process.errors()
    explored("interrupts of public calls", count, floor)
    explored("public calls interrupted", len(called), min(floor, process.calls))


def test_destructors_at_exit() -> None:
    floor = extent(EXITS, DEEP_EXITS)
    seed = next(rounds(1))
    paths = os.pathsep.join([str(SIGNALS.parent), str(Path(__file__).parent)])
    command = [sys.executable, "-W", "ignore", str(SIGNALS), "exits", str(floor), str(seed)]
    done = subprocess.run(
        command, capture_output=True, env=os.environ | {"PYTHONPATH": paths}, text=True, timeout=FOR_EVER * 10, check=False
    )
    counts = collections.Counter(done.stdout.splitlines())
    assert counts == {"ended 0": floor, "collected": floor}, done.stderr[-3000:]
    assert done.returncode == 0 and "panicked" not in done.stderr and "PanicException" not in done.stderr
    explored("interpreters that end with destructors", counts["collected"], floor)
