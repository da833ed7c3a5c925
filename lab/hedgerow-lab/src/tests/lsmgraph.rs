//! The suite on LSMGraph, its forms and switches, and properties that the suite does not check: files that
//! cannot be read or written, and the place of the files.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hedgerow_core::{Direction, DynamicGraph, GraphSnapshot, Resident, Topology, Update, VertexId};
use hedgerow_testkit::conformance::dynamic::memory_returns;
use hedgerow_testkit::is_deep;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, SimFs, errno};

use super::{SEQUENCES, all_histories, all_sequences, conforms, conforms_alone, finds, form, many_histories};
use crate::LabError;
use crate::lsmgraph::{LevelIndex, LsmGraph, LsmGraphOptions, MemoryCache, PlainLsmGraph, VersionedLsmGraph};
use crate::planted::{Planted, sound};

/// Returns options with small buffers and segments. Even small graphs then have all levels.
fn small() -> LsmGraphOptions {
    LsmGraphOptions {
        memory_bytes: 4096,
        first_level_files: 2,
        size_ratio: 2,
        segment_bytes: 3000,
        cache_bytes: 64 << 10,
        ..LsmGraphOptions::default()
    }
}

/// Makes a graph with its files in memory. On disk, these tests would spend most of their time on making and
/// removing files.
fn in_memory(directed: bool, weighted: bool, options: &LsmGraphOptions) -> LsmGraph {
    LsmGraph::with_fs(form(directed, weighted), options.clone(), SimFs::new().handle())
}

fn lsmgraph(directed: bool, weighted: bool) -> LsmGraph {
    in_memory(directed, weighted, &small())
}

/// Makes a graph in which nearly each transaction fills a buffer.
fn tiny(directed: bool, weighted: bool) -> LsmGraph {
    in_memory(directed, weighted, &LsmGraphOptions { memory_bytes: 256, ..small() })
}

#[test]
fn lsmgraph_conforms() {
    let _sound = sound();
    conforms("lsmgraph", lsmgraph, SEQUENCES);
    conforms_alone("lsmgraph, defaults", |d, w| LsmGraph::new(form(d, w)), SEQUENCES / 5);
    all_histories(tiny);
}

#[test]
fn lsmgraph_for_one_user_conforms() {
    let _sound = sound();
    conforms_alone("lsmgraph, plain", |d, w| PlainLsmGraph::with_options(form(d, w), small()), SEQUENCES / 5);
    conforms_alone(
        "lsmgraph, versions",
        |d, w| VersionedLsmGraph::with_options(form(d, w), small()),
        SEQUENCES / 5,
    );
}

#[test]
fn switches_of_lsmgraph_conform() {
    let _sound = sound();
    for options in [
        LsmGraphOptions { memory_cache: MemoryCache::ArrayOnly, ..small() },
        LsmGraphOptions { memory_cache: MemoryCache::SkipListOnly, ..small() },
        LsmGraphOptions { level_index: LevelIndex::Ranges, ..small() },
        LsmGraphOptions { level_index: LevelIndex::BloomFilters, ..small() },
        LsmGraphOptions { level_index: LevelIndex::BloomFilters, edge_filters: false, ..small() },
        LsmGraphOptions { edge_filters: false, cache_bytes: 0, ..small() },
    ] {
        conforms_alone("lsmgraph, switches", |d, w| in_memory(d, w, &options), SEQUENCES / 10);
    }
    let ranges = LsmGraphOptions { level_index: LevelIndex::Ranges, ..small() };
    all_histories(|d, w| in_memory(d, w, &ranges));
}

#[test]
fn faults_of_lsmgraph_are_found() {
    let faults = [
        Planted::MarkersDropped,
        Planted::MergeForgetsReaders,
        Planted::ArrayLosesLast,
        Planted::LastEdgeNotInFilter,
        Planted::LastVertexNotMoved,
    ];
    for fault in faults {
        finds(fault, || assert!(all_sequences(lsmgraph, SEQUENCES) > 0));
    }
    // Only threads that meet in a short interval find these faults: at once, or after minutes.
    if is_deep() {
        for fault in [Planted::VersionBeforeTimestamp, Planted::RegisteringReaderMissed] {
            finds(fault, || many_histories(tiny));
        }
    }
    finds(Planted::MarkersKept, || memory_returns(lsmgraph));
    finds(Planted::FailureKept, fail_to_read);
}

/// Makes a graph whose file system fails on demand. Its levels have edges: 40 weighted edges for each of 40
/// vertices.
fn in_levels(fs: &SimFs, options: LsmGraphOptions) -> LsmGraph {
    let graph = LsmGraph::with_fs(form(true, true), options, fs.handle());
    for v in 0..40 {
        let edges: Vec<_> = (0..40).map(|u| (VertexId(v), VertexId(u), f64::from(v + u))).collect();
        graph.insert_edges(&edges).expect("the file system works");
    }
    graph.reclaim().expect("the file system works");
    graph
}

fn fail(fs: &SimFs, class: FaultClass) {
    let fault = Fault { class, at: 0, site: None, repeat: Repeat::Forever, errno: errno::EIO };
    fs.plan_fault(fault);
}

#[test]
fn what_cannot_be_read_is_an_error_and_changes_nothing() {
    let _sound = sound();
    fail_to_read();
}

fn fail_to_read() {
    let fs = SimFs::new();
    let graph = in_levels(&fs, LsmGraphOptions { cache_bytes: 0, memory_bytes: 64 << 10, ..small() });
    let (first, last, new) = (VertexId(0), VertexId(39), VertexId(70));
    let snapshot = graph.snapshot().expect("a snapshot");
    fail(&fs, FaultClass::Read);
    // The first two changes need memory only.
    let updates = [
        Update::InsertEdge(new, VertexId(71), 1.0),
        Update::RemoveVertex(VertexId(72)),
        Update::InsertEdge(last, first, 5.0),
    ];
    for _ in 0..2 {
        let error = graph.write(&updates).expect_err("the file cannot be read");
        assert!(matches!(error, LabError::Disk { op: "read", .. }), "{error}");
    }
    assert!(graph.write(&[Update::RemoveVertex(first)]).is_err());
    let read = catch_unwind(AssertUnwindSafe(|| snapshot.search_edge(last, first)));
    assert!(read.is_err(), "rather no answer than a wrong one");
    fs.clear_faults();
    let later = graph.snapshot().expect("a snapshot");
    for snapshot in [&snapshot, &later] {
        assert_eq!((snapshot.vertex_count(), snapshot.edge_count()), (40, 1600));
        assert_eq!(
            (snapshot.search_edge(last, first), snapshot.search_edge(new, VertexId(71))),
            (Some(39.0), None)
        );
        assert!(!snapshot.contains(new) && snapshot.degree(last, Direction::Out) == 40);
        assert!(snapshot.neighbors(new, Direction::Out).is_empty());
    }
    assert!(later.timestamp() > snapshot.timestamp(), "a failed transaction has a timestamp");
    let written = graph.write(&updates).expect("the file can be read");
    assert_eq!((written.vertices, written.edges), (2, 1));
    assert_eq!(graph.snapshot().expect("a snapshot").search_edge(last, first), Some(5.0));
}

#[test]
fn what_cannot_be_written_is_an_error_of_writers() {
    let _sound = sound();
    let fs = SimFs::new();
    let graph = in_levels(&fs, small());
    fail(&fs, FaultClass::Change);
    let mut edges = (0..).map(|u| (VertexId(u % 40), VertexId(100 + u)));
    let failed = edges.by_ref().take(10_000).position(|(v, u)| graph.insert_edge(v, u, 1.0).is_err());
    let inserted = failed.expect("the buffers become full") as u64;
    assert!(graph.insert_edge(VertexId(0), VertexId(1), 9.0).is_err() && graph.reclaim().is_err());
    let snapshot = graph.snapshot().expect("a snapshot");
    assert_eq!(snapshot.edge_count(), 1600 + inserted);
    let degrees = (0..40).map(|v| snapshot.degree(VertexId(v), Direction::Out) as u64).sum::<u64>();
    let listed = (0..40).map(|v| snapshot.neighbors(VertexId(v), Direction::Out).len() as u64).sum::<u64>();
    assert_eq!((degrees, listed), (1600 + inserted, 1600 + inserted));
}

/// The directory exists as long as the graph and its snapshots. A file exists as long as a reader can read
/// it.
#[test]
fn files_go_with_those_who_read_them() {
    let _sound = sound();
    let parent = tempfile::tempdir().expect("a directory");
    let entries = || parent.path().read_dir().expect("the directory can be read").count();
    let options = LsmGraphOptions { directory: Some(parent.path().to_owned()), ..small() };
    let graph = LsmGraph::with_options(form(false, false), options);
    assert_eq!((entries(), graph.disk_bytes()), (0, 0));
    let edges: Vec<_> = (0..2000).map(|i| (VertexId(i % 50), VertexId(100 + i / 50), 1.0)).collect();
    for edges in edges.chunks(40) {
        graph.insert_edges(edges).expect("valid edges");
    }
    assert!(entries() == 1 && graph.disk_bytes() > 0);
    let snapshot = graph.snapshot().expect("a snapshot");
    for v in 0..50 {
        assert!(graph.remove_vertex(VertexId(v)).expect("a valid vertex"));
    }
    graph.reclaim().expect("the files can be written");
    assert!(graph.disk_bytes() > 0, "the snapshot reads them");
    assert_eq!(snapshot.degree(VertexId(7), Direction::Out), 40);
    assert_eq!(snapshot.neighbors(VertexId(7), Direction::Out).len(), 40);
    drop(snapshot);
    graph.reclaim().expect("the files can be written");
    assert_eq!((graph.disk_bytes(), graph.levels().iter().map(|level| level.1).sum::<usize>()), (0, 0));
    let last = graph.snapshot().expect("a snapshot");
    drop(graph);
    assert_eq!((last.edge_count(), entries()), (0, 1));
    drop(last);
    assert_eq!(entries(), 0);
}

/// Levels fill up to the sizes that the ratio gives. Each list is in one place of a level, and a search finds
/// edges in lists of several blocks.
#[test]
fn levels_grow_by_the_ratio() {
    let _sound = sound();
    let graph = LsmGraph::with_options(
        form(true, false),
        LsmGraphOptions { memory_bytes: 32 << 10, segment_bytes: 4 << 10, ..small() },
    );
    let far = |i: u32| VertexId(i.wrapping_mul(2_654_435_761) % (1 << 20));
    for i in 0..20_000 {
        graph.insert_edge(VertexId(i % 3), far(i), 1.0).expect("a valid edge");
    }
    graph.reclaim().expect("the files can be written");
    let edges = graph.snapshot().expect("a snapshot").edge_count();
    let filled: Vec<usize> = graph.levels().iter().map(|level| level.1).collect();
    assert_eq!((filled.iter().sum::<usize>() as u64, filled[0]), (2 * edges, 0));
    let snapshot = graph.snapshot().expect("a snapshot");
    assert!((0..20_000).all(|i| snapshot.search_edge(VertexId(i % 3), far(i)).is_some()));
    let lists = (0..3).map(|v| snapshot.neighbors(VertexId(v), Direction::Out));
    assert_eq!(lists.map(|list| list.len() as u64).sum::<u64>(), edges);
    for i in (0..20_000).step_by(2) {
        graph.remove_edge(VertexId(i % 3), far(i)).expect("a valid edge");
    }
    let later = graph.snapshot().expect("a snapshot");
    let listed = (0..3).map(|v| later.neighbors(VertexId(v), Direction::Out).len() as u64).sum::<u64>();
    assert_eq!((listed, snapshot.edge_count()), (later.edge_count(), edges));
    assert!((0..20_000).all(|i| snapshot.search_edge(VertexId(i % 3), far(i)).is_some()));
}
