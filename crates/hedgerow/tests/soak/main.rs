//! A long run of everything at once: writers of single operations, batches, removals and properties, long
//! readers, traversals, checkpoints, settling, compaction, backups. During the run, memory and files stay
//! bounded. The graph equals the model, and the store can be opened again. An ordinary run takes a few
//! seconds; a deep run takes its configured time.
#![allow(missing_docs, reason = "a test program")]
#![allow(clippy::disallowed_methods, reason = "sizes of files are looked up beside the store")]

#[path = "../common/mod.rs"]
mod common;
mod load;

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hedgerow::{Durability, Graph, Options, Stats};
use hedgerow_testkit::{Effort, FOR_EVER, Model, explored};

use load::{CONFIG, Counts, Writer};

const WRITERS: u64 = 3;
/// The time of work between two comparisons, and the minimum number of transactions. Without the minimum, the
/// graph on a busy machine would not reach its size in the warm-up phases.
const PHASE: Duration = Duration::from_millis(1_500);
const LEAST_COMMITS: u64 = 300;
/// The number of phases after which memory and files must not grow further.
const WARM_UP: usize = 3;
const PHASES: u64 = 7;
const MOST_PHASES: usize = 40;
/// The minimum counts of work.
const LONG_READS: u64 = 10;
const BACKUPS: u64 = 3;
/// The growth that is allowed after the warm-up, in addition to a half. It covers regions and log segments.
const SLACK_BYTES: u64 = 512 << 10;

const LOG_SEGMENT_BYTES: u64 = 256 << 10;
const LOG_BYTES: u64 = 1 << 20;
/// The allowance for running transactions, and for bytes written before a due checkpoint begins.
const LOG_SLACK_BYTES: u64 = 512 << 10;

fn options() -> Options {
    let options = common::options(CONFIG).background_settling(true).durability(Durability::Sync);
    options.log_segment_bytes(LOG_SEGMENT_BYTES).checkpoint_log_bytes(LOG_BYTES)
}

/// The sizes that are measured while no thread works.
#[derive(Clone, Copy, Debug, Default)]
struct Sizes {
    /// The memory that the store reports.
    memory: u64,
    /// The memory that the allocator reports; it excludes the blocks of the arena.
    heap: u64,
    files: u64,
    edges: u64,
}

#[global_allocator]
static ALLOCATOR: peak_alloc::PeakAlloc = peak_alloc::PeakAlloc;

fn file_bytes(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).expect("the directory").flatten();
    entries.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
}

fn measure(graph: &Graph, dir: &Path) -> Sizes {
    let stats = graph.stats().expect("figures");
    let heap = ALLOCATOR.current_usage() as u64;
    Sizes { memory: stats.memory_bytes(), heap, files: file_bytes(dir), edges: stats.edges }
}

impl Sizes {
    fn max(self, other: Sizes) -> Sizes {
        Sizes {
            memory: self.memory.max(other.memory),
            heap: self.heap.max(other.heap),
            files: self.files.max(other.files),
            edges: self.edges.max(other.edges),
        }
    }

    /// True if no size exceeds the allowed variation.
    fn is_within(self, warm: Sizes) -> bool {
        let most = |bytes: u64| bytes + bytes / 2 + SLACK_BYTES;
        self.memory <= most(warm.memory) && self.heap <= most(warm.heap) && self.files <= most(warm.files)
    }
}

/// Checks the bounds that must hold at every moment of the work.
fn watch(stats: &Stats) {
    let most = 2 * LOG_BYTES + LOG_SEGMENT_BYTES + LOG_SLACK_BYTES;
    assert!(stats.log_bytes <= most, "a log of {} bytes, {most} allowed", stats.log_bytes);
    assert!(stats.segments <= 8, "{} segments", stats.segments);
    assert_eq!((stats.failed_checkpoints, stats.failed_settlings), (0, 0));
}

/// Runs one phase of work.
fn phase(graph: &Graph, writers: &mut [Writer], counts: &Counts, seed: u64) {
    let (over, until) = (AtomicBool::new(false), Instant::now() + PHASE);
    let enough = counts.commits.load(Ordering::Relaxed) + LEAST_COMMITS;
    let give_up = Instant::now() + FOR_EVER;
    std::thread::scope(|scope| {
        let over = &over;
        for writer in &mut *writers {
            scope.spawn(move || writer.work(graph, over, counts));
        }
        scope.spawn(move || load::long_reads(graph, over, counts, seed));
        scope.spawn(move || load::traversals(graph, over, counts));
        scope.spawn(move || load::upkeep(graph, over, counts, seed));
        let lacks = || counts.commits.load(Ordering::Relaxed) < enough && Instant::now() < give_up;
        while Instant::now() < until || lacks() {
            std::thread::sleep(Duration::from_millis(50));
            watch(&graph.stats().expect("figures"));
            counts.samples.fetch_add(1, Ordering::Relaxed);
        }
        over.store(true, Ordering::Relaxed);
    });
}

fn compare(graph: &Graph, writers: &[Writer]) {
    let mut expected = Model::new(CONFIG);
    writers.iter().for_each(|writer| expected.merge(&writer.model));
    common::same(&graph.snapshot().expect("a snapshot"), CONFIG, &expected).unwrap_or_else(|e| panic!("{e}"));
    common::sound(graph).unwrap_or_else(|e| panic!("{e}"));
}

#[test]
fn mixed_load_leaves_memory_and_files_bounded() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("store");
    let mut graph = options().open(&path).expect("a store");
    common::rich::define_all(&graph).expect("definitions");
    let counts = Counts::default();
    let (mut warm, mut phases) = (Sizes::default(), 0);
    let effort = Effort::rounds(PHASES);
    let first = effort.next_seed().expect("a round");
    let mut writers: Vec<Writer> = (0..WRITERS).map(|w| Writer::new(first, w)).collect();
    let mut next = Some(first);
    while let Some(seed) = next {
        phase(&graph, &mut writers, &counts, seed);
        compare(&graph, &writers);
        // After every third phase the store is closed and reopened. Its memory then differs much, but its
        // graph is the same.
        if phases % 3 == 2 {
            graph.close().expect("a close");
            drop(graph);
            graph = options().open(&path).expect("the store opens again");
            compare(&graph, &writers);
        }
        graph.checkpoint().expect("a checkpoint");
        graph.settle().expect("settling");
        let now = measure(&graph, &path);
        if phases < WARM_UP {
            warm = warm.max(now);
        } else {
            assert!(now.is_within(warm), "phase {phases}: {now:?}, after warming up {warm:?}");
        }
        println!("phase {phases}: {now:?}");
        phases += 1;
        // More phases run if slow reads and backups left too few of them.
        let lacks = |count: &AtomicU64, floor| count.load(Ordering::Relaxed) < floor;
        let wanted = lacks(&counts.long_reads, LONG_READS) || lacks(&counts.backups, BACKUPS);
        next = effort.next_seed_while(wanted && phases < MOST_PHASES);
    }
    graph.close().expect("a close");
    counts.print();
    explored("transactions of a soak", counts.commits.load(Ordering::Relaxed), 2_000);
    explored("long reads of a soak", counts.long_reads.load(Ordering::Relaxed), LONG_READS);
    explored("backups of a soak, opened and compared", counts.backups.load(Ordering::Relaxed), BACKUPS);
}
