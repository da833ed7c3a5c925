"""The rounds of exploring tests: a fixed number in `make test`, more and other ones in the deep form."""

import os
import time
from collections.abc import Iterator

# The lines that `pytest_terminal_summary` in conftest.py prints, past the capture of pytest.
LINES: list[str] = []

_DEEP_SECONDS = os.environ.get("HEDGEROW_DEEP_SECONDS")
_ROUND = os.environ.get("HEDGEROW_ROUND")
# Runs with different seeds share no round.
_FIRST = 1_000_003 * int(os.environ.get("HEDGEROW_SEED", "1"))


def is_deep() -> bool:
    """True in the deep form."""
    return _DEEP_SECONDS is not None


def extent(usual: int, deep: int) -> int:
    """Returns the floor of a count: `usual` in `make test`, `deep` in the deep form."""
    return deep if is_deep() else usual


def rounds(least: int) -> Iterator[int]:
    """Yields the numbers of at least `least` rounds, and of more until the seconds of the deep form are over.

    With HEDGEROW_ROUND it yields only that round.
    """
    if _ROUND is not None:
        yield int(_ROUND)
        return
    deadline = time.monotonic() + float(_DEEP_SECONDS or 0)
    at = 0
    while at < least or time.monotonic() < deadline:
        yield _FIRST + at
        at += 1


def explored(what: str, count: int, floor: int) -> None:
    """Prints an `explored:` line at the end of the run, and fails below the floor."""
    floor = 0 if _ROUND is not None else floor
    LINES.append(f"explored: {what} {count} (floor {floor})")
    assert count >= floor, f"{what}: {count} is below the floor of {floor}"


def skipped(what: str, reason: str) -> None:
    """Prints a `skipped:` line at the end of the run."""
    LINES.append(f"skipped: {what} ({reason})")
