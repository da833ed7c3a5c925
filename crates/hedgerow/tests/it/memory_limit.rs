//! The limit of the memory of a store.

use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{
    CommitError, Direction, Durability, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, OpenError, Options,
    StateError, Value,
};
use hedgerow_testkit::{FOR_EVER, SimFs};
use hedgerow_workload::rng::Rng;

use crate::common::account;

const LIMIT: u64 = LEAST_MEMORY_LIMIT;

fn limited(limit: u64) -> Options {
    let options = Options::new().keys(KeyKind::Dense).directed(false).memory_limit(limit);
    // Only the checkpoints that the test requests: `backpressure` tests the other ones.
    options.durability(Durability::Manual).checkpoint_log_bytes(0)
}

/// Inserts random edges one by one until the store refuses one; returns the number of inserted edges and the
/// error.
fn fill(graph: &Graph, seed: u64) -> (u64, Error) {
    let mut rng = Rng::new(seed);
    for inserted in 0.. {
        if let Err(error) = account::insert_edge_once_freed(graph, rng.below(1 << 16), rng.below(1 << 16)) {
            return (inserted, error);
        }
    }
    unreachable!("no memory lasts for ever")
}

#[test]
fn a_limit_refuses_what_does_not_fit_and_nothing_else() {
    let disk = SimFs::new();
    let graph = limited(LIMIT).open_on(disk.handle()).unwrap();
    assert_eq!(graph.stats().unwrap().memory_limit, LIMIT);
    let (inserted, error) = fill(&graph, 1);
    let Error::Commit(CommitError::MemoryLimit(shortage)) = error else { panic!("{error}") };
    assert!(shortage.limit == LIMIT && shortage.needed > shortage.available(), "{shortage:?}");
    assert!(inserted > 200_000, "{inserted} edges in {LIMIT} bytes");
    let stats = account::check(&graph).unwrap();
    assert!(stats.memory_bytes() <= LIMIT, "{stats:?}");
    // Reads, settling, checkpoints and closing go on; commits go on once there is room again.
    let edges = graph.snapshot().unwrap().edge_count().unwrap();
    let degrees =
        (0..1_u64 << 16).filter_map(|v| graph.snapshot().unwrap().degree(v, Direction::Out).unwrap());
    assert!(degrees.sum::<usize>() as u64 <= 2 * edges);
    graph.settle().unwrap();
    assert!(graph.memory_bytes() <= LIMIT, "{}", graph.memory_bytes());
    graph.checkpoint().unwrap();
    assert!(account::insert_edge_once_freed(&graph, 1 << 20, 1).unwrap(), "a checkpoint made room");
    graph.close().unwrap();
    // The same limit is enough to open the store that it allowed. A smaller limit is refused, and the message
    // contains the limit that is enough.
    let graph = limited(LIMIT).open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges + 1);
    graph.close().unwrap();
}

#[test]
fn a_log_that_does_not_fit_is_not_replayed_and_says_what_would_do() {
    let disk = SimFs::new();
    let graph = limited(8 * LIMIT).open_on(disk.handle()).unwrap();
    let mut rng = Rng::new(3);
    for _ in 0..20 {
        let edges: Vec<(u64, u64)> = (0..100_000).map(|_| (rng.below(1 << 17), rng.below(1 << 17))).collect();
        graph.insert_edges(&edges).unwrap();
    }
    graph.close().unwrap();
    for read_only in [false, true] {
        let open = |limit| limited(limit).read_only(read_only).open_on(disk.handle());
        let Err(Error::Open(OpenError::MemoryLimit { limit, least })) = open(LIMIT) else {
            panic!("a log of 2 M edges fits {LIMIT} bytes");
        };
        assert!(limit == LIMIT && least > LIMIT && least < 8 * LIMIT);
        assert!(open(least).unwrap().check().unwrap().is_ok());
    }
    // The store loads data of a checkpoint when it needs it; `opening` tests which calls it refuses then.
    limited(8 * LIMIT).open_on(disk.handle()).unwrap().checkpoint().unwrap();
    limited(LIMIT).open_on(disk.handle()).unwrap();
}

/// Changes all over a graph several times as large as its limit, until they fill the limit. The log touches
/// nearly all pages, but few chains of each page. The store opens again within the limit, read-only and for
/// writing, with all of these changes.
#[test]
fn a_log_that_was_written_within_a_limit_is_replayed_within_it() {
    const VERTICES: u64 = 1 << 17;
    let disk = SimFs::new();
    let options = |limit| limited(limit).weighted(true).directed(true);
    let graph = options(8 * LIMIT).open_on(disk.handle()).unwrap();
    for round in 1..=16 {
        let edge = |v: u64| (v, (v * 5 + round * 4099) % VERTICES, round as f64);
        graph.transact(1, |tx| tx.put_edges((0..VERTICES).map(edge))).unwrap();
    }
    graph.checkpoint().unwrap();
    let whole = graph.memory_bytes();
    assert!(whole > 3 * LIMIT, "{whole} bytes are too few for this test");
    graph.close().unwrap();

    let graph = options(LIMIT).open_on(disk.handle()).unwrap();
    let (mut rng, mut changed) = (Rng::new(9), Vec::new());
    loop {
        let (a, b) = (rng.below(VERTICES), rng.below(VERTICES));
        let done = match changed.len() % 3 {
            0 => graph
                .remove_edge((a, (a * 5 + 4099) % VERTICES))
                .map(|_| (a, (a * 5 + 4099) % VERTICES, None)),
            _ => graph.insert_edge((a, b, -1.0)).map(|_| (a, b, Some(-1.0))),
        };
        match done {
            Ok(edge) => changed.push(edge),
            Err(Error::Commit(CommitError::MemoryLimit { .. })) => break,
            Err(error) => panic!("{error}"),
        }
    }
    let edges = graph.snapshot().unwrap().edge_count().unwrap();
    graph.close().unwrap();
    assert!(changed.len() > 200, "{} changes", changed.len());
    for read_only in [true, false] {
        let graph = options(LIMIT).read_only(read_only).open_on(disk.handle()).unwrap();
        account::check(&graph).unwrap();
        assert!(graph.memory_bytes() <= LIMIT, "{}", graph.memory_bytes());
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.edge_count().unwrap(), edges);
        let latest: std::collections::BTreeMap<(u64, u64), _> =
            changed.iter().map(|&(a, b, weight)| ((a, b), weight)).collect();
        for (&(a, b), weight) in &latest {
            let found = snapshot.default_label().weight_between(a, b).unwrap();
            assert!(
                weight.is_none_or(|_| found.is_some()) && (weight.is_some() || found.is_none()),
                "{a} {b}"
            );
            // Reads load the unchanged lists from the files.
            let other = (a + 64) % VERTICES;
            assert!(snapshot.degree(other, Direction::Out).unwrap().is_some_and(|degree| degree > 8));
        }
        assert!(graph.check().unwrap().is_ok());
        // A checkpoint writes the replayed changes, together with the lists that no read has loaded.
        if !read_only {
            graph.checkpoint().unwrap();
        }
    }
    let graph = options(8 * LIMIT).open_on(disk.handle()).unwrap();
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), edges);
    assert!(graph.check().unwrap().is_ok());
}

#[test]
fn limits_below_the_least_and_transactions_above_a_quarter_are_refused() {
    for limit in [0, 1, LIMIT - 1] {
        let Err(Error::Open(OpenError::MemoryLimit { limit: found, least })) = limited(limit).in_memory()
        else {
            panic!("{limit} bytes are enough");
        };
        assert_eq!((found, least), (limit, LIMIT));
    }
    assert!(limited(u64::MAX).in_memory().unwrap().insert_edge((1, 2)).unwrap());
    let graph = limited(LIMIT).in_memory().unwrap();
    let most = LIMIT / 4 / 64;
    let edges = |count: u64| (0..count).map(|v| (v, v + 1)).collect::<Vec<_>>();
    let Err(Error::Commit(CommitError::TooLarge { needed, most: bytes })) =
        graph.insert_edges(edges(most + 1))
    else {
        panic!("more than a quarter of the limit in one transaction");
    };
    assert!(needed > bytes && bytes == LIMIT / 4);
    assert_eq!(graph.insert_edges(edges(most)).unwrap(), most);
    graph.close().unwrap();
    assert!(matches!(graph.insert_edge((1, 2)), Err(Error::State(StateError::Closed))));
}

/// A batch over the whole graph makes the next version of every subgraph before it releases the older
/// version. The batch finds out that they do not fit before it draws a timestamp.
#[test]
fn a_batch_that_merges_more_than_fits_is_refused_whole() {
    let graph = limited(LIMIT).background_settling(false).in_memory().unwrap();
    let mut rng = Rng::new(11);
    let random = |rng: &mut Rng, count: usize| -> Vec<(u64, u64)> {
        (0..count).map(|_| (rng.below(1 << 13), rng.below(1 << 13))).collect()
    };
    let (mut refused, mut on_the_way, mut highest) = (0, 0, 0);
    let begun = std::time::Instant::now();
    // More rounds if a walk of another test keeps unlinked versions: then twelve refusals in a row may all
    // come before the merges.
    while refused < 12 || (on_the_way == 0 && begun.elapsed() < FOR_EVER) {
        let before = graph.snapshot().unwrap().edge_count().unwrap();
        // The store accepts small batches nearer to the limit.
        let count = if refused % 2 == 0 { 20_000 } else { 4_000 };
        match graph.insert_edges(random(&mut rng, count)) {
            Ok(new) => assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), before + new),
            Err(Error::Commit(CommitError::MemoryLimit(shortage))) => {
                // The number of edges alone needs less memory.
                on_the_way += u64::from(shortage.needed > count as u64 * 64);
                assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), before);
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
        highest = highest.max(account::check(&graph).unwrap().memory_bytes());
    }
    assert!(on_the_way > 0 && highest <= LIMIT, "{on_the_way} refused on the way; {highest} of {LIMIT}");
    assert!(graph.check().unwrap().is_ok());
    graph.settle().unwrap();
    assert!(account::insert_edge_once_freed(&graph, 1 << 20, 1).unwrap());
}

/// The account stays within the limit under concurrent writers and views.
#[test]
fn writers_and_views_stay_within_the_limit() {
    let graph = limited(2 * LIMIT).durability(Durability::Manual).in_memory().unwrap();
    let highest = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for seed in 0..3 {
            let graph = &graph;
            scope.spawn(move || {
                let (_, error) = fill(graph, seed);
                assert!(matches!(error, Error::Commit(CommitError::MemoryLimit { .. })), "{error}");
            });
        }
        scope.spawn(|| {
            for _ in 0..200 {
                let snapshot = graph.snapshot().unwrap();
                highest.fetch_max(graph.stats().unwrap().memory_bytes(), Ordering::Relaxed);
                assert!(snapshot.neighbors(1, Direction::Out).is_ok());
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
        });
    });
    let highest = highest.into_inner().max(graph.stats().unwrap().memory_bytes());
    assert!(highest <= 2 * LIMIT, "{highest} of {}", 2 * LIMIT);
}

/// Each commit adds edges with two numbers to most chains of a graph that nearly fills the limit. When the
/// commits are applied, the deltas of these chains take memory for the numbers.
#[test]
fn properties_of_a_commit_are_within_the_limit() {
    const VERTICES: u64 = 1 << 16;
    let disk = SimFs::new();
    let mut rng = Rng::new(5);
    let mut commit = |graph: &Graph, edges: u64| {
        let edge = |n| (rng.below(VERTICES), rng.below(VERTICES), [Value::I64(n as i64), Value::I64(7)]);
        let edges: Vec<_> = (0..edges).map(edge).collect();
        graph.transact(1, |tx| tx.put_edges_with("", &["n", "m"], edges.clone()))
    };
    let graph = limited(8 * LIMIT).open_on(disk.handle()).unwrap();
    (0..5).for_each(|_| _ = commit(&graph, 25_000).unwrap());
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    let graph = Options::new().memory_limit(LIMIT).open_on(disk.handle()).unwrap();
    let mut refused = 0;
    for round in 0..30 {
        match commit(&graph, 6_000) {
            Ok(_) => {}
            Err(Error::Commit(CommitError::MemoryLimit { .. })) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        let most = graph.internals().most_memory_used();
        assert!(most <= LIMIT, "round {round}: {most} of {LIMIT}, {refused} refused");
    }
    assert!((1..25).contains(&refused), "{refused} refused");
}
