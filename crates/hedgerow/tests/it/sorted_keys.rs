//! Tools and checkpoints of stores with more keys than the memory limit has room to sort.

use hedgerow::{Durability, Graph, LEAST_MEMORY_LIMIT, Options};
use hedgerow_testkit::SimFs;

const LIMIT: u64 = LEAST_MEMORY_LIMIT;
/// The number of vertices. A sort of their entries in memory takes 32 bytes each: more than the limit.
const VERTICES: u64 = 600_000;

fn options() -> Options {
    Options::new().durability(Durability::Manual).background_settling(false)
}

fn key(vertex: u64) -> u64 {
    vertex * 1_000_003
}

fn store() -> SimFs {
    let disk = SimFs::new();
    let graph = options().open_on(disk.handle()).unwrap();
    for begin in (0..VERTICES).step_by(1 << 16) {
        let mut tx = graph.write().unwrap();
        for vertex in begin..VERTICES.min(begin + (1 << 16)) {
            tx.insert_vertex(key(vertex)).unwrap();
        }
        tx.commit().unwrap();
    }
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    disk
}

/// Calls `f`, and checks that the account stays within the limit during the call.
fn watched<R>(what: &str, graph: &Graph, f: impl FnOnce() -> R) -> R {
    graph.internals().most_memory_used();
    let done = f();
    let most = graph.internals().most_memory_used();
    assert!(most <= LIMIT, "{what}: {most} bytes of {LIMIT}");
    done
}

fn has_all_keys(what: &str, disk: &SimFs) {
    // A file that a crash leaves.
    disk.put("seg-00000000000000ff-0000000000000001.tmp", b"sorted keys");
    let graph = options().open_on(disk.handle()).unwrap();
    let snapshot = graph.snapshot().unwrap();
    assert_eq!(snapshot.vertex_count(), VERTICES, "{what}");
    for vertex in (0..VERTICES).step_by(997) {
        assert!(snapshot.contains_vertex(key(vertex)).unwrap(), "{what}: {vertex}");
        assert!(!snapshot.contains_vertex(key(vertex) + 1).unwrap(), "{what}: {vertex}");
    }
    let report = graph.check().unwrap();
    assert!(report.is_ok(), "{what}: {report:?}");
    let left: Vec<String> = disk.files().into_keys().filter(|name| name.ends_with(".tmp")).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

#[test]
fn keys_are_sorted_within_the_limit() {
    let disk = store();
    let graph = options().memory_limit(LIMIT).open_on(disk.handle()).unwrap();
    let copy = SimFs::new();
    watched("backup", &graph, || graph.backup_on(copy.handle()).unwrap());
    watched("compact", &graph, || graph.compact().unwrap());
    graph.close().unwrap();
    has_all_keys("backup", &copy);
    has_all_keys("compact", &disk);
}
