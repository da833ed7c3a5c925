"""The page with the options of the command line, as the program prints them itself.

Without the program there is no such page.
"""

from __future__ import annotations

import functools
import os
import re
import subprocess
import textwrap
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAM = Path(os.environ.get("HEDGEROW_PROGRAM") or ROOT / "target/debug/hedgerow")
PLACE = "reference/commands"
# Of lines in code blocks.
WIDTH = 84


@functools.cache
def pages() -> dict[str, str]:
    """The text of the page, by its place."""
    if not PROGRAM.is_file():
        return {}
    whole = _help()
    parts = [
        "# Options of the command line",
        "What the program prints with `--help`. The [guide](../guide/cli.md) shows the commands at work.",
        _block(whole),
    ]
    for name in _listed(whole):
        text = _help(name)
        parts += [f"## hedgerow {name}", _block(text)]
        # The kernels of `run` have pages of their own.
        for inner in _listed(text) if name != "run" else []:
            parts += [f"### hedgerow {name} {inner}", _block(_help(name, inner))]
    return {f"{PLACE}.md": "\n\n".join(parts) + "\n"}


def _listed(text: str) -> list[str]:
    """The commands that a help lists."""
    listed = text.partition("Commands:")[2].partition("\n\n")[0]
    names: list[str] = re.findall(r"^  ([a-z][a-z-]*)\s", listed, re.MULTILINE)
    return [name for name in names if name != "help"]


def _help(*command: str) -> str:
    environment = os.environ | {"NO_COLOR": "1"}
    return subprocess.run(
        [PROGRAM, *command, "--help"], check=True, capture_output=True, text=True, env=environment
    ).stdout


def _block(text: str) -> str:
    lines = [wrapped for line in text.rstrip().split("\n") for wrapped in _wrapped(line)]
    return "\n".join(["```text", *lines, "```"])


def _wrapped(line: str) -> list[str]:
    """The line in as many as fit a page, behind the column at which its words begin."""
    name = re.match(r"  [a-z_-]+  +", line)
    indent = len(name[0]) if name else len(line) - len(line.lstrip())
    return textwrap.wrap(line, WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False) or [""]
