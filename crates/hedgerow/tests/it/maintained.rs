//! Maintained answers of a store equal the answers from scratch at each snapshot: concurrent with writers,
//! across checkpoints and settling, but not across an opening.

use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{Direction, EdgeKey, Graph, KeyKind, LabelOptions, LabelSnapshot, Snapshot, Topology, View};
use hedgerow_core::Changing;
use hedgerow_kernels::Cancel;
use hedgerow_kernels::maintain::{
    Answer, Components, Degrees, Handle, Made, Maintained, NAMES, Ranks, Triangles,
};
use hedgerow_testkit::effort::{Effort, explored};
use hedgerow_workload::rng::Rng;

use crate::common::small;

const VERTICES: u64 = 300;
/// The number of stores, and the number of change sets of each store; the test compares every kind of answer
/// after each set.
const ROUNDS: u64 = 4;
const SETS: u32 = 150;

fn must_be_right(answer: &Answer, snapshot: &Snapshot) {
    must_be_of(answer, snapshot.default_label().view().unwrap());
}

fn must_be_of(answer: &Answer, view: &View) {
    let cancel = Cancel::new();
    match answer {
        Answer::Components(kept) => {
            assert_eq!(kept.names(), Components::from_scratch(view, &cancel).unwrap().names());
        }
        Answer::Degrees(kept) => assert_eq!(*kept, Degrees::from_scratch(view, &cancel).unwrap()),
        Answer::Triangles(kept) => assert_eq!(*kept, Triangles::from_scratch(view, &cancel).unwrap()),
        Answer::Ranks(kept) => {
            let fresh = Ranks::from_scratch(view, &cancel).unwrap();
            let apart: f64 = kept.scores().iter().zip(fresh.scores()).map(|(a, b)| (a - b).abs()).sum();
            assert!(
                kept.scores().len() == fresh.scores().len() && apart < 2.0 * Ranks::TOLERANCE / 0.15,
                "{apart}"
            );
        }
        _ => panic!("an answer that no test knows"),
    }
}

fn write(graph: &Graph, rng: &mut Rng, operations: u64) {
    let mut tx = graph.write().unwrap();
    for _ in 0..operations {
        let (src, dst) = (rng.below(VERTICES), rng.below(VERTICES));
        match rng.below(9) {
            0..4 => tx.put_edge((src, dst)).unwrap(),
            4 if rng.below(9) == 0 => _ = tx.remove_vertex(src).unwrap(),
            5 if rng.below(9) == 0 => tx.put_edge((VERTICES + dst, VERTICES + dst)).unwrap(),
            _ => _ = tx.remove_edge((src, dst)).unwrap(),
        }
    }
    // Another thread may have committed first.
    _ = tx.commit();
}

fn handles() -> Vec<Handle<LabelSnapshot>> {
    NAMES.iter().map(|name| Handle::new(name).unwrap()).collect()
}

/// Returns the edges of the default label.
fn of_default(snapshot: &Snapshot) -> LabelSnapshot {
    LabelSnapshot::new(snapshot, "").unwrap()
}

#[test]
fn kept_answers_are_right_after_each_commit_across_checkpoints_and_settling() {
    let (effort, mut compared) = (Effort::rounds(ROUNDS), 0);
    while let Some(seed) = effort.next_seed() {
        let dir = tempfile::tempdir().unwrap();
        let options = || small().keys(KeyKind::U64).directed(seed % 2 == 0);
        let graph = options().open(dir.path()).unwrap();
        let mut rng = Rng::new(seed);
        write(&graph, &mut rng, 900);
        let (mut kept, mut from_changes) = (handles(), 0);
        for round in 0..SETS {
            let operations = [1, 4, 40, 400][rng.below(4) as usize];
            write(&graph, &mut rng, operations);
            match round % 25 {
                7 => _ = graph.checkpoint().unwrap(),
                15 => graph.settle().unwrap(),
                _ => {}
            }
            let snapshot = graph.snapshot().unwrap();
            for handle in &mut kept {
                let (answer, made) = handle.at(&of_default(&snapshot)).unwrap();
                must_be_right(answer, &snapshot);
                from_changes += u32::from(matches!(made, Made::FromChanges(_)));
            }
        }
        assert!(from_changes > SETS, "{from_changes} answers of changes");
        compared += u64::from(SETS);
        let old = graph.snapshot().unwrap();
        // This write always changes the graph. The random operations above may change nothing, and then both
        // snapshots would have the same timestamp.
        graph.insert_edge((3 * VERTICES, 3 * VERTICES + 1)).unwrap();
        let new = graph.snapshot().unwrap();
        kept[0].at(&of_default(&new)).unwrap();
        let (answer, made) = kept[0].at(&of_default(&old)).unwrap();
        assert_eq!(made, Made::NotLater);
        must_be_right(answer, &old);
        // After the store is closed and opened again, a handle reports that it starts anew.
        drop((old, new));
        kept.truncate(1);
        graph.close().unwrap();
        let graph = options().open(dir.path()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        let other = small().in_memory().unwrap().snapshot().unwrap();
        assert!(!of_default(&snapshot).comes_after(&of_default(&other)));
        let (answer, made) = kept[0].at(&of_default(&snapshot)).unwrap();
        assert_eq!(made, Made::NotLater);
        must_be_right(answer, &snapshot);
    }
    explored("change sets of kept answers", compared, ROUNDS * u64::from(SETS));
}

/// Answers over a label, also a label with parallel edges, concurrent with changes of other labels.
#[test]
fn kept_answers_over_labels_are_right_after_each_commit() {
    for seed in 0..4 {
        let graph = small().keys(KeyKind::U64).directed(seed % 2 == 0).in_memory().unwrap();
        graph.define_label("knows", LabelOptions::new()).unwrap();
        graph.define_label("calls", LabelOptions::new().multi(true)).unwrap();
        let (labels, mut rng) = (["", "knows", "calls"], Rng::new(seed));
        let handles = || -> Vec<Handle<LabelSnapshot>> {
            NAMES.iter().map(|name| Handle::new(name).unwrap()).collect()
        };
        let (mut kept, mut from_changes) = (labels.map(|_| handles()), 0);
        for round in 0..60 {
            let mut tx = graph.write().unwrap();
            let operations = if round == 0 { 3000 } else { [1, 4, 40, 200][rng.below(4) as usize] };
            for _ in 0..operations {
                let (src, dst, label) =
                    (rng.below(VERTICES), rng.below(VERTICES), labels[rng.below(3) as usize]);
                let rank = if label == "calls" { rng.below(3) } else { 0 };
                let edge = EdgeKey::new(label, src, dst).rank(rank);
                match rng.below(9) {
                    0..6 => tx.put_edge_with(edge, [("", 0i64); 0]).unwrap(),
                    6 if rng.below(19) == 0 => _ = tx.remove_vertex(src).unwrap(),
                    _ => _ = tx.remove_edge(edge).unwrap(),
                }
            }
            tx.commit().unwrap();
            if round % 20 == 9 {
                graph.settle().unwrap();
            }
            let snapshot = graph.snapshot().unwrap();
            for (label, kept) in labels.iter().zip(&mut kept) {
                let (of, view) =
                    (LabelSnapshot::new(&snapshot, *label).unwrap(), snapshot.view(*label).unwrap());
                for handle in kept {
                    let (answer, made) = handle.at(&of).unwrap();
                    must_be_of(answer, &view);
                    from_changes += u32::from(matches!(made, Made::FromChanges(_)));
                }
            }
        }
        assert!(from_changes > 300, "{from_changes} answers of changes");
        // Another label is another graph.
        let (knows, calls) = (labels[1], labels[2]);
        let snapshot = graph.snapshot().unwrap();
        let [knows, calls] = [knows, calls].map(|label| LabelSnapshot::new(&snapshot, label).unwrap());
        assert!(!calls.comes_after(&knows) && calls.changes_since(&knows).is_err());
        assert_eq!(kept[1][0].at(&calls).unwrap().1, Made::NotLater);
        assert!(LabelSnapshot::new(&snapshot, "mail").is_err());
    }
}

#[test]
fn kept_answers_are_right_beside_writers() {
    let graph = small().keys(KeyKind::U64).in_memory().unwrap();
    write(&graph, &mut Rng::new(1), 900);
    let (stop, mut kept) = (AtomicBool::new(false), handles());
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let (graph, stop) = (&graph, &stop);
            scope.spawn(move || {
                let mut rng = Rng::new(10 + writer);
                while !stop.load(Ordering::Relaxed) {
                    write(graph, &mut rng, 3);
                }
            });
        }
        for _ in 0..60 {
            let snapshot = graph.snapshot().unwrap();
            for handle in &mut kept {
                must_be_right(handle.at(&of_default(&snapshot)).unwrap().0, &snapshot);
            }
        }
        stop.store(true, Ordering::Relaxed);
    });
    assert!(graph.snapshot().unwrap().default_label().view().unwrap().vertex_count() > 0);
}

/// A handle keeps the state of its last snapshot, so that the store can find the changes; it does not keep
/// the view.
#[test]
fn a_snapshot_without_its_view_keeps_what_it_sees() {
    let degrees = |snapshot: &Snapshot| -> Vec<Option<usize>> {
        (0..VERTICES).map(|v| snapshot.degree(v, Direction::Out).unwrap()).collect()
    };
    let graph = small().keys(KeyKind::U64).in_memory().unwrap();
    let mut rng = Rng::new(7);
    write(&graph, &mut rng, 900);
    let snapshot = graph.snapshot().unwrap();
    snapshot.default_label().view().unwrap();
    let seen = degrees(&snapshot);
    let of = of_default(&snapshot);
    let mut held = vec![of.without_view(), of.without_view().without_view()];
    drop(of);
    drop(snapshot);
    (0..30).for_each(|_| write(&graph, &mut rng, 60));
    graph.settle().unwrap();
    let later = graph.snapshot().unwrap();
    while let Some(one) = held.pop() {
        assert!(graph.stats().unwrap().old_version_bytes > 0, "it is registered still");
        let later = of_default(&later);
        assert!(!later.changes_since(&one).unwrap().is_empty() && later.comes_after(&one));
        assert!(degrees(one.snapshot()) == seen);
    }
    drop(later);
    crate::held::nothing_is_kept(&graph);
}

#[test]
fn only_some_answers_are_kept() {
    assert!(Handle::<LabelSnapshot>::new("bfs").is_err_and(|error| error.to_string().contains("bfs")));
}
