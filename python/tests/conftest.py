"""Fixtures that several test files use."""

from collections.abc import Iterator
from pathlib import Path

import effort
import pytest

import hedgerow


@pytest.fixture
def db() -> Iterator[hedgerow.Database]:
    """A directed graph with u64 ids, without files."""
    with hedgerow.open() as database:
        yield database


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """A directory that does not exist yet."""
    return tmp_path / "store"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what the exploring tests explored, past the capture of pytest."""
    for line in effort.LINES:
        terminalreporter.write_line(line)
