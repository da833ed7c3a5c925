//! The extremes of every number in the interface. A store with accepted values opens again. A refusal has the
//! name of the option, the value and the range.

use std::time::Duration;

use hedgerow::{
    ArgumentError, CommitError, Direction, Durability, EdgeKey, Error, Graph, KeyKind, LabelOptions, Options,
};
use hedgerow_testkit::SimFs;

/// Checks that a store with these options takes commits, closes, and still has the commits after an opening.
fn lasts(options: &Options) {
    let disk = SimFs::new();
    for round in 0..3 {
        let graph = options.clone().open_on(disk.handle()).unwrap_or_else(|e| panic!("{options:?}: {e}"));
        let before = graph.snapshot().unwrap().edge_count().unwrap();
        assert_eq!(before, round * 20, "{options:?}");
        for i in 0..20 {
            assert!(graph.insert_edge((round, 1_000 + i)).unwrap());
        }
        graph.flush().unwrap();
        graph.close().unwrap();
    }
}

/// Checks that every way to open refuses these options, and leaves nothing.
fn refused(options: &Options, name: &str, value: &str, range: [&str; 2]) {
    let folder = std::env::temp_dir().join(format!("hedgerow-refused-{}", std::process::id()));
    let disk = SimFs::new();
    let ways = [
        options.clone().in_memory(),
        options.clone().open_on(disk.handle()),
        options.clone().read_only(true).open_on(disk.handle()),
        options.clone().open(&folder),
    ];
    for way in ways {
        let Err(Error::Argument(ArgumentError::Invalid(text))) = way else {
            panic!("{options:?} are accepted")
        };
        for part in [name, value, range[0], range[1]] {
            assert!(text.contains(part), "{text} says nothing of {part}");
        }
    }
    assert!(!folder.exists(), "a refused opening made a directory");
}

#[test]
fn sizes_of_log_segments() {
    const MOST: u64 = 16 << 30;
    for bytes in [4096, 4097, 4103, MOST - 1, MOST] {
        lasts(&Options::new().log_segment_bytes(bytes));
    }
    for bytes in [0, 1, 4095, MOST + 1, 1 << 61, u64::MAX - 7, u64::MAX] {
        let options = Options::new().log_segment_bytes(bytes);
        refused(&options, "log_segment_bytes", &bytes.to_string(), ["4096", &MOST.to_string()]);
    }
}

#[test]
fn bounds_of_the_log() {
    for bytes in [0, 1, u64::MAX / 2, u64::MAX - 1, u64::MAX] {
        lasts(&Options::new().checkpoint_log_bytes(bytes));
        lasts(&Options::new().max_unsynced_bytes(bytes));
        lasts(
            &Options::new()
                .max_unsynced_bytes(bytes)
                .checkpoint_log_bytes(bytes)
                .durability(Durability::Manual),
        );
    }
}

#[test]
fn intervals_of_group_durability() {
    let (least, most) = (Duration::from_micros(1), Duration::from_secs(86_400));
    for interval in [least, Duration::from_millis(1), most] {
        lasts(&Options::new().durability(Durability::Group(interval)));
    }
    let tick = Duration::from_nanos(1);
    for interval in [Duration::ZERO, tick, least - tick, most + tick, Duration::MAX] {
        let options = Options::new().durability(Durability::Group(interval));
        let found = interval.as_secs_f64().to_string();
        refused(&options, "interval of group durability", &found, ["0.000001", "86400"]);
    }
}

/// The pipeline replaces a window outside of 1 to 64 by the nearest of these numbers.
#[test]
fn windows_of_pipelines() {
    for window in [0, 1, 3, 4, 63, 64, 65, usize::MAX] {
        let graph = Options::new().keys(KeyKind::Dense).in_memory().unwrap();
        let mut acknowledged = Vec::new();
        let mut pipeline =
            graph.pipeline(|ack| acknowledged.push((ack.ticket, ack.result.unwrap().edges))).unwrap();
        pipeline = pipeline.with_window(window);
        for i in 0..300 {
            pipeline.insert_edge(i % 7, 100 + i % 150).unwrap();
        }
        pipeline.flush().unwrap();
        drop(pipeline);
        assert!(acknowledged.iter().map(|&(ticket, _)| ticket).eq(0..300), "window {window}");
        let edges: i64 = acknowledged.iter().map(|&(_, edges)| edges).sum();
        assert_eq!(edges as u64, graph.snapshot().unwrap().edge_count().unwrap(), "window {window}");
    }
}

#[test]
fn retries_of_transactions() {
    let graph = Options::new().in_memory().unwrap();
    for retries in [0, 1, u32::MAX] {
        graph.transact(retries, |tx| tx.insert_edge((1, u64::from(retries)))).unwrap();
    }
    // Each attempt conflicts with a commit that came in the meantime.
    let mut attempts = 0;
    let outcome = graph.transact(2, |tx| {
        attempts += 1;
        let degree = tx.degree(1, Direction::Out)?.unwrap_or(0) as u64;
        graph.insert_edge((1, 1_000 + attempts))?;
        tx.put_edge((1, 2_000 + degree))
    });
    assert!(matches!(outcome, Err(Error::Commit(CommitError::Conflict { .. }))) && attempts == 3);
}

#[test]
fn numbers_of_keys_and_ranks() {
    let dense = Options::new().keys(KeyKind::Dense).in_memory().unwrap();
    let last = u64::from(u32::MAX) - 1;
    assert!(dense.insert_edge((0, last)).unwrap());
    for key in [last + 1, last + 2, u64::MAX] {
        assert!(matches!(
            dense.insert_edge((0, key)),
            Err(Error::Argument(ArgumentError::Invalid(_)) | Error::Argument(ArgumentError::TooLarge { .. }))
        ));
        assert!(dense.remove_edge((key, 0)).is_err());
        let mut tx = dense.write().unwrap();
        assert!(tx.remove_edges([(0, key)]).is_err() && tx.insert_vertex(key).is_err());
        assert!(!dense.snapshot().unwrap().contains_vertex(key).unwrap());
    }
    for graph in [dense, Options::new().in_memory().unwrap()] {
        graph.define_label("calls", LabelOptions::new().multi(true)).unwrap();
        let edge = |rank| EdgeKey::new("calls", 0, last).rank(rank);
        for rank in [0, u64::MAX - 1, u64::MAX] {
            graph.transact(0, |tx| tx.put_edge_with(edge(rank), [("seconds", i64::MIN)])).unwrap();
        }
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(snapshot.degree(0, ("calls", Direction::Out)).unwrap(), Some(3));
        assert!(snapshot.contains_edge(edge(u64::MAX)).unwrap() && !snapshot.contains_edge(edge(1)).unwrap());
    }
}

/// Incoming edges have no meaning in an undirected graph, so its configuration ignores the requested
/// `reverse`.
#[test]
fn an_undirected_graph_states_one_configuration() {
    for reverse in [true, false] {
        let options = Options::new().directed(false).reverse(reverse);
        let disk = SimFs::new();
        let state = |graph: Graph| {
            let config = graph.config();
            assert_eq!((config.directed, config.reverse), (false, true), "asked for reverse = {reverse}");
        };
        state(options.clone().in_memory().unwrap());
        state(options.clone().open_on(disk.handle()).unwrap());
        state(options.reverse(!reverse).open_on(disk.handle()).unwrap());
    }
}
