"""What several test files need besides fixtures."""

import os
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard

ROOT = Path(__file__).resolve().parents[2]

# Seconds. Who waits longer waits for something that does not come. What comes at all comes within a second or two; beside
# programs that take every processor it may take tens of times as long. Only a test that fails takes it.
FOR_EVER = 180.0


def wait_until(what: str, reached: Callable[[], bool]) -> None:
    """Waits until `reached` says so."""
    deadline = time.monotonic() + FOR_EVER
    while not reached():
        assert time.monotonic() < deadline, f"{what} does not come"
        time.sleep(0.001)


def data(name: str) -> Path:
    """A path in the folder of data sets, which HEDGEROW_DATA names.

    Skips the test if it is absent, unless HEDGEROW_REQUIRE_DATA=1 asks for a failure.
    """
    folder = Path(os.environ.get("HEDGEROW_DATA") or ROOT / "../shared/data")
    path = folder / name
    if not path.exists():
        message = f"{name} is not in {folder}; HEDGEROW_DATA names the folder of data sets"
        if os.environ.get("HEDGEROW_REQUIRE_DATA") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return path


def text(path: Path) -> str:
    """A text file, which may be compressed."""
    content = path.read_bytes()
    if path.suffix == ".zst":
        content = zstandard.ZstdDecompressor().stream_reader(content).read()
    return content.decode()


def lines(path: Path) -> list[list[str]]:
    """The fields of every line of a text file, which may be compressed."""
    return [line.split() for line in text(path).splitlines() if line and not line.startswith("#")]


def in_child(body: Callable[[], None]) -> int:
    """Runs `body` in a forked child and returns its exit status; 0 if nothing was raised."""
    with warnings.catch_warnings():
        # Later Pythons warn of a fork beside other threads; that is what is tested here.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        try:
            body()
            os._exit(0)
        except BaseException:
            traceback.print_exc()
            os._exit(1)
    deadline = time.monotonic() + FOR_EVER
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    raise AssertionError("the child hangs")
