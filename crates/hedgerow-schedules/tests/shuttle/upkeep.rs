//! A program in which one thread reads and commits as the only writer, while another one settles the
//! subgraphs that it reads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{KeyKind, Options};

/// The number of rounds of the test. Each explores many schedules.
pub(crate) const ROUNDS: u64 = 50;
/// The number of transactions, and of concurrent calls of `settle`.
const TURNS: u64 = 3;
/// A vertex in another subgraph than the vertices that the transactions read.
const FAR: u64 = 64;

#[derive(Clone, Default)]
pub(crate) struct Tally {
    pub(crate) schedules: Arc<AtomicU64>,
}

/// Runs transactions that each read in one subgraph and write in another one. Validation must latch the
/// subgraph that the transaction read, which the other thread settles. No other commit exists, so each
/// conflict is false.
pub(crate) fn program(tally: &Tally) -> impl Fn() + Send + Sync + 'static {
    let tally = tally.clone();
    move || {
        let options = Options::new().directed(true).keys(KeyKind::Dense).background_settling(false);
        let graph = options.in_memory().expect("new");
        graph.insert_edge((0, 1)).expect("new");
        let other = {
            let graph = graph.clone();
            shuttle::thread::spawn(move || (0..TURNS).for_each(|_| graph.settle().expect("open")))
        };
        for turn in 0..TURNS {
            graph.insert_edge((0, 2 + turn)).expect("new");
            let mut tx = graph.write().expect("open");
            assert!(tx.contains_edge((0, 2 + turn)).expect("open"), "a commit is gone");
            tx.put_edge((FAR, FAR + 1 + turn)).expect("open");
            tx.commit().expect("the only writer meets no other commit");
        }
        other.join().expect("no thread panics");
        tally.schedules.fetch_add(1, Ordering::Relaxed);
    }
}
