//! A store several times as large as its limit, in a control group with little more memory than the limit.
//! The system kills a process that takes more memory, even if the store's account shows less. If no such
//! group is possible, the test prints a line.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use hedgerow::{Direction, Durability, Graph, KernelView, KeyKind, LEAST_MEMORY_LIMIT, Options, VertexId};
use hedgerow_kernels::{BfsConfig, PageRankConfig, SsspConfig};
use hedgerow_testkit::{explored, skipped};
use hedgerow_workload::rng::Rng;

/// The variable with the child's arguments: `STORE GROUP LIMIT`. The limit is 0 for no limit.
const CHILD: &str = "HEDGEROW_SYSTEM_LIMITED";
const VERTICES: u64 = 1 << 16;
const EDGES: usize = 3_200_000;
/// The memory of the group in addition to 110% of the limit: the program, its stacks, and memory that the
/// allocator keeps.
const BESIDE: u64 = 32 << 20;
/// The size of the arrays of the largest kernel, by vertex. PageRank has two scores and a degree; shortest
/// paths have a distance, a parent and buckets.
const KERNEL_BYTES: u64 = 64 * VERTICES;

fn options() -> Options {
    Options::new().keys(KeyKind::Dense).directed(false).weighted(true).durability(Durability::Manual)
}

/// A control group of this test. Its drop removes the group.
pub(crate) struct Group(pub(crate) PathBuf);

impl Group {
    /// Makes a group below the group of this process, or below the root of the hierarchy, of version 1 or 2.
    pub(crate) fn new(bytes: u64) -> Result<Group, String> {
        let own = std::fs::read_to_string("/proc/self/cgroup").map_err(|e| e.to_string())?;
        let mut why = "no hierarchy of control groups bounds memory".to_owned();
        for line in own.lines() {
            let mut parts = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
            let (mount, file) = match controllers {
                "" => ("/sys/fs/cgroup", "memory.max"),
                _ if controllers.split(',').any(|one| one == "memory") => {
                    ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
                }
                _ => continue,
            };
            for above in [Path::new(mount).join(path.trim_start_matches('/')), PathBuf::from(mount)] {
                match Group::below(&above, file, bytes) {
                    Ok(group) => return Ok(group),
                    Err(error) => why = error,
                }
            }
        }
        Err(why)
    }

    fn below(above: &Path, file: &str, bytes: u64) -> Result<Group, String> {
        // In version 2, a group has this file only if its parent group enables the controller. If the parent
        // already does, this write changes nothing.
        let _ = std::fs::write(above.join("cgroup.subtree_control"), "+memory");
        let group = Group(above.join(format!("hedgerow-test-{}-{bytes}", std::process::id())));
        let fails = |e: std::io::Error| format!("{}: {e}", group.0.display());
        std::fs::create_dir(&group.0).map_err(fails)?;
        if !group.0.join(file).exists() {
            return Err(format!("{} has no {file}", group.0.display()));
        }
        std::fs::write(group.0.join(file), bytes.to_string()).map_err(fails)?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // The system removes a group after its last process has ended, which may take a moment.
        for _ in 0..50 {
            if std::fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }
}

/// Returns the bytes that `/proc/self/status` reports under a name.
pub(crate) fn told(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("what the system tells of this process");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("a line of that name");
    let kib = line.trim_start_matches(':').trim().trim_end_matches("kB").trim();
    kib.parse::<u64>().expect("a number") << 10
}

/// Opens the store, reads all parts of it, and changes a hundredth of the edges in one range. Without a limit
/// it loads everything.
#[test]
fn child() {
    let Ok(part) = std::env::var(CHILD) else { return };
    let words: Vec<&str> = part.split(' ').collect();
    let [store, group, limit] = words[..] else { panic!("{part}") };
    std::fs::write(Path::new(group).join("cgroup.procs"), std::process::id().to_string()).expect("the group");
    let limit: u64 = limit.parse().expect("a number");
    let (before, program) = (told("VmRSS"), told("RssFile"));
    if limit == 0 {
        let graph = options().open(store).expect("the store opens");
        graph.snapshot().and_then(|snapshot| snapshot.default_label().view().map(drop)).expect("all is read");
        return;
    }
    let graph = options().memory_limit(limit).open(store).expect("the store opens");
    read_and_write(&graph, limit);
    graph.close().expect("all is written");
    // This measures before the kernels run, because the limit excludes their arrays and buffers. With
    // kernels, only the group bounds the memory.
    let (highest, now) = (told("VmHWM"), told("RssFile"));
    // The resident pages of the program increase while it runs more of its code.
    let program = now.saturating_sub(program);
    let grown = highest - before - program;
    println!("limit {limit}, resident growth {grown}, and {program} of the program");
    assert!(grown <= limit + limit / 10, "grown by {grown} bytes under a limit of {limit}");
    let graph = options().memory_limit(limit).open(store).expect("the store opens again");
    run_kernels(&graph, limit);
    graph.close().expect("all is written");
    println!("with kernels {}", told("VmHWM") - before);
}

fn read_and_write(graph: &Graph, limit: u64) {
    let snapshot = graph.snapshot().expect("open");
    let edges = snapshot.edge_count().expect("counted");
    let (mut rng, mut sum) = (Rng::new(7), 0);
    for v in (0..VERTICES).step_by(3) {
        sum += snapshot.degree(v, Direction::Out).expect("read").unwrap_or(0) as u64;
        let far = rng.below(VERTICES);
        sum += snapshot.degree(far, Direction::Out).expect("read").unwrap_or(0) as u64;
        assert!(graph.memory_bytes() <= limit, "{} of {limit}", graph.memory_bytes());
    }
    let mean = 2 * edges / VERTICES;
    assert!(sum / (2 * VERTICES / 3) > mean / 2, "{sum} is too little for {edges} edges");
    let mut new = 0;
    for _ in 0..EDGES / 100 {
        new += u64::from(graph.insert_edge((rng.below(2048), rng.below(2048), 0.5)).expect("written"));
    }
    assert!(graph.memory_bytes() <= limit, "{} of {limit}", graph.memory_bytes());
    assert_eq!(graph.snapshot().and_then(|now| now.edge_count()).expect("counted"), edges + new);
}

/// Runs four kernels by pages, and a scan of all edges. It calls each kernel directly: the registry would
/// compile all kernels into this program.
fn run_kernels(graph: &Graph, limit: u64) {
    let snapshot = graph.snapshot().expect("open");
    let edges = snapshot.edge_count().expect("counted");
    let view = KernelView::new(&snapshot, "").expect("a view");
    let KernelView::Tiered(view) = view else { panic!("a view in memory within {limit} bytes") };
    hedgerow_kernels::bfs(&view, VertexId(1), &BfsConfig::default()).expect("by the page");
    hedgerow_kernels::sssp(&view, VertexId(1), &SsspConfig::default()).expect("by the page");
    hedgerow_kernels::wcc(&view).expect("by the page");
    let three = PageRankConfig { iterations: 3, ..PageRankConfig::default() };
    hedgerow_kernels::pagerank(&view, &three).expect("by the page");
    let mut found = 0;
    snapshot.default_label().for_each_edge(|_, _, _| found += 1).expect("scanned");
    assert_eq!(found, edges);
}

fn run(store: &Path, group: &Group, limit: u64) -> ExitStatus {
    Command::new(std::env::current_exe().expect("this program"))
        .args(["group::child", "--exact", "--nocapture"])
        .env(CHILD, format!("{} {} {limit}", store.display(), group.0.display()))
        .status()
        .expect("a child")
}

/// Makes the store of the test, and returns its bytes in memory after settling.
fn stored(store: &Path) -> u64 {
    let graph = options().open(store).expect("a new store");
    let mut rng = Rng::new(3);
    for _ in 0..EDGES / 200_000 {
        let edge = |_| (rng.below(VERTICES), rng.below(VERTICES), 1.5);
        let edges: Vec<(u64, u64, f64)> = (0..200_000).map(edge).collect();
        let mut tx = graph.write().expect("open");
        tx.put_edges(edges).expect("put");
        tx.commit().expect("committed");
    }
    graph.settle().expect("settled");
    let settled = graph.memory_bytes();
    graph.checkpoint().expect("on the disk");
    graph.close().expect("all is written");
    settled
}

#[test]
fn a_store_larger_than_its_limit_lives_in_a_group_of_that_size() {
    if let Err(reason) = Group::new(1 << 30) {
        return skipped("memory bounded by a control group", reason);
    }
    let dir = tempfile::tempdir().expect("a temporary directory");
    let store = dir.path().join("store");
    let settled = stored(&store);
    let mut lived = 0;
    for share in [2, 4] {
        let limit = settled / share;
        assert!(limit >= LEAST_MEMORY_LIMIT, "{settled} bytes are too few for this test");
        let bytes = limit + limit / 10 + KERNEL_BYTES + BESIDE;
        let group = Group::new(bytes).expect("as before");
        let status = run(&store, &group, limit);
        assert!(status.success(), "limit {limit} of {settled}, group of {bytes}: {status}");
        lived += 1;
        if share == 4 {
            // The control: without a limit the store does not fit into the same group.
            let status = run(&store, &group, 0);
            assert!(!status.success(), "a group of {bytes} bytes holds a store of {settled}");
        }
    }
    explored("limits kept in a control group", lived, 2);
}
