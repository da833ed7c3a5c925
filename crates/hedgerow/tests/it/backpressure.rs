//! A commit without room in memory waits for a checkpoint, and then goes on. A limit bounds the bytes in
//! memory, not the bytes that commits write.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use hedgerow::{
    CommitError, Direction, Durability, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options, StateError,
};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use hedgerow_testkit::{FOR_EVER, SimFs, explored};
use hedgerow_workload::rng::Rng;

use crate::common::account;

const LIMIT: u64 = LEAST_MEMORY_LIMIT;
/// The number of neighboring vertices of a window. All edges of a window are among these vertices; the next
/// window has the next vertices. So commits rarely need older edges again.
const WINDOW: u64 = 1 << 13;
const EDGES_OF_WINDOW: u64 = 160_000;
/// The number of edges of a batch.
const BATCH: u64 = 2_000;

fn limited() -> Options {
    Options::new().keys(KeyKind::Dense).directed(false).memory_limit(LIMIT).durability(Durability::Manual)
}

/// Reads the account again and again until `work` has ended; returns the highest number of bytes.
fn highest_while(graph: &Graph, work: impl FnOnce()) -> u64 {
    let (over, highest) = (AtomicBool::new(false), AtomicU64::new(0));
    /// Sets the flag when it is dropped, also by a panic.
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Relaxed);
        }
    }
    std::thread::scope(|scope| {
        let end = Over(&over);
        scope.spawn(|| {
            while !over.load(Relaxed) {
                highest.fetch_max(graph.memory_bytes(), Relaxed);
                std::thread::sleep(Duration::from_micros(20));
            }
        });
        work();
        drop(end);
    });
    highest.into_inner()
}

/// Inserts the edges of a window one by one. Returns the number of new edges, and the error that ended the
/// call early, if any.
fn fill(graph: &Graph, window: u64, edges: u64) -> (u64, Option<Error>) {
    let (mut rng, base, mut new) = (Rng::new(window), window * WINDOW, 0);
    for _ in 0..edges {
        match graph.insert_edge((base + rng.below(WINDOW), base + rng.below(WINDOW))) {
            Ok(is_new) => new += u64::from(is_new),
            Err(error) => return (new, Some(error)),
        }
    }
    (new, None)
}

/// Does the same as [`fill`] with batches, which need less log and less time.
fn fill_in_batches(graph: &Graph, window: u64) -> (u64, Option<Error>) {
    let (mut rng, base, mut new) = (Rng::new(window), window * WINDOW, 0);
    for _ in 0..EDGES_OF_WINDOW / BATCH {
        let edge = |_| (base + rng.below(WINDOW), base + rng.below(WINDOW));
        match graph.insert_edges((0..BATCH).map(edge).collect::<Vec<_>>()) {
            Ok(count) => new += count,
            Err(error) => return (new, Some(error)),
        }
    }
    (new, None)
}

/// Several threads write twice the bytes that the limit allows, in batches and one by one.
#[test]
fn more_is_written_than_the_limit_holds() {
    let disk = SimFs::new();
    let graph = limited().open_on(disk.handle()).unwrap();
    let written = AtomicU64::new(0);
    let highest = highest_while(&graph, || {
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let (graph, written) = (&graph, &written);
                scope.spawn(move || {
                    for window in 0..6 {
                        let window = window * 3 + thread;
                        let fill = if window % 5 == 4 {
                            |graph: &_, window| fill(graph, window, 20_000)
                        } else {
                            fill_in_batches
                        };
                        let (new, error) = fill(graph, window);
                        assert!(error.is_none(), "window {window}: {error:?}");
                        written.fetch_add(new, Relaxed);
                    }
                });
            }
        });
    });
    assert!(highest <= LIMIT, "{highest} bytes of {LIMIT}");
    let stats = account::check(&graph).unwrap();
    assert!(stats.memory_bytes() <= LIMIT && stats.failed_checkpoints == 0, "{stats:?}");
    explored(
        "waits of commits and checkpoints for memory",
        stats.commit_waits + stats.background_checkpoints,
        3,
    );
    let edges = written.into_inner();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
    graph.close().unwrap();
    let graph = Options::new().open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
    assert!(graph.check().unwrap().is_ok());
}

/// The data that a snapshot pins cannot leave memory, even after a checkpoint. So the store refuses commits,
/// no commit waits for ever, and commits go on after the snapshot is closed.
#[test]
fn a_commit_is_refused_where_a_snapshot_holds_what_fills_memory() {
    let disk = SimFs::new();
    let graph = limited().open_on(disk.handle()).unwrap();
    let mut held = Vec::new();
    let mut window = 0;
    let error = loop {
        held.push(graph.snapshot().unwrap());
        let (_, error) = fill_in_batches(&graph, window);
        if let Some(error) = error {
            break error;
        }
        window += 1;
        assert!(window < 100, "snapshots of all that was written fit the limit");
        // A snapshot pins the data that it reads.
        held.iter().for_each(|snapshot| _ = snapshot.degree(window * WINDOW, Direction::Out).unwrap());
    };
    let Error::Commit(CommitError::MemoryLimit(shortage)) = error else { panic!("{error}") };
    assert!(shortage.limit == LIMIT && shortage.needed > shortage.available(), "{shortage:?}");
    let edges = graph.snapshot().unwrap().edge_count().unwrap();
    drop(held);
    let (new, error) = fill_in_batches(&graph, window + 1);
    assert!(error.is_none(), "{error:?}");
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges + new);
    assert!(graph.check().unwrap().is_ok());
}

/// A snapshot pins a few lists in all regions of the arena. The store still releases the free memory of these
/// regions.
#[test]
fn a_snapshot_that_holds_a_few_lists_refuses_no_commit() {
    let disk = SimFs::new();
    let graph = limited().open_on(disk.handle()).unwrap();
    for window in 0..12 {
        let (_, error) = fill_in_batches(&graph, window);
        assert!(error.is_none(), "window {window}: {error:?}");
    }
    let held = graph.snapshot().unwrap();
    let (edges, degrees) = (held.edge_count().unwrap(), |snapshot: &hedgerow::Snapshot| -> Vec<_> {
        (0..12).map(|window| snapshot.degree(window * WINDOW, Direction::Out).unwrap()).collect()
    });
    let before = degrees(&held);
    // These lists change, so the snapshot keeps their older versions.
    let mut new =
        (0..12).filter(|window| graph.insert_edge((window * WINDOW, 1_u64 << 20)).unwrap()).count() as u64;
    let highest = highest_while(&graph, || {
        for window in 20..23 {
            let (inserted, error) = fill_in_batches(&graph, window);
            new += inserted;
            assert!(error.is_none(), "window {window}: {error:?}, {:?}", graph.stats());
        }
    });
    assert!(highest <= LIMIT, "{highest} bytes of {LIMIT}");
    assert_eq!(degrees(&held), before);
    assert_eq!((held.edge_count().unwrap(), account::check(&graph).unwrap().edges), (edges, edges + new));
    drop(held);
    assert!(graph.check().unwrap().is_ok());
}

/// Commits go on while memory has room, then return that the disk is full. Reads go on. Commits go on again
/// when the disk has space.
#[test]
fn on_a_full_disk_commits_fail_once_memory_is_full_and_reads_go_on() {
    let disk = SimFs::new();
    let graph = limited().open_on(disk.handle()).unwrap();
    let (mut edges, error) = fill_in_batches(&graph, 0);
    assert!(error.is_none());
    graph.checkpoint().unwrap();
    // The log gets its space; a checkpoint gets none.
    disk.plan_fault(Fault {
        class: FaultClass::Change,
        at: 0,
        site: Some("create:csr"),
        repeat: Repeat::Forever,
        errno: errno::ENOSPC,
    });
    let mut error = None;
    let highest = highest_while(&graph, || {
        for window in 1..100 {
            let (new, refused) = fill_in_batches(&graph, window);
            (edges, error) = (edges + new, refused);
            if error.is_some() {
                break;
            }
        }
    });
    assert!(matches!(error, Some(Error::Commit(CommitError::DiskFull))), "{error:?}");
    assert!(highest <= LIMIT && edges > 2 * EDGES_OF_WINDOW, "{edges} edges in {highest} bytes");
    let (new, error) = fill(&graph, 99, u64::MAX);
    assert!(matches!(error, Some(Error::Commit(CommitError::DiskFull))), "{error:?}");
    edges += new;
    let begun = Instant::now();
    // Background settling may free a little memory.
    for other in 0..100_u64 {
        match graph.insert_edge((1_u64 << 20, other)) {
            Ok(new) => edges += u64::from(new),
            Err(Error::Commit(CommitError::DiskFull)) => {}
            Err(error) => panic!("{error}"),
        }
    }
    assert!(begun.elapsed() < FOR_EVER, "refusals wait for nobody");
    // Reads load evicted data again, into the memory that commits leave free.
    let snapshot = graph.snapshot().unwrap();
    let degrees =
        (0..2 * WINDOW).step_by(7).map(|v| snapshot.degree(v, Direction::Out).unwrap().unwrap_or(0));
    assert!(degrees.sum::<usize>() > 10_000);
    assert_eq!(snapshot.edge_count().unwrap(), edges);
    let stats = graph.stats().unwrap();
    assert!(graph.checkpoint_error().is_some() && stats.failed_checkpoints > 0, "{stats:?}");
    disk.clear_faults();
    // A checkpoint may be failing at this moment, and for a short time after it no commit requests another
    // one.
    let (begun, mut other) = (Instant::now(), 200);
    while graph.checkpoint_error().is_some() {
        match graph.insert_edge((1_u64 << 20, other)) {
            Ok(new) => edges += u64::from(new),
            Err(Error::Commit(CommitError::DiskFull)) => std::thread::sleep(Duration::from_millis(1)),
            Err(error) => panic!("{error}"),
        }
        other += 1;
        assert!(begun.elapsed() < FOR_EVER, "with new space no checkpoint succeeds");
    }
    assert!(graph.insert_edge((1_u64 << 20, other)).unwrap());
    let (new, error) = fill_in_batches(&graph, 50);
    // The snapshot is still open. It keeps only a little of the memory of its regions.
    assert!(error.is_none() && graph.checkpoint_error().is_none(), "{error:?}");
    drop(snapshot);
    graph.close().unwrap();
    let graph = Options::new().open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges + new + 1);
    assert!(graph.check().unwrap().is_ok());
}

/// `close` ends the wait of commits that wait for a checkpoint.
#[test]
fn a_store_is_closed_while_commits_wait_for_memory() {
    for round in 0..3 {
        let disk = SimFs::new();
        let graph = limited().open_on(disk.handle()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..3 {
                let graph = &graph;
                scope.spawn(move || {
                    let (_, error) = fill(graph, thread, u64::MAX);
                    assert!(matches!(error, Some(Error::State(StateError::Closed))), "{error:?}");
                });
            }
            let waits = || graph.stats().is_ok_and(|stats| stats.commit_waits > 0);
            while !waits() {
                std::thread::sleep(Duration::from_millis(1 + round));
            }
            graph.close().unwrap();
        });
        let graph = Options::new().open_on(disk.handle()).unwrap();
        assert!(graph.check().unwrap().is_ok());
    }
}

/// Single edges grow one list, and each merge copies the list. The store makes room for each merge before it
/// draws the merge.
#[test]
fn merges_of_a_hub_stay_within_the_limit() {
    let graph = limited().in_memory().unwrap();
    let mut inserted = 0_u64;
    let highest = highest_while(&graph, || {
        let refused =
            (1..).find_map(|other| Some((other, account::insert_edge_once_freed(&graph, 0, other).err()?)));
        let (other, error) = refused.expect("no memory lasts for ever");
        assert!(matches!(error, Error::Commit(CommitError::MemoryLimit { .. })), "{error}");
        inserted = other - 1;
    });
    assert!(highest <= LIMIT && inserted > 50_000, "{inserted} edges in {highest} bytes");
    assert_eq!(graph.snapshot().unwrap().degree(0_u64, Direction::Out).unwrap(), Some(inserted as usize));
}

/// The vertices are far apart. Each of them needs its own page of tables, which the number of operations does
/// not show.
#[test]
fn a_batch_over_many_pages_is_refused_before_it_makes_them() {
    let graph = limited().in_memory().unwrap();
    let far: Vec<(u64, u64)> = (0..20_000).map(|n| (n << 16, (n << 16) + 1)).collect();
    let highest = highest_while(&graph, || {
        let refused = graph.insert_edges(&far);
        assert!(matches!(refused, Err(Error::Commit(CommitError::MemoryLimit { .. }))), "{refused:?}");
    });
    assert!(highest <= LIMIT, "{highest} of {LIMIT}");
    assert_eq!(graph.snapshot().unwrap().vertex_count(), 0);
}
