use super::*;
use crate::op::LocalOp;

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
        // About an eighth when the log is full.
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
