use hedgerow_core::{Row, RowRef, Value};

use super::*;
use crate::op::{Attributes, LocalOp};

fn push(delta: &Delta, local: LocalVertex, op: EdgeOp, dst: VertexId, ts: Timestamp, weight: f64) {
    delta.push_all(Ops::plain(&[LocalOp { local, op, dst, weight }]), ts);
}

fn filled(weighted: bool) -> Delta {
    let delta = Delta::new(Timestamp(100), 40, weighted, &Arena::default());
    for i in 0..40u32 {
        let op = match i % 4 {
            0 | 3 => EdgeOp::Insert,
            1 => EdgeOp::Update,
            _ => EdgeOp::Remove,
        };
        push(
            &delta,
            LocalVertex((i % 5) as u8),
            op,
            VertexId(i % 7),
            Timestamp(101 + u64::from(i / 2)),
            f64::from(i),
        );
    }
    delta
}

#[test]
fn a_snapshot_sees_the_entries_up_to_its_timestamp() {
    let delta = filled(false);
    assert_eq!(delta.visible(Timestamp(50)), 0);
    for t in 100..130u64 {
        assert_eq!(delta.visible(Timestamp(t)), (((t - 100) * 2) as usize).min(40));
    }
    assert_eq!(delta.visible(Timestamp::INFINITY), 40);
}

#[test]
fn the_last_word_about_an_edge_wins() {
    let delta = filled(true);
    for n in 0..=40 {
        for local in 0..6u8 {
            for dst in 0..8u32 {
                let expected = delta
                    .entries(n)
                    .rfind(|e| e.local.0 == local && e.dst.0 == dst && e.op != EdgeOp::Vertex);
                let found = delta.last_edge(n, LocalVertex(local), VertexId(dst), |_| true);
                assert_eq!(found.map(|at| delta.entry(at)), expected);
            }
        }
    }
}

#[test]
fn the_note_knows_every_entry_and_few_others() {
    for (capacity, weighted) in [(4, false), (30, true), (250, false), (256, true)] {
        let delta = Delta::new(Timestamp(0), capacity, weighted, &Arena::default());
        let edge = |i: usize| (LocalVertex((i * 11 % 64) as u8), VertexId((i * 7919) as u32));
        let others =
            |delta: &Delta| (capacity..9000).filter(|&i| delta.may_mention(edge(i).0, edge(i).1)).count();
        assert_eq!(others(&delta), 0);
        for i in 0..capacity {
            push(&delta, edge(i).0, EdgeOp::Insert, edge(i).1, Timestamp(1 + i as u64), 1.0);
            assert!((0..=i).all(|i| delta.may_mention(edge(i).0, edge(i).1)), "{capacity}, {i}");
        }
        // About an eighth of the other edges pass when the log is full.
        assert!(others(&delta) < 9000 / 5, "{} of 9000, capacity {capacity}", others(&delta));
    }
    let none = Delta::new(Timestamp(0), 0, false, &Arena::default());
    assert!(!none.may_mention(LocalVertex(0), VertexId(0)));
}

#[test]
fn offsets_that_do_not_fit_are_refused() {
    let delta = Delta::new(Timestamp(5), 4, false, &Arena::default());
    assert!(delta.accepts(4, Timestamp(5 + u64::from(u32::MAX))));
    assert!(!delta.accepts(1, Timestamp(6 + u64::from(u32::MAX))));
    assert!(!delta.accepts(5, Timestamp(6)));
}

/// Each entry has its own properties and rank, whether or not the delta has places for the words of a
/// property.
#[test]
fn an_entry_has_what_it_came_with_in_a_place_of_its_own_or_outside() {
    let (amount, other) = ((PropertyId(3), PropertyType::I64), (PropertyId(4), PropertyType::I64));
    let text = Row::new([(PropertyId(5), Value::from("long"))]);
    let word = |(id, kind), word| RowRef::Word(id, kind, word);
    let rows = [word(amount, 7), RowRef::Empty, word(other, 8), text.as_ref().into(), word(amount, 0)];
    let given = |i: usize| match i % 7 {
        0 => Attributes::NONE,
        _ => Attributes { rank: i as u64 % 2, row: rows[i % rows.len()] },
    };
    for place in [Some(amount), None] {
        let new = || Delta::with_words(Timestamp(0), 140, false, place, &Arena::default());
        let (delta, carried) = (new(), new());
        for i in 0..130 {
            let op =
                LocalOp { local: LocalVertex(1), op: EdgeOp::Insert, dst: VertexId(i as u32), weight: 1.0 };
            let (ops, attributes) = ([op], [given(i)]);
            let ops = if i.is_multiple_of(7) { Ops::plain(&ops) } else { Ops::with(&ops, &attributes) };
            delta.push_all(ops, Timestamp(1 + i as u64));
        }
        carried.carry_over(&delta, 30);
        for i in 0..130 {
            let expected = (given(i).rank, given(i).row.to_row());
            assert_eq!((delta.rank(i), delta.row(i).to_row()), expected, "{i}");
            if i >= 30 {
                assert_eq!((carried.rank(i - 30), carried.row(i - 30).to_row()), expected, "{i}");
            }
        }
        assert!(delta.words(130, &mut Vec::new(), &mut Vec::new()).is_none(), "some rows are not words");
    }
}

#[test]
fn words_are_told_with_the_entries_that_have_one() {
    let amount = (PropertyId(3), PropertyType::I64);
    let delta = Delta::with_words(Timestamp(0), 100, false, Some(amount), &Arena::default());
    for i in 0..100u64 {
        let op = LocalOp { local: LocalVertex(1), op: EdgeOp::Insert, dst: VertexId(i as u32), weight: 1.0 };
        let row = if i.is_multiple_of(3) { RowRef::Empty } else { RowRef::Word(amount.0, amount.1, i) };
        let (ops, attributes) = ([op], [Attributes { rank: 0, row }]);
        delta.push_all(Ops::with(&ops, &attributes), Timestamp(1 + i));
    }
    for n in [0, 1, 63, 64, 65, 100] {
        let (mut words, mut valid) = (vec![9], vec![9]);
        assert_eq!(delta.words(n, &mut words, &mut valid), Some(amount));
        let expected = |i: usize| if i.is_multiple_of(3) { 0 } else { i as u64 };
        assert!(words.len() == n && words.iter().enumerate().all(|(i, &word)| word == expected(i)));
        assert_eq!(valid.len(), n.div_ceil(64));
        assert!(
            (0..valid.len() * 64)
                .all(|i| valid[i / 64] >> (i % 64) & 1 == u64::from(i < n && !i.is_multiple_of(3)))
        );
    }
}
