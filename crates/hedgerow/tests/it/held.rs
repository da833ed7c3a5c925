//! Any number of open snapshots: each always reads its first state. After they are closed, the store keeps
//! nothing for them.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use hedgerow::{Direction, Graph, KeyKind, Snapshot, Stats, VertexId};
use hedgerow_testkit::FOR_EVER;
use hedgerow_workload::rng::Rng;

/// The number of vertices: few, so that every subgraph has many versions.
const VERTICES: u64 = 150;
const HELD: usize = 400;

fn graph() -> Graph {
    let options = crate::common::small().keys(KeyKind::Dense).directed(true).background_settling(false);
    options.in_memory().unwrap()
}

/// Puts or removes a random edge.
fn change(graph: &Graph, rng: &mut Rng) {
    let (from, to) = (rng.below(VERTICES), rng.below(VERTICES));
    if rng.below(3) == 0 {
        graph.remove_edge((from, to)).unwrap();
    } else {
        graph.put_edge((from, to)).unwrap();
    }
}

/// Returns a hash of all lists in point reads, and the number of edges.
fn read(snapshot: &Snapshot) -> (u64, u64) {
    let (mut hash, mut edges) = (0_u64, 0);
    for v in 0..VERTICES {
        let mut add = |u: VertexId| {
            hash = hash.rotate_left(5).wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ (v << 32 | u64::from(u.0));
            edges += 1;
        };
        snapshot
            .default_label()
            .for_each_neighbor(VertexId(v as u32), Direction::Out, |u, _| add(u))
            .unwrap();
    }
    (hash, edges)
}

struct Held {
    snapshot: Snapshot,
    seen: (u64, u64),
}

impl Held {
    fn new(graph: &Graph) -> Held {
        let snapshot = graph.snapshot().unwrap();
        let seen = read(&snapshot);
        assert_eq!(seen.1, snapshot.edge_count().unwrap());
        Held { snapshot, seen }
    }

    fn check(&self) {
        assert_eq!(read(&self.snapshot), self.seen, "a snapshot of {:?} changed", self.snapshot.timestamp());
    }
}

/// Waits until `what` is true of the statistics. The process frees unlinked versions only after the walks of
/// all tests, so the function waits for a moment without such a walk.
fn until(graph: &Graph, what: impl Fn(&Stats) -> bool) {
    let start = Instant::now();
    loop {
        // No background thread runs. So commits free the versions that snapshots kept, even commits without a
        // change.
        graph.remove_edge((VERTICES, VERTICES + 1)).unwrap();
        let stats = graph.stats().unwrap();
        if what(&stats) {
            return;
        }
        assert!(start.elapsed() < FOR_EVER, "{} versions are left", stats.versions);
        std::thread::yield_now();
    }
}

pub(crate) fn nothing_is_kept(graph: &Graph) {
    until(graph, |stats| stats.old_version_bytes == 0);
}

/// Checks that each chain has its newest version, and at most one more version for each snapshot.
fn no_more_is_kept_than_is_read(graph: &Graph, held: usize) {
    const CHAINS: u64 = 2 * VERTICES.div_ceil(64);
    until(graph, |stats| stats.versions <= CHAINS * (held as u64 + 1));
}

pub(crate) fn hundreds_of_snapshots_read_what_they_read_when_they_opened() {
    let (graph, mut rng) = (graph(), Rng::new(11));
    let mut held: Vec<Held> = Vec::new();
    for step in 0..6_000 {
        change(&graph, &mut rng);
        if held.len() < HELD && rng.below(4) == 0 {
            held.push(Held::new(&graph));
        }
        if !held.is_empty() && rng.below(8) == 0 {
            held.swap_remove(rng.below(held.len() as u64) as usize).check();
        }
        if step % 500 == 0 {
            held.iter().for_each(Held::check);
        }
    }
    assert!(held.len() > HELD / 2, "{} held", held.len());
    assert!(graph.stats().unwrap().old_version_bytes > 0);
    while !held.is_empty() {
        held.swap_remove(rng.below(held.len() as u64) as usize).check();
    }
    nothing_is_kept(&graph);
}

pub(crate) fn many_snapshots_of_one_moment_end_one_by_one() {
    let (graph, mut rng) = (graph(), Rng::new(12));
    (0..2_000).for_each(|_| change(&graph, &mut rng));
    let mut held: Vec<Held> = (0..100).map(|_| Held::new(&graph)).collect();
    (0..2_000).for_each(|_| change(&graph, &mut rng));
    while let Some(one) = held.pop() {
        one.check();
        let kept = graph.stats().unwrap().old_version_bytes;
        assert!(kept > 0, "{} still read it", held.len() + 1);
    }
    nothing_is_kept(&graph);
}

pub(crate) fn what_a_snapshot_kept_goes_with_it_whatever_others_keep() {
    for seed in 0..3 {
        let (graph, mut rng) = (graph(), Rng::new(20 + seed));
        let mut held = Vec::new();
        for _ in 0..20 {
            (0..300).for_each(|_| change(&graph, &mut rng));
            // More edges than a delta has room for: the commit merges them.
            let edges: Vec<_> = (0..500).map(|_| (rng.below(VERTICES), rng.below(VERTICES))).collect();
            graph.insert_edges(&edges).unwrap();
            no_more_is_kept_than_is_read(&graph, held.len());
            held.push(Held::new(&graph));
        }
        while !held.is_empty() {
            // The oldest first, the newest first, or any.
            let next = [0, held.len() - 1, rng.below(held.len() as u64) as usize][seed as usize];
            held.remove(next).check();
            no_more_is_kept_than_is_read(&graph, held.len());
        }
        nothing_is_kept(&graph);
    }
}

pub(crate) fn threads_that_hold_snapshots_beside_writers_leave_nothing() {
    let graph = graph();
    for round in 0..20 {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (graph, done) = (&graph, &done);
                scope.spawn(move || {
                    let mut rng = Rng::new(100 * round + thread);
                    let mut held = Vec::new();
                    while !done.load(Ordering::Relaxed) {
                        if held.len() < 40 && rng.below(2) == 0 {
                            held.push(Held::new(graph));
                        } else if let Some(last) = held.len().checked_sub(1) {
                            held.swap_remove(rng.below(last as u64 + 1) as usize).check();
                        }
                    }
                    held.iter().for_each(Held::check);
                });
            }
            let mut rng = Rng::new(round);
            (0..5_000).for_each(|_| change(&graph, &mut rng));
            done.store(true, Ordering::Relaxed);
        });
        nothing_is_kept(&graph);
    }
}
