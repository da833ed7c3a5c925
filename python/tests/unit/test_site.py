"""The check that pages of the site load nothing from elsewhere."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

spec = importlib.util.spec_from_file_location("remote", Path(__file__).parents[3] / "site/remote.py")
assert spec is not None and spec.loader is not None
remote = importlib.util.module_from_spec(spec)
spec.loader.exec_module(remote)


@pytest.mark.parametrize(
    "html",
    [
        '<script src="https://example.org/a.js"></script>',
        '<link rel="stylesheet" href="//example.org/a.css">',
        '<link rel="preconnect" href="https://example.org">',
        '<img src="a.png" srcset="http://example.org/a.png 2x">',
        '<p style="background: url(https://example.org/a.png)">',
    ],
)
def test_loads_are_found(tmp_path: Path, html: str) -> None:
    (tmp_path / "page.html").write_text(html)
    assert len(remote.resources(tmp_path)) == 1


def test_loads_of_style_sheets_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.css").write_text('@import "https://example.org/b.css"; p { background: url(b.png) }')
    assert len(remote.resources(tmp_path)) == 1


def test_links_that_a_reader_clicks_are_no_loads(tmp_path: Path) -> None:
    page = '<link rel="canonical" href="https://example.org"><a href="https://example.org">there</a><img src="a.png">'
    (tmp_path / "page.html").write_text(page)
    assert remote.resources(tmp_path) == []
