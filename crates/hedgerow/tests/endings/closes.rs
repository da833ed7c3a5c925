//! Closing a store while threads are in every kind of waiting call, with all limits at their smallest values.
//! Every call returns, and the reopened store contains every acknowledged commit.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use hedgerow::{CommitError, Durability, Error, Graph, KeyKind, Options, Result, StateError};
use hedgerow_testkit::{Effort, FOR_EVER, SimFs, explored};
use hedgerow_workload::rng::Rng;

const CLOSES: u64 = 2_000;
const THREADS: usize = 2;
const VERTICES: u64 = 300;

/// The call that a thread repeats until the store closes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Call {
    Single,
    Batch,
    Transact,
    Ticket,
    Pipeline,
    Flush,
    Checkpoint,
    Compact,
    Settle,
    Check,
    Snapshot,
    View,
    Close,
}

const CALLS: [Call; 13] = [
    Call::Single,
    Call::Batch,
    Call::Transact,
    Call::Ticket,
    Call::Pipeline,
    Call::Flush,
    Call::Checkpoint,
    Call::Compact,
    Call::Settle,
    Call::Check,
    Call::Snapshot,
    Call::View,
    Call::Close,
];

/// A store, and the edges that must be durable in it.
struct Round {
    graph: Graph,
    durable: Mutex<BTreeSet<(u64, u64)>>,
    sync: bool,
    calls: AtomicU64,
}

impl Round {
    fn acknowledged(&self, edges: &[(u64, u64)]) {
        if self.sync {
            self.durable.lock().unwrap_or_else(PoisonError::into_inner).extend(edges);
        }
    }

    fn call(&self, call: Call, rng: &mut Rng) -> Result<()> {
        let graph = &self.graph;
        let edges: Vec<(u64, u64)> = (0..match call {
            Call::Batch => 200,
            Call::Single => 1,
            _ => 12,
        })
            .map(|_| (rng.below(VERTICES), rng.below(VERTICES)))
            .collect();
        match call {
            Call::Single => graph.insert_edge((edges[0].0, edges[0].1)).map(drop)?,
            Call::Batch => graph.insert_edges(&edges).map(drop)?,
            Call::Transact => {
                graph.transact(3, |tx| {
                    tx.contains_edge((edges[0].0, edges[0].1))?;
                    edges.iter().try_for_each(|&(src, dst)| tx.put_edge((src, dst)))
                })?;
            }
            Call::Ticket => {
                let mut tx = graph.write()?;
                tx.put_edges(&edges)?;
                tx.submit()?.wait()?;
            }
            Call::Pipeline => {
                let mut pipeline = graph.pipeline(|_| ())?;
                edges.iter().try_for_each(|&(src, dst)| pipeline.put_edge(src, dst).map(drop))?;
                pipeline.flush()?;
                // The store may have refused an operation.
                return Ok(());
            }
            Call::Flush => return graph.flush(),
            Call::Checkpoint => return graph.checkpoint().map(drop),
            Call::Compact => return graph.compact().map(drop),
            Call::Settle => return graph.settle(),
            Call::Check => return graph.check().map(drop),
            Call::Snapshot => {
                return graph.snapshot().map(|snapshot| _ = snapshot.contains_edge((1_u64, 2_u64)).unwrap());
            }
            Call::View => {
                return graph
                    .snapshot()
                    .map(|snapshot| _ = snapshot.default_label().view().unwrap().vertices().count());
            }
            Call::Close => return graph.close().and(Err(StateError::Closed.into())),
        }
        self.acknowledged(&edges);
        Ok(())
    }

    fn work(&self, call: Call, mut rng: Rng) -> Result<()> {
        loop {
            match self.call(call, &mut rng) {
                Ok(()) | Err(Error::Commit(CommitError::Conflict { .. })) => {
                    _ = self.calls.fetch_add(1, Ordering::Relaxed)
                }
                Err(Error::State(StateError::Closed)) => return Ok(()),
                Err(other) => return Err(other),
            }
        }
    }
}

fn options(rng: &mut Rng) -> (Options, bool) {
    let durabilities = [
        Durability::Sync,
        Durability::Manual,
        Durability::Group(Duration::from_millis(1)),
        Durability::Group(Duration::from_secs(3_600)),
    ];
    let durability = durabilities[rng.below(4) as usize];
    let options = crate::common::checkpoints_at_close(Options::new(), rng.below(2) == 0)
        .keys(if rng.below(2) == 0 { KeyKind::Dense } else { KeyKind::U64 })
        .directed(rng.below(2) == 0)
        .durability(durability)
        .log_segment_bytes([4 << 10, 64 << 10][rng.below(2) as usize])
        .checkpoint_log_bytes([1, 2 << 10, 16 << 10][rng.below(3) as usize])
        .max_unsynced_bytes([0, 1 << 10][rng.below(2) as usize])
        .background_settling(rng.below(2) == 0);
    (options, durability == Durability::Sync)
}

/// Closes a store while threads make calls without end. Returns the number of their calls.
fn close_beside(calls: &[Call], seed: u64) -> std::result::Result<u64, String> {
    let mut rng = Rng::new(seed);
    let disk = SimFs::new();
    let (options, sync) = options(&mut rng);
    let graph = options.open_on(disk.handle()).map_err(|error| format!("a new store: {error}"))?;
    let round = Arc::new(Round { graph, durable: Mutex::default(), sync, calls: AtomicU64::new(0) });
    let (done, wait) = mpsc::channel();
    let working = Arc::new(AtomicUsize::new(calls.len()));
    for &call in calls {
        let (round, done, working) = (round.clone(), done.clone(), working.clone());
        let rng = Rng::new(seed ^ (call as u64 + 1) << 40 ^ working.load(Ordering::Relaxed) as u64);
        std::thread::spawn(move || {
            let ended = round.work(call, rng).map_err(|error| format!("{call:?}: {error}"));
            working.fetch_sub(1, Ordering::Relaxed);
            drop(round);
            let _ = done.send(ended);
        });
    }
    // Gives the threads some time. It ends after some calls, after some waits for a checkpoint or a sync, or
    // at once.
    let (most, patience) = (rng.below(20), rng.below(300));
    for _ in 0..patience {
        let waits = round.graph.stats().map_or(0, |stats| stats.commit_waits);
        if round.calls.load(Ordering::Relaxed) > most || waits > most / 4 {
            break;
        }
        std::thread::yield_now();
    }
    let (closing, closed) = (round.graph.clone(), done.clone());
    std::thread::spawn(move || {
        let _ = closed.send(closing.close().map_err(|error| format!("closing: {error}")));
    });
    for _ in 0..=calls.len() {
        match wait.recv_timeout(FOR_EVER) {
            Ok(ended) => ended?,
            Err(_) => {
                let left = working.load(Ordering::Relaxed);
                return Err(format!("{left} of {calls:?} wait for ever, or the call that closes does"));
            }
        }
    }
    let acknowledged = std::mem::take(&mut *round.durable.lock().unwrap_or_else(PoisonError::into_inner));
    let made = round.calls.load(Ordering::Relaxed);
    drop(round);
    if seed.is_multiple_of(20) {
        let graph = crate::common::small()
            .open_on(disk.handle())
            .map_err(|error| format!("opening again: {error}"))?;
        let snapshot = graph.snapshot().map_err(|error| error.to_string())?;
        if let Some(lost) =
            acknowledged.iter().find(|&&(src, dst)| !snapshot.contains_edge((src, dst)).unwrap())
        {
            return Err(format!("the edge {lost:?} was acknowledged, and is lost"));
        }
    }
    Ok(made)
}

#[test]
fn a_store_that_is_closed_keeps_nobody_waiting() {
    let effort = Effort::rounds(CLOSES);
    let (mut closes, mut made) = (0, 0);
    while let Some(seed) = effort.next_seed() {
        let mut rng = Rng::new(seed);
        let calls: Vec<Call> = (0..THREADS).map(|_| CALLS[rng.below(CALLS.len() as u64) as usize]).collect();
        match close_beside(&calls, seed) {
            Ok(calls) => (closes, made) = (closes + 1, made + calls),
            Err(error) => panic!("HEDGEROW_ROUND={seed}: {error}"),
        }
    }
    explored("closes beside calls that wait", closes, CLOSES);
    explored("calls that returned before the close", made, CLOSES);
}
