//! Tools on stores four times as large as the memory limit: their reports and files equal those without a
//! limit, in bounded memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use hedgerow::{
    CheckReport, Direction, Durability, EdgeKey, Error, Graph, KeyKind, LEAST_MEMORY_LIMIT, LabelOptions,
    Options, PropertyType, StorageError, Value, ValueRef, VertexId,
};
use hedgerow_core::{LabelId, LocalVertex};
use hedgerow_io::Vfs;
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{SimFs, is_deep};
use hedgerow_tier::{
    AdjacencyPart, LevelSegment, Manifest, PageId, SegmentReader, SegmentWriter, SubgraphImage, TierError,
};

use crate::common;

pub(crate) const LIMIT: u64 = LEAST_MEMORY_LIMIT;
pub(crate) const VERTICES: u64 = 16 * 4096;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Directed,
    Undirected,
    /// Undirected, with a label that has parallel edges with properties.
    Labels,
}

const KINDS: [Kind; 3] = [Kind::Directed, Kind::Undirected, Kind::Labels];

impl Kind {
    fn options(self) -> Options {
        let options = common::small().keys(KeyKind::Dense).directed(self == Kind::Directed).weighted(true);
        options.durability(Durability::Manual).background_settling(false)
    }

    fn edges(self) -> u64 {
        if self == Kind::Labels { 2_000_000 } else { 2_800_000 }
    }
}

/// Opens a copy of the files, so that the next call finds the original files.
pub(crate) fn open(kind: Kind, disk: &SimFs, limit: Option<u64>) -> Graph {
    let options = limit.into_iter().fold(kind.options(), Options::memory_limit);
    options.open_on(SimFs::from_files(&disk.files()).handle()).unwrap()
}

fn store_of(kind: Kind) -> SimFs {
    let disk = SimFs::new();
    let graph = kind.options().open_on(disk.handle()).unwrap();
    let mut rng = SplitMix64::new(9);
    let mut edge = || {
        let a = if rng.below(128) == 0 { rng.below(4) * 9_000 } else { rng.below(VERTICES) };
        (a, rng.below(VERTICES / 64) * 64 + rng.below(60))
    };
    for _ in 0..kind.edges() >> 16 {
        let edges: Vec<(u64, u64)> = (0..1 << 16).map(|_| edge()).collect();
        let mut tx = graph.write().unwrap();
        let weighted = edges.iter().map(|&(a, b)| (a, b, ((a + 3 * b) % 97) as f64));
        tx.put_edges(weighted).unwrap();
        tx.commit().unwrap();
    }
    if kind == Kind::Labels {
        let seconds = LabelOptions::new().multi(true).property("seconds", PropertyType::I64);
        graph.define_label("calls", seconds).unwrap();
        for _ in 0..10 {
            let mut tx = graph.write().unwrap();
            for n in 0..40_000_u64 {
                let (a, b) = edge();
                let call = EdgeKey::new("calls", a, b).rank(n % 5);
                tx.put_edge_with(call, [("seconds", Value::I64((a ^ b) as i64))]).unwrap();
            }
            tx.commit().unwrap();
        }
    }
    graph.compact().unwrap();
    graph.close().unwrap();
    disk
}

fn images(disk: &SimFs, mut f: impl FnMut(SubgraphImage)) -> Manifest {
    let fs: Arc<dyn Vfs> = disk.handle();
    let manifest = Manifest::look(&fs).unwrap().unwrap().manifest;
    let [segment] = &manifest.segments[..] else { panic!("one segment") };
    let reader = SegmentReader::open(fs, &segment.info, manifest.store).unwrap();
    for at in 0..reader.page_count() {
        let mut of_page = Vec::new();
        let read = reader.read_page(
            at,
            |_| true,
            |image| {
                of_page.push(image);
                Ok::<(), TierError>(())
            },
        );
        read.unwrap();
        of_page.sort_by_key(|image| image.id);
        of_page.into_iter().for_each(&mut f);
    }
    manifest
}

fn bytes_of(image: &SubgraphImage) -> u64 {
    let each = |part: &AdjacencyPart| {
        let words = usize::from(part.weights.is_some()) + usize::from(part.ranks.is_some());
        part.neighbors.len() * (4 + 8 * words) + part.columns.bytes()
    };
    image.parts.iter().map(each).sum::<usize>() as u64
}

/// Returns the bytes of the largest image, and the bytes of all images on the largest page.
fn largest(disk: &SimFs) -> (u64, u64) {
    let (mut image, mut pages) = (0, std::collections::BTreeMap::<PageId, u64>::new());
    images(disk, |it| {
        image = image.max(bytes_of(&it));
        *pages.entry(it.id.page()).or_default() += bytes_of(&it);
    });
    (image, pages.into_values().max().unwrap())
}

/// Writes the segment anew, with the false images that `change` makes.
fn forge(disk: &SimFs, mut change: impl FnMut(&mut SubgraphImage)) {
    let fs: Arc<dyn Vfs> = disk.handle();
    let mut next = Manifest::look(&fs).unwrap().unwrap().manifest;
    let file_id = next.next_file_id;
    let mut writer = SegmentWriter::create(fs.clone(), file_id, next.store, next.config).unwrap();
    images(disk, |mut image| {
        change(&mut image);
        image.with_ref(|image| writer.write(image)).unwrap();
    });
    next.sequence += 1;
    next.next_file_id.0 += 1;
    next.segments = vec![LevelSegment { level: 0, info: writer.finish().unwrap() }];
    next.store(&fs).unwrap();
    next.remove_older(&fs).unwrap();
}

fn remove_entry(part: &mut AdjacencyPart, local: usize) {
    let at = part.offsets[local] as usize;
    part.neighbors.remove(at);
    part.weights.as_mut().map(|weights| weights.remove(at));
    part.offsets[local + 1..].iter_mut().for_each(|end| *end -= 1);
}

/// Makes the first edge of a list lead to the previous vertex. The number of entries must stay, because an
/// opening compares it with the manifest.
fn turn_entry(part: &mut AdjacencyPart, local: usize) {
    if let Some(first) = part.neighbors.get_mut(part.offsets[local] as usize) {
        first.0 = first.0.saturating_sub(1);
    }
}

/// Changes one of the two copies of some edges: changes its weight or its rank, or removes it. Adds to
/// `named` the start of the problem in which a check names the other copy.
fn make_sides_differ(kind: Kind, image: &mut SubgraphImage, changed: &mut [u64; 4], named: &mut Vec<String>) {
    let id = image.id.subgraph;
    let mut name = |part: &AdjacencyPart, local: usize, at: usize| {
        let (v, dst) = (id.vertex(LocalVertex(local as u8)), part.neighbors[at]);
        let there = match part.direction {
            Direction::Out if kind == Kind::Directed => Direction::In,
            _ => Direction::Out,
        };
        let rank = part.ranks.as_ref().map_or(0, |ranks| ranks[at]);
        if dst != v {
            named.push(format!("vertex number {}, {there:?}: edge with {} rank {rank}: it", dst.0, v.0));
        }
    };
    let of = id.0 % 151;
    let (last, default) = (image.parts.len() - 1, image.id.label == LabelId::DEFAULT);
    // A list that is not short: vertices lose edges, and keep some.
    let long = |part: &AdjacencyPart| (0..64).find(|&local| part.neighbors_of(local).len() > 2);
    match of {
        3 if default => {
            let part = &mut image.parts[last];
            let Some(local) = long(part) else { return };
            let at = part.offsets[local] as usize;
            name(part, local, at);
            part.weights.as_mut().unwrap()[at] += 0.5;
            changed[0] += 1;
        }
        5 if default && last > 0 => {
            let part = &mut image.parts[last];
            let Some(local) = long(part) else { return };
            name(part, local, part.offsets[local] as usize);
            remove_entry(part, local);
            changed[1] += 1;
        }
        7 if default => {
            let part = &mut image.parts[0];
            let Some(local) = long(part) else { return };
            name(part, local, part.offsets[local] as usize);
            turn_entry(part, local);
            changed[2] += 1;
        }
        11 if !default => {
            let part = &mut image.parts[0];
            let Some(local) = long(part) else { return };
            let at = part.offsets[local + 1] as usize - 1;
            name(part, local, at);
            if let Some(ranks) = &mut part.ranks {
                ranks[at] += 1_000;
                changed[3] += 1;
            }
        }
        _ => {}
    }
}

/// Sets the flag when it is dropped, also by a panic.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

/// Calls `f`, and reads the account of the store meanwhile; also returns the highest number of bytes.
fn watched<R>(graph: &Graph, f: impl FnOnce() -> R) -> (R, u64) {
    let (over, most) = (AtomicBool::new(false), AtomicU64::new(0));
    let done = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Relaxed) {
                most.fetch_max(graph.stats().unwrap().memory_bytes(), Relaxed);
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
        });
        let _over = Over(&over);
        f()
    });
    (done, most.into_inner())
}

/// Reads edges until memory is full: the store loads a chain after several recent reads.
pub(crate) fn fill(graph: &Graph) {
    let snapshot = graph.snapshot().unwrap();
    for v in (0..VERTICES).step_by(61) {
        (0..10).for_each(|_| _ = snapshot.degree(v, Direction::Out).unwrap());
    }
}

fn problems(report: &CheckReport) -> Vec<String> {
    let mut problems = report.problems.clone();
    problems.sort_unstable();
    problems
}

/// Returns the stores of all tests. A store takes long to make, so its first use makes it.
pub(crate) fn stores() -> impl Iterator<Item = (&'static Kind, &'static SimFs)> {
    static STORES: [std::sync::OnceLock<SimFs>; 3] = [const { std::sync::OnceLock::new() }; 3];
    KINDS.iter().zip(&STORES).map(|(kind, store)| (kind, store.get_or_init(|| store_of(*kind))))
}

/// Returns the stores of these kinds; a deep run uses all stores.
fn stores_of(kinds: &[Kind]) -> impl Iterator<Item = (&'static Kind, &'static SimFs)> {
    stores().filter(|(kind, _)| kinds.contains(kind) || is_deep())
}

#[test]
fn a_store_larger_than_its_limit_is_checked_within_it() {
    for (kind, disk) in stores() {
        let whole = open(*kind, disk, None);
        common::load_lists(&whole).unwrap();
        let expected = whole.check().unwrap();
        let settled = whole.stats().unwrap();
        assert!(expected.is_ok(), "{expected:?}");
        let settled = settled.memory_bytes() - settled.view_bytes;
        assert!(settled >= 7 * LIMIT / 2, "{kind:?}: {settled} bytes, {LIMIT} allowed");
        drop(whole);
        let graph = open(*kind, disk, Some(LIMIT));
        fill(&graph);
        let before = graph.stats().unwrap();
        let (report, most) = watched(&graph, || graph.check().unwrap());
        assert_eq!(report, expected, "{kind:?}");
        let bound = LIMIT + largest(disk).0 + LIMIT / 64 + (256 << 10);
        assert!(most <= bound, "{kind:?}: {most} of {bound}");
        let after = graph.stats().unwrap();
        assert_eq!(after.table_bytes, before.table_bytes, "{kind:?}: a check loads no page");
        assert!(after.arena_block_bytes <= before.arena_block_bytes, "{kind:?}: and no list");
    }
}

#[test]
fn a_check_names_the_edges_whose_copies_differ_in_memory_and_in_files() {
    for (kind, disk) in stores_of(&[Kind::Directed, Kind::Labels]) {
        let (disk, mut changed, mut named) = (SimFs::from_files(&disk.files()), [0; 4], Vec::new());
        forge(&disk, |image| {
            if !image.parts.is_empty() {
                make_sides_differ(*kind, image, &mut changed, &mut named);
            }
        });
        let wanted = [true, *kind == Kind::Directed, true, *kind == Kind::Labels];
        assert!(changed.iter().zip(wanted).all(|(&n, wanted)| (n > 1) == wanted), "{kind:?}: {changed:?}");
        let whole = open(*kind, &disk, None);
        common::load_lists(&whole).unwrap();
        let expected = whole.check().unwrap();
        drop(whole);
        let is_named = |edge: &String| expected.problems.iter().any(|problem| problem.contains(edge));
        assert!(named.iter().all(is_named) && expected.problems.len() < 100, "{named:?}: {expected:?}");
        let graph = open(*kind, &disk, Some(LIMIT));
        fill(&graph);
        let (report, most) = watched(&graph, || graph.check().unwrap());
        assert_eq!(problems(&report), problems(&expected), "{kind:?}");
        let bound = LIMIT + largest(&disk).0 + LIMIT / 64 + LIMIT / 16 + (256 << 10);
        assert!(most <= bound, "{kind:?}: {most} of {bound}");
    }
}

#[test]
fn damage_is_an_error_of_a_check() {
    let (kind, disk) = stores().next().unwrap();
    let disk = SimFs::from_files(&disk.files());
    let segment = disk.files().keys().find(|name| name.ends_with(".csr")).unwrap().clone();
    let at = disk.files()[&segment].len() as u64 / 2;
    let graph = kind.options().memory_limit(LIMIT).open_on(disk.handle()).unwrap();
    assert!(disk.corrupt(&segment, at, 4));
    let damaged = graph.check();
    let Err(Error::Storage(StorageError::Corruption(damage))) = damaged else { panic!("{damaged:?}") };
    assert!(damage.file == segment && damage.offset <= at && damage.offset > at / 2, "{damage}");
    assert!(disk.corrupt(&segment, at, 4), "the same bit again");
    assert!(graph.check().unwrap().is_ok());
}

/// Returns the sums over a scan of all labels.
fn content(graph: &Graph) -> (u64, u64) {
    let snapshot = graph.snapshot().unwrap();
    let (mut edges, mut mixed) = (0, 0_u64);
    for label in snapshot.schema().labels() {
        let property = label.property("seconds").map(|property| property.id());
        let edge = |row: hedgerow::EdgeRow<'_>| {
            edges += 1;
            let seconds = match property.map(|property| row.get(property)) {
                Some(ValueRef::I64(n)) => n as u64,
                _ => 7,
            };
            let of: [VertexId; 2] = [row.src(), row.dst()];
            let ends = u64::from(of[0].0) << 32 | u64::from(of[1].0);
            let rest = row.weight().to_bits() ^ seconds << 20 ^ row.rank() << 3;
            mixed = mixed.wrapping_add((ends ^ rest.rotate_left(17)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        };
        snapshot.for_each_edge(label.id(), edge).unwrap();
    }
    (edges, mixed)
}

/// Makes changes to a few subgraphs, the same for every store of a kind. The changed lists stay in memory.
fn change(graph: &Graph) {
    let mut rng = SplitMix64::new(77);
    for _ in 0..4 {
        let mut tx = graph.write().unwrap();
        for _ in 0..60 {
            let (a, b) = (rng.below(16) * 4_000 + rng.below(64), rng.below(1_024));
            match rng.below(3) {
                0 => _ = tx.remove_edge((a, a % 64)).unwrap(),
                _ => tx.put_edge((a, b)).unwrap(),
            }
        }
        tx.commit().unwrap();
    }
}

#[test]
fn backups_checkpoints_and_compaction_keep_within_the_limit_and_lose_nothing() {
    for (kind, disk) in stores_of(&[Kind::Directed, Kind::Labels]) {
        let whole = open(*kind, disk, None);
        change(&whole);
        let expected = content(&whole);
        drop(whole);
        let page = largest(disk).1;
        // The images of one page, twice: as the tool reads them, and as it writes them. Then the buffers of
        // files, and the list of images.
        let bound = LIMIT + 2 * page + (2 << 20) + VERTICES / 64 * 64;
        let limited = SimFs::from_files(&disk.files());
        let graph = kind.options().memory_limit(LIMIT).open_on(limited.handle()).unwrap();
        let check = |what: &str, most: u64| assert!(most <= bound, "{kind:?}, {what}: {most} of {bound}");
        fill(&graph);
        // The eviction covers chains that were in memory, and pages that the store never loaded.
        let evicted = graph.internals().evict().unwrap();
        assert!(evicted > 100, "{kind:?}: {evicted}");
        change(&graph);
        let copy = SimFs::new();
        check("backup", watched(&graph, || graph.backup_on(copy.handle()).unwrap()).1);
        assert_eq!(content(&open(*kind, &copy, None)), expected, "{kind:?}: backup");
        check("checkpoint", watched(&graph, || graph.checkpoint().unwrap()).1);
        assert_eq!(content(&open(*kind, &limited, None)), expected, "{kind:?}: checkpoint");
        fill(&graph);
        let evicted = graph.internals().evict().unwrap();
        assert!(evicted > 30, "{kind:?}: {evicted}");
        check("compact", watched(&graph, || graph.compact().unwrap()).1);
        assert!(graph.check().unwrap().is_ok());
        graph.close().unwrap();
        let compacted = open(*kind, &limited, None);
        assert_eq!(content(&compacted), expected, "{kind:?}: compact");
        assert!(compacted.check().unwrap().is_ok(), "{kind:?}");
    }
}
