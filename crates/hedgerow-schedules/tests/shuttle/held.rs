//! A program of several threads, which hold, move and close snapshots. Meanwhile, the versions of these
//! snapshots end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{Graph, KeyKind, Options, Snapshot};

/// The number of rounds of the test. Each explores many schedules.
pub(crate) const ROUNDS: u64 = 200;
/// The number of edges that a thread inserts while snapshots come and go. Each goes into a version of its
/// own.
const EDGES: u64 = 2;

#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) schedules: Arc<AtomicU64>,
}

/// Checks a snapshot. The edges are inserted in the order of their ends, so it sees the edges up to one end.
fn check(snapshot: &Snapshot) {
    let seen = snapshot.edge_count().unwrap();
    assert!(
        (1..=EDGES + 1).all(|end| snapshot.contains_edge((0, end)).unwrap() == (end <= seen)),
        "a snapshot changed"
    );
}

/// Opens two snapshots. The second one may take the slot of the first. Closes the snapshot at `first`, then
/// the other one.
fn hold(graph: &Graph, first: usize) {
    let mut held: Vec<Snapshot> = (0..2).map(|_| graph.snapshot().expect("open")).collect();
    held.iter().for_each(check);
    drop(held.remove(first));
    held.iter().for_each(check);
}

/// A thread inserts and settles, while another one closes a snapshot. With `many`, a third thread holds two
/// snapshots. Each snapshot keeps its content. Once all snapshots are closed, the next commit frees the
/// versions that were kept for them.
pub(crate) fn program(many: bool, tally: &Tally) -> impl Fn() + Send + Sync + 'static {
    let tally = tally.clone();
    move || {
        let options = Options::new().directed(true).keys(KeyKind::Dense).background_settling(false);
        let graph = options.in_memory().expect("new");
        graph.insert_edge((0, 1)).expect("new");
        let old = graph.snapshot().expect("open");
        let writer = {
            let (graph, last) = (graph.clone(), if many { EDGES } else { 1 });
            shuttle::thread::spawn(move || {
                for end in 2..2 + last {
                    graph.insert_edge((0, end)).expect("new");
                    graph.settle().expect("open");
                }
            })
        };
        let holder = many.then(|| {
            let graph = graph.clone();
            shuttle::thread::spawn(move || hold(&graph, 0))
        });
        check(&old);
        drop(old);
        writer.join().expect("no thread panics");
        holder.into_iter().for_each(|holder| holder.join().expect("no thread panics"));
        graph.remove_edge((60, 61)).expect("open");
        let stats = graph.stats().expect("open");
        assert_eq!(stats.old_version_bytes, 0, "{} versions are left", stats.versions);
        tally.schedules.fetch_add(1, Ordering::Relaxed);
    }
}
