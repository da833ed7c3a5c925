//! One program: a reader walks over versions newer than its snapshot while they are replaced, unlinked and
//! freed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{KeyKind, Options};

/// Rounds of the test, each of many schedules.
pub(crate) const ROUNDS: u64 = 50;
/// Versions that come and go, and walks over them.
const VERSIONS: u64 = 3;

#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) schedules: Arc<AtomicU64>,
}

/// An old snapshot is read, and the latest state with it, while another thread inserts an edge and settles,
/// again and again: each time no reader needs the version before, which goes to the retire list. Versions
/// note their end in this build, and their use after it fails.
pub(crate) fn program(tally: &Tally) -> impl Fn() + Send + Sync + 'static {
    let tally = tally.clone();
    move || {
        let options = Options::new().directed(false).keys(KeyKind::Dense).background_settling(false);
        let graph = options.in_memory().expect("new");
        graph.insert_edge(0, 1).expect("new");
        let old = graph.snapshot().expect("open");
        let other = {
            let graph = graph.clone();
            shuttle::thread::spawn(move || {
                for end in 2..2 + VERSIONS {
                    graph.insert_edge(0, end).expect("new");
                    graph.settle().expect("open");
                }
            })
        };
        for end in 2..2 + VERSIONS {
            assert!(
                old.contains_edge(0, 1).unwrap() && !old.contains_edge(0, end).unwrap(),
                "a snapshot changed"
            );
            assert!(graph.snapshot().expect("open").contains_edge(0, 1).unwrap(), "a commit is gone");
        }
        other.join().expect("no thread panics");
        let last = graph.snapshot().expect("open");
        assert!((1..2 + VERSIONS).all(|end| last.contains_edge(0, end).unwrap()), "a commit is gone");
        tally.schedules.fetch_add(1, Ordering::Relaxed);
    }
}
