//! A program in which a reader walks over versions newer than its snapshot, while another thread replaces,
//! unlinks and frees them.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{KeyKind, Options};

/// The number of rounds of the test. Each explores many schedules.
pub(crate) const ROUNDS: u64 = 50;
/// The number of versions that the writer replaces, and of walks over them.
const VERSIONS: u64 = 3;

#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) schedules: Arc<AtomicU64>,
}

/// A thread reads an old snapshot and the latest state, while another one inserts edges and settles. After
/// each settling no reader needs the version before, and it goes to the retire list. In this build, a version
/// records its end, and a later use of it fails.
pub(crate) fn program(tally: &Tally) -> impl Fn() + Send + Sync + 'static {
    let tally = tally.clone();
    move || {
        let options = Options::new().directed(false).keys(KeyKind::Dense).background_settling(false);
        let graph = options.in_memory().expect("new");
        graph.insert_edge((0, 1)).expect("new");
        let old = graph.snapshot().expect("open");
        let other = {
            let graph = graph.clone();
            shuttle::thread::spawn(move || {
                for end in 2..2 + VERSIONS {
                    graph.insert_edge((0, end)).expect("new");
                    graph.settle().expect("open");
                }
            })
        };
        for end in 2..2 + VERSIONS {
            assert!(
                old.contains_edge((0, 1)).unwrap() && !old.contains_edge((0, end)).unwrap(),
                "a snapshot changed"
            );
            assert!(graph.snapshot().expect("open").contains_edge((0, 1)).unwrap(), "a commit is gone");
        }
        other.join().expect("no thread panics");
        let last = graph.snapshot().expect("open");
        assert!((1..2 + VERSIONS).all(|end| last.contains_edge((0, end)).unwrap()), "a commit is gone");
        tally.schedules.fetch_add(1, Ordering::Relaxed);
    }
}
