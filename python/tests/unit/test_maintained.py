"""Answers that are kept while the graph changes equal those from scratch."""

import random

import hedgerow
import pytest


def change(db, rng, edges):
    with db.write() as tx:
        for _ in range(rng.choice([1, 5, 40])):
            edge = (rng.randrange(120), rng.randrange(120))
            if edge in edges and rng.random() < 0.6:
                tx.remove_edge(*edge)
                edges.discard(edge)
            else:
                tx.put_edge(*edge)
                edges.add(edge)


def partition(result):
    groups = {}
    for vertex, name in result.to_dict().items():
        groups.setdefault(name, set()).add(vertex)
    return sorted(map(sorted, groups.values()))


@pytest.mark.parametrize("directed", [True, False])
def test_kept_answers_are_those_from_scratch(directed):
    db, rng, edges = hedgerow.open(directed=directed), random.Random(7), set()
    kept = {name: db.maintain(name) for name in ("wcc", "tc", "pagerank", "degrees")}
    change(db, rng, edges)
    for _ in range(40):
        change(db, rng, edges)
        with db.snapshot() as g:
            answers = {name: answer.at(g) for name, answer in kept.items()}
            assert partition(answers["wcc"]) == partition(g.wcc())
            assert answers["tc"] == g.triangle_count()
            fresh = g.pagerank(tolerance=1e-6, iterations=200).to_dict()
            assert sum(abs(answers["pagerank"][v] - score) for v, score in fresh.items()) < 2e-6 / 0.15
            for direction in ("out", "in"):
                degrees = answers["degrees"][direction].to_dict()
                assert all(degrees[v] == g.degree(v, direction) for v in degrees)
    assert kept["wcc"].made.startswith("from ") and "changes" in kept["tc"].made


def test_a_kept_answer_says_how_it_was_come_by():
    db = hedgerow.open()
    db.add_edges([1, 2], [2, 3])
    kept = db.maintain("wcc")
    assert kept.name == "wcc" and kept.made is None
    with db.snapshot() as early:
        kept.at(early)
        assert kept.made == "from scratch: the first one"
        db.insert_edge(3, 4)
        with db.snapshot() as late:
            kept.at(late)
            assert kept.made == "from 1 changes"
        kept.at(early)
        assert "not later" in kept.made
    with hedgerow.open().snapshot() as other:
        kept.at(other)
        assert "not later" in kept.made
    kept.release()
    with db.snapshot() as g:
        kept.at(g)
    assert kept.made == "from scratch: the first one"


def test_what_cannot_be_kept_is_refused():
    db = hedgerow.open()
    with pytest.raises(hedgerow.DataError, match="bfs"):
        db.maintain("bfs")
    kept, snapshot = db.maintain("tc"), db.snapshot()
    snapshot.close()
    with pytest.raises(hedgerow.ClosedError):
        kept.at(snapshot)
    db.close()
    with pytest.raises(hedgerow.ClosedError):
        db.maintain("tc")


def test_kept_answers_over_a_label_are_those_of_its_edges():
    db, rng = hedgerow.open(directed=True), random.Random(3)
    db.define_label("calls", multi=True)
    kept = {name: db.maintain(name, label="calls") for name in ("wcc", "tc", "pagerank", "degrees")}
    assert kept["wcc"].label == "calls" and db.maintain("wcc").label is None
    for _ in range(30):
        with db.write() as tx:
            for _ in range(rng.choice([1, 5, 40])):
                edge = (rng.randrange(60), rng.randrange(60))
                if rng.random() < 0.3:
                    tx.remove_edge(*edge, label="calls", rank=rng.randrange(3))
                else:
                    tx.put_edge(*edge, label="calls", rank=rng.randrange(3))
                tx.put_edge(rng.randrange(60), rng.randrange(60))
        with db.snapshot() as g:
            answers = {name: answer.at(g) for name, answer in kept.items()}
            assert partition(answers["wcc"]) == partition(g.wcc(label="calls"))
            assert answers["tc"] == g.triangle_count(label="calls")
            fresh = g.pagerank(tolerance=1e-6, iterations=200, label="calls").to_dict()
            assert sum(abs(answers["pagerank"][v] - score) for v, score in fresh.items()) < 2e-6 / 0.15
            degrees = answers["degrees"]["out"].to_dict()
            assert all(degrees[v] == g.degree(v, label="calls") for v in degrees)
    assert "changes" in kept["wcc"].made


def test_a_label_that_is_not_defined_is_refused():
    with pytest.raises(hedgerow.ProgrammingError, match="calls"):
        hedgerow.open().maintain("wcc", label="calls")
