//! The store refuses a blind batch after it has read chains from files, or merged them. The reasons: a read
//! failed, the log has no room for the record, or memory has no room. The batch leaves nothing, in memory and
//! in the pages that later reads load.

use hedgerow::{
    CommitError, Direction, Durability, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, Options, Snapshot, Stats,
    StorageError, VertexId,
};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use hedgerow_testkit::{FOR_EVER, SimFs};

use crate::common::account;

/// The number of vertex ids of a subgraph, the number of existing vertices in it, and the number of neighbors
/// of each vertex in its subgraph on either side.
const SUBGRAPH: u64 = 64;
const THERE: u64 = 56;
const REACH: u64 = 24;
/// The vertex of each subgraph whose list the test reads.
const AT: u64 = 3;
const SUBGRAPHS: u64 = 400;
/// The number of subgraphs that a batch changes.
const CHANGED: u64 = 100;

fn options() -> Options {
    let options = Options::new().keys(KeyKind::Dense).directed(false).weighted(true);
    // No thread makes room or settles concurrently with the test. The log has no reserved space for records
    // larger than this segment size.
    let options = options.durability(Durability::Manual).background_settling(false).checkpoint_log_bytes(0);
    options.log_segment_bytes(4096)
}

/// Returns the edges from each vertex to the vertex `reach` places on, within the first `subgraphs`
/// subgraphs.
fn edges_that_reach(reach: u64, subgraphs: u64) -> Vec<(u64, u64)> {
    let of_subgraph =
        |s: u64| (0..THERE).map(move |v| (s * SUBGRAPH + v, s * SUBGRAPH + (v + reach) % THERE));
    (0..subgraphs).flat_map(of_subgraph).collect()
}

fn store() -> SimFs {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    for reach in 1..=REACH {
        graph.insert_edges(edges_that_reach(reach, SUBGRAPHS)).unwrap();
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

/// Returns the edges from an existing vertex of a subgraph to all its missing vertices. A batch of these
/// edges also inserts these vertices.
fn edges_in(subgraph: u64) -> impl Iterator<Item = (u64, u64)> {
    let first = subgraph * SUBGRAPH;
    (THERE..SUBGRAPH).map(move |v| (first + AT, first + v))
}

/// The number of edges of [`edges_in`].
const NEW: u64 = SUBGRAPH - THERE;

fn batch(graph: &Graph, subgraphs: u64) -> hedgerow::Result<()> {
    let mut tx = graph.write()?;
    tx.put_edges((0..subgraphs).flat_map(edges_in))?;
    tx.commit().map(drop)
}

/// Checks that a snapshot has no edge and no vertex of a batch, and that each subgraph has its earlier lists.
fn is_as_before(snapshot: &Snapshot, what: &str) {
    let counts = (snapshot.vertex_count(), snapshot.edge_count().unwrap());
    assert_eq!(counts, (SUBGRAPHS * THERE, SUBGRAPHS * THERE * REACH), "{what}");
    for subgraph in 0..SUBGRAPHS {
        for (_, new) in edges_in(subgraph) {
            assert!(!snapshot.contains_vertex(new).unwrap(), "{what}: {new}");
        }
        let (at, mut found) = (VertexId((subgraph * SUBGRAPH + AT) as u32), Vec::new());
        let list = |v: VertexId, weight| found.push((u64::from(v.0), weight));
        snapshot.default_label().for_each_neighbor(at, Direction::Out, list).unwrap();
        let near = (1..=REACH).flat_map(|reach| [AT + reach, AT + THERE - reach]);
        let mut expected: Vec<_> = near.map(|v| (subgraph * SUBGRAPH + v % THERE, 1.0)).collect();
        for list in [&mut found, &mut expected] {
            list.sort_by_key(|(v, _)| *v);
        }
        assert_eq!(found, expected, "{what}: {at:?}");
    }
}

/// A graph with no list in memory, and a snapshot that stays open all the time.
struct Tested {
    graph: Graph,
    held: Snapshot,
    empty: Stats,
}

impl Tested {
    fn new(disk: &SimFs) -> Tested {
        let graph = options().memory_limit(LEAST_MEMORY_LIMIT).open_on(disk.handle()).unwrap();
        let held = graph.snapshot().unwrap();
        is_as_before(&held, "opened");
        // This loads each page once. From now on the store reads single chains.
        remove_nothing(&graph);
        graph.internals().evict().unwrap();
        let empty = graph.stats().unwrap();
        assert_eq!(empty.versions, 0, "{empty:?}");
        Tested { graph, held, empty }
    }

    /// Checks that a refused batch left nothing: in memory, and in the data that later reads load.
    fn has_nothing_of_it(&self, what: &str) {
        let (graph, read_back) = (&self.graph, format!("{what}, read back"));
        for what in [what, &read_back] {
            is_as_before(&self.held, what);
            is_as_before(&graph.snapshot().unwrap(), what);
            account::check(graph).unwrap();
            graph.internals().evict().unwrap();
        }
        // Nothing changed, so the store can evict everything. The account no longer charges the memory that
        // the commit reserved.
        let stats = graph.stats().unwrap();
        let of =
            |stats: &Stats| (stats.versions, stats.version_bytes, stats.arena_block_bytes, stats.published);
        assert_eq!(of(&stats), of(&self.empty), "{what}: {stats:?}");
        assert!(stats.memory_bytes() <= LEAST_MEMORY_LIMIT);
    }
}

/// Loads the pages that a batch needs: it removes edges that do not exist.
fn remove_nothing(graph: &Graph) {
    let mut tx = graph.write().unwrap();
    tx.remove_edges((0..CHANGED).flat_map(edges_in)).unwrap();
    tx.commit().unwrap();
}

#[test]
fn a_batch_that_is_refused_midway_leaves_nothing() {
    let disk = store();
    let tested = Tested::new(&disk);
    let graph = &tested.graph;
    // The first read, some in the middle, the last read: one block for each subgraph.
    for nth in [0, 1, CHANGED / 2, CHANGED - 1] {
        let (class, repeat) = (FaultClass::Read, Repeat::Once);
        let at = disk.read_count() + nth;
        disk.plan_fault(Fault { class, at, site: Some("read:csr"), repeat, errno: errno::EIO });
        let refused = batch(graph, CHANGED);
        assert!(matches!(refused, Err(Error::Storage(StorageError::Io { .. }))), "read {nth}: {refused:?}");
        tested.has_nothing_of_it(&format!("read {nth} failed"));
    }
    disk.set_quota(Some(disk.used_bytes()));
    let refused = batch(graph, CHANGED);
    assert!(matches!(refused, Err(Error::Commit(CommitError::DiskFull))), "{refused:?}");
    tested.has_nothing_of_it("the log had no room");
    disk.set_quota(None);
    // All subgraphs, with the results of their merges, need more memory than the limit; no thread writes
    // checkpoints.
    let refused = batch(graph, SUBGRAPHS);
    assert!(matches!(refused, Err(Error::Commit(CommitError::MemoryLimit { .. }))), "{refused:?}");
    tested.has_nothing_of_it("memory had no room");
    // The batch succeeds once nothing fails. None of its edges and vertices exists before.
    batch(graph, CHANGED).unwrap();
    let made = |graph: &Graph| {
        let snapshot = graph.snapshot().unwrap();
        let counts = (snapshot.vertex_count(), snapshot.edge_count().unwrap());
        assert_eq!(counts, (SUBGRAPHS * THERE + CHANGED * NEW, SUBGRAPHS * THERE * REACH + CHANGED * NEW));
        for subgraph in 0..SUBGRAPHS {
            let is_made = |(src, dst)| snapshot.contains_edge((src, dst)).unwrap();
            assert_eq!(
                edges_in(subgraph).filter(|&edge| is_made(edge)).count() as u64,
                if subgraph < CHANGED { NEW } else { 0 }
            );
        }
        assert!(graph.check().unwrap().is_ok());
    };
    made(graph);
    is_as_before(&tested.held, "the snapshot that is held");
    graph.close().unwrap();
    made(&options().open_on(disk.handle()).unwrap());
}

/// Without files nothing can leave memory for a batch. The store refuses the batch once its merges fill the
/// limit, and frees the merges.
#[test]
fn a_batch_whose_merges_memory_has_no_room_for_leaves_nothing() {
    let graph = options().memory_limit(LEAST_MEMORY_LIMIT).in_memory().unwrap();
    let (mut reach, mut before) = (1, graph.stats().unwrap());
    let begun = std::time::Instant::now();
    let refused = loop {
        match graph.insert_edges(edges_that_reach(reach, SUBGRAPHS)) {
            Ok(new) => {
                assert_eq!(new, SUBGRAPHS * THERE);
                reach += 1;
            }
            Err(error) if before.old_version_bytes + graph.stats().unwrap().old_version_bytes == 0 => {
                break error;
            }
            // A walk of another test in the same process keeps unlinked versions, so the test retries after
            // the walk.
            Err(error) => assert!(begun.elapsed() < FOR_EVER, "{error}: {:?}", graph.stats()),
        }
        before = graph.stats().unwrap();
    };
    let Error::Commit(CommitError::MemoryLimit(shortage)) = refused else { panic!("{refused:?}") };
    assert!(shortage.needed > shortage.available(), "{shortage:?}");
    let lists = |graph: &Graph| {
        let snapshot = graph.snapshot().unwrap();
        let degrees = (0..SUBGRAPHS * SUBGRAPH).map(|v| snapshot.degree(v, Direction::Out).unwrap());
        (snapshot.vertex_count(), snapshot.edge_count().unwrap(), degrees.flatten().sum::<usize>() as u64)
    };
    let edges = SUBGRAPHS * THERE * (reach - 1);
    assert_eq!(lists(&graph), (SUBGRAPHS * THERE, edges, 2 * edges));
    let after = graph.stats().unwrap();
    // A list may have merged the entries of its delta, 12 bytes for each entry. Otherwise the lists are as
    // before, except for a few bytes at their ends. A leftover merge of one subgraph would be tens of
    // thousands of bytes.
    let folded = 12 * (before.delta_entries - after.delta_entries);
    assert_eq!((after.versions, after.old_version_bytes), (before.versions, 0));
    let differs = after.main_bytes.abs_diff(before.main_bytes + folded);
    assert!(differs < 4096, "{after:?}, before {before:?}");
    account::check(&graph).unwrap();
    // A smaller batch succeeds.
    assert_eq!(graph.insert_edges(edges_that_reach(reach, 9)).unwrap(), 9 * THERE);
    let (edges, more) = (edges + 9 * THERE, 2 * (edges + 9 * THERE));
    assert_eq!(lists(&graph), (SUBGRAPHS * THERE, edges, more));
    assert!(graph.check().unwrap().is_ok());
}
