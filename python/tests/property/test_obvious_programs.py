"""The obvious program: random short programs with default arguments, compared with a plain model.

HEDGEROW_ROUND replays one program; HEDGEROW_PROGRAM names the command line that loads files.
"""

import os
from pathlib import Path

from effort import explored, extent, rounds, skipped
from obvious import Difference, Program
from support import ROOT, in_child

from hedgerow import _native

PROGRAMS, DEEP = 300, 20_000
# Every 15th program begins with a file that the command line loads.
LOADS = 15

# A forked child plants one of these faults, and runs programs until one finds it.
FAULTS = [
    "WeightsOfLabelsIgnored",
    "StatedKindIgnored",
    "OtherKindsKept",
    "EstimateNotReported",
    "ParallelEdgesMerged",
    "VerticesReplaced",
]


def loader() -> Path | None:
    """Returns the path of the command line if it was built."""
    path = Path(os.environ.get("HEDGEROW_PROGRAM") or ROOT / "target/debug/hedgerow")
    return path if path.exists() else None


def test_obvious_programs(tmp_path: Path) -> None:
    program, count, loads = loader(), 0, 0
    for seed in rounds(extent(PROGRAMS, DEEP)):
        loaded = program is not None and seed % LOADS == 0
        Program(seed, tmp_path, program if loaded else None).run()
        loads += loaded
        count += 1
    explored("obvious programs", count, extent(PROGRAMS, DEEP))
    if program is None:
        skipped("obvious programs that load a file", "the command line is not built")
        return
    explored("obvious programs that load a file", loads, extent(PROGRAMS, DEEP) // LOADS)


def assert_found(fault: str, folder: Path) -> None:
    """Plants a fault in this process, and runs programs until one differs."""
    _native._plant(fault)  # type: ignore[attr-defined]
    # In the deep form, too, these are the first programs of `make test`.
    for count, seed in enumerate(range(1_000_003, 1_000_003 + PROGRAMS), 1):
        try:
            Program(seed, folder, frames=False).run()
        except Difference as found:
            print(f"{fault}: found by program {count}: {str(found).splitlines()[0]}", flush=True)
            return
    raise AssertionError(f"{fault} is not found by {PROGRAMS} programs")


def test_planted_faults_are_found(tmp_path: Path) -> None:
    assert hasattr(_native, "_plant"), "build the package with the feature planted-faults, as make test does"
    missed = [fault for fault in FAULTS if in_child(lambda fault=fault: assert_found(fault, tmp_path)) != 0]
    assert missed == []
    explored("faults of defaults found by obvious programs", len(FAULTS), len(FAULTS))
