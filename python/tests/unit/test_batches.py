"""`contains_edges` and `k_hop`: what one call says of many edges, and of what is around vertices."""

from typing import Any

import numpy as np
import pytest

import hedgerow


def around(g: hedgerow.Snapshot, sources: list[Any], hops: int, **chosen: Any) -> dict[Any, int]:
    """The vertices within some hops, by lists read one by one."""
    distances = dict.fromkeys(sources, 0)
    level = list(distances)
    for hop in range(1, hops + 1):
        found = {key for source in level for key in g.neighbors(source, **chosen)}
        level = [key for key in found if key not in distances]
        distances.update(dict.fromkeys(level, hop))
    return distances


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("keys", ["u64", "str"])
def test_each_edge_and_vertex_as_by_itself(directed: bool, keys: str) -> None:
    random = np.random.default_rng(5)
    db = hedgerow.open(directed=directed, keys=keys)
    ends = random.integers(0, 300, (2, 500))
    src, dst = (end.astype(str).astype(object) if keys == "str" else end for end in ends)
    db.add_edges(src[:400], dst[:400])
    db.add_edges(src[300:], dst[300:], label="knows")
    with db.snapshot() as g:
        for label in (None, "", "knows"):
            found = g.contains_edges(src, dst, label=label)
            assert found.dtype == np.bool_
            pairs = zip(src.tolist(), dst.tolist(), strict=True)
            assert found.tolist() == [g.has_edge(a, b, label=label) for a, b in pairs]
        sources = [src.tolist()[0], src.tolist()[1], src.tolist()[0]]
        for direction in ("out", "in", "both"):
            for chosen in ({}, {"label": "knows"}, {"label": ["", "knows"]}):
                near = g.k_hop(sources, 2, direction, **chosen)
                assert near.values.dtype == np.int64
                expected = around(g, sources, 2, direction=direction, **chosen)
                assert near.to_dict() == expected
                assert list(near) == sorted(near, key=lambda pair: (pair[1], pair[0]))


def test_unknown_vertices_and_other_mistakes() -> None:
    db = hedgerow.open()
    db.add_edges([1, 2, 3], [2, 3, 4])
    g = db.snapshot()
    assert g.contains_edges([1, 9, 1], [2, 2, 9]).tolist() == [True, False, False]
    assert g.contains_edges([], []).tolist() == []
    with pytest.raises(hedgerow.DataError, match="sources has 2 elements and destinations has 1"):
        g.contains_edges([1, 2], [3])
    with pytest.raises(hedgerow.ProgrammingError, match="no label none"):
        g.contains_edges([1], [2], label="none")
    with pytest.raises(hedgerow.IntegrityError, match=r"sources\[1\]: no vertex 9"):
        g.k_hop([1, 9], 1)
    assert g.k_hop([1, 9], 1, missing="empty").to_dict() == {1: 0, 2: 1}
    assert g.k_hop([], 3).to_dict() == {}
    assert g.k_hop([1], 0).to_dict() == {1: 0}
    assert g.k_hop([1], 2, limit=3).to_dict() == {1: 0, 2: 1, 3: 2}
    with pytest.raises(hedgerow.DataError, match="within 2 hops exceeds the limit of 2"):
        g.k_hop([1], 2, limit=2)
    with pytest.raises(hedgerow.DataError, match="hops must be 0 to"):
        g.k_hop([1], -1)
    g.close()
    with pytest.raises(hedgerow.ClosedError):
        g.k_hop([1], 1)


def test_kinds_and_filters() -> None:
    db = hedgerow.open()
    db.define_kind("page")
    db.define_label("links", src="page", dst="page")
    with db.write() as tx:
        for src, dst, year in ((1, 2, 2001), (2, 3, 2010), (3, 4, 2020)):
            tx.put_edge(src, dst, label="links", year=year)
    g = db.snapshot()
    assert g.contains_edges([1, 2], [2, 1], label="links").tolist() == [True, False]
    late = g.k_hop([2], 5, label="links", where=("year", ">", 2005))
    assert late.to_dict() == {("page", 2): 0, ("page", 3): 1, ("page", 4): 2}
    both = g.k_hop([2], 1, "both", kind="page")
    assert set(both.ids.tolist()) == {("page", 1), ("page", 2), ("page", 3)}
