//! Backup and salvage.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{
    ArgumentError, Error, Graph, KeyKind, OpenError, SalvageReport, StorageError, VertexKey, salvage_on,
};
use hedgerow_testkit::{Generator, Model, ModelConfig, ModelOp, SegmentLayout, SimFs, explored, vertex_key};

use crate::common;

/// Makes a store with several segments and a log; also returns the state after each of its commits.
fn store(config: ModelConfig, seed: u64, close: bool) -> (SimFs, Vec<Model>) {
    let disk = SimFs::new();
    let graph = common::options(config).log_segment_bytes(4096).open_on(disk.handle()).unwrap();
    if config.rich {
        common::rich::define_all(&graph).unwrap();
    }
    let mut generator = Generator::new(config, seed, 0, 700);
    let mut model = Model::new(config);
    let mut states = Vec::new();
    for round in 0..12u64 {
        let mut tx = graph.write().unwrap();
        let ops = match round {
            0 => (0..640).map(|n| ModelOp::InsertVertex(vertex_key(config, n))).collect(),
            1 => generator.transaction(Some(&model), 800),
            _ => generator.transaction(Some(&model), 12),
        };
        for op in ops {
            model.apply(&op);
            common::apply(&mut tx, config.weighted, &op).unwrap();
        }
        tx.commit().unwrap();
        states.push(model.clone());
        if [2, 4, 6].contains(&round) {
            graph.checkpoint().unwrap();
        }
    }
    if close {
        graph.close().unwrap();
    }
    (disk, states)
}

fn opened(disk: &SimFs) -> Graph {
    let graph = crate::common::small().create(false).open_on(disk.handle()).unwrap();
    common::sound(&graph).unwrap();
    graph
}

pub(crate) fn a_backup_is_the_store_of_its_moment() {
    for (seed, config) in ModelConfig::all().flat_map(|all| [all, all.with_labels()]).enumerate() {
        let (disk, states) = store(config, seed as u64, true);
        let graph = common::options(config).open_on(disk.handle()).unwrap();
        let copy = SimFs::new();
        let done = graph.backup_on(copy.handle()).unwrap();
        let restored = opened(&copy);
        assert_eq!((restored.config(), restored.published_ts()), (graph.config(), done.timestamp));
        common::same(&restored.snapshot().unwrap(), config, states.last().unwrap()).unwrap();
        // The copy takes its own commits, and the original store does not change.
        let extra = ModelOp::InsertVertex(vertex_key(config, 699));
        let mut tx = restored.write().unwrap();
        common::apply(&mut tx, config.weighted, &extra).unwrap();
        tx.commit().unwrap();
        restored.close().unwrap();
        common::same(&graph.snapshot().unwrap(), config, states.last().unwrap()).unwrap();
        opened(&copy);
    }
}

pub(crate) fn a_backup_beside_writers_is_a_prefix() {
    let disk = SimFs::new();
    let graph = crate::common::small().keys(KeyKind::Dense).open_on(disk.handle()).unwrap();
    let over = AtomicBool::new(false);
    let mut checked = 0;
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // The commit `n` inserts the edge from n to n + 1.
            let mut n = 0u64;
            while !over.load(Ordering::SeqCst) {
                graph.insert_edge((n, n + 1)).unwrap();
                n += 1;
            }
        });
        for _ in 0..20 {
            let copy = SimFs::new();
            let done = graph.backup_on(copy.handle()).unwrap();
            let restored = opened(&copy);
            let snapshot = restored.snapshot().unwrap();
            assert_eq!(snapshot.edge_count().unwrap(), done.timestamp.0);
            assert!((0..done.timestamp.0).all(|n| snapshot.contains_edge((n, n + 1)).unwrap()));
            checked += 1;
        }
        over.store(true, Ordering::SeqCst);
        writer.join().unwrap();
    });
    explored("backups beside a writer", checked, 20);
}

pub(crate) fn a_backup_overwrites_nothing_and_cleans_up() {
    let graph = Graph::in_memory().unwrap();
    for v in 0..2000u64 {
        graph.insert_edge((v, v * 7 % 2000)).unwrap();
    }
    let taken = SimFs::new();
    taken.put("notes.txt", b"mine");
    assert!(matches!(graph.backup_on(taken.handle()), Err(Error::Argument(ArgumentError::Invalid(_)))));
    assert_eq!(taken.files().len(), 1);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("copy");
    graph.backup(&path).unwrap();
    assert!(
        matches!(graph.backup(&path), Err(Error::Argument(ArgumentError::Invalid(_)))),
        "twice to one place"
    );
    assert_eq!(Graph::open(&path).unwrap().snapshot().unwrap().edge_count().unwrap(), 2000);
    let (mut refused, mut done) = (0, 0);
    for quota in (0..80_000u64).step_by(1500) {
        let small = SimFs::new();
        small.set_quota(Some(quota));
        match graph.backup_on(small.handle()) {
            Ok(_) => done += 1,
            Err(Error::Storage(StorageError::DiskFull { .. } | StorageError::Io { .. })) => {
                refused += 1;
                assert!(small.files().keys().all(|name| name == "LOCK"), "{:?}", small.files().keys());
            }
            Err(error) => panic!("quota {quota}: {error}"),
        }
    }
    assert!(done > 0, "no backup fitted");
    explored("backups refused by a full disk", refused, 5);
}

/// Salvages `disk`; checks that `disk` does not change.
pub(crate) fn salvaged(disk: &SimFs) -> (SalvageReport, Graph) {
    let before = disk.files();
    let into = SimFs::new();
    let report = salvage_on(disk.handle(), into.handle()).unwrap();
    assert_eq!(disk.files(), before, "the old store was changed");
    let graph = opened(&into);
    assert_eq!(graph.snapshot().unwrap().vertex_count(), report.vertices);
    assert_eq!(graph.snapshot().unwrap().edge_count().unwrap(), report.edges);
    (report, graph)
}

fn names(disk: &SimFs, end: &str) -> Vec<String> {
    disk.files().keys().filter(|name| name.ends_with(end)).cloned().collect()
}

pub(crate) fn a_sound_store_is_salvaged_whole() {
    for (seed, config) in ModelConfig::all().enumerate() {
        for close in [true, false] {
            let (disk, states) = store(config, seed as u64, close);
            let (report, graph) = salvaged(&disk);
            assert!(report.is_whole(), "{config:?}: {report}");
            common::same_in_all_reads(&graph.snapshot().unwrap(), config, states.last().unwrap())
                .unwrap_or_else(|e| panic!("{config:?}: {e}"));
        }
    }
}

pub(crate) fn without_a_manifest_everything_else_is_found() {
    for (seed, config) in ModelConfig::all().filter(|config| !config.rich).enumerate() {
        let (disk, states) = store(config, 40 + seed as u64, true);
        for name in names(&disk, ".man") {
            if seed % 2 == 0 {
                disk.remove(&name);
            } else {
                disk.corrupt(&name, 100, 4);
            }
        }
        let (report, graph) = salvaged(&disk);
        common::same(&graph.snapshot().unwrap(), config, states.last().unwrap())
            .unwrap_or_else(|e| panic!("{config:?}: {e}, {report}"));
    }
}

pub(crate) fn a_damaged_log_is_read_on_behind_the_damage() {
    let config = ModelConfig { directed: true, weighted: true, keys: KeyKind::Str, rich: false };
    let (disk, states) = store(config, 7, true);
    let (mut tried, mut lost) = (0, 0);
    for name in names(&disk, ".wal") {
        let len = disk.files()[&name].len() as u64;
        for at in (0..len).step_by(31) {
            let damaged = SimFs::from_files(&disk.files());
            damaged.corrupt(&name, at, 1);
            let (report, graph) = salvaged(&damaged);
            assert!(!report.is_sound() && report.lost_commits <= 1, "{name} at {at}: {report}");
            // A damaged seal at the end may hide the last commits.
            let tail = report.losses.iter().any(|loss| loss.contains("never acknowledged"));
            assert_eq!(report.is_whole(), report.lost_commits == 0 && !tail, "{name} at {at}: {report}");
            if report.lost_commits == 0 {
                let last = states.last().unwrap();
                common::same(&graph.snapshot().unwrap(), config, last)
                    .unwrap_or_else(|e| panic!("{name} at {at}: {e}, {report}"));
            }
            lost += report.lost_commits;
            tried += 1;
        }
    }
    explored("damaged logs salvaged", tried, 30);
    explored("commits lost in them", lost, 15);
}

/// Damage anywhere in a segment: salvage returns all readable data, invents none, and reports all losses.
pub(crate) fn a_damaged_segment_loses_what_is_damaged() {
    let disk = SimFs::new();
    let graph = crate::common::small().directed(false).open_on(disk.handle()).unwrap();
    let edges: Vec<(u64, u64)> = (0..RING).map(|v| (v, (v + 1) % RING)).collect();
    graph.insert_edges(&edges).unwrap();
    graph.compact().unwrap();
    graph.close().unwrap();
    let name = names(&disk, ".csr").remove(0);
    let layout = SegmentLayout::of(&disk.files()[&name]).unwrap();
    assert!(layout.blocks.len() > 50 && layout.pages.len() > 4, "{layout:?}");
    let mut blocks = 0;
    for (number, block) in layout.blocks.iter().step_by(2).enumerate() {
        // In turns the head, the payload and the checksum.
        let at =
            [block.bytes.start, block.bytes.start + block.bytes.len() / 2, block.bytes.end - 1][number % 3];
        let lost = lost_subgraphs(&layout, at);
        assert!((1..80).contains(&lost.len()), "{lost:?}");
        salvage_ring(&disk, &name, at, &lost);
        blocks += 1;
    }
    // Salvage finds the positions of images without the directory, the top index, the footer or the header.
    let mut others = 0;
    for page in &layout.pages {
        let (entry, directory) = (&page.entry, &page.directory);
        for at in [entry.start, entry.end - 1, directory.start, directory.end - 16, directory.end + 7] {
            salvage_ring(&disk, &name, at, &BTreeSet::new());
            others += 1;
        }
    }
    let (top, footer) = (&layout.top_index, &layout.footer);
    for at in [0, 10, 30, 48, top.end - 8, footer.start + 20, footer.end - 100, footer.end - 16] {
        salvage_ring(&disk, &name, at, &BTreeSet::new());
        others += 1;
    }
    explored("damaged blocks", blocks, 25);
    explored("damaged directories, indexes, footers and headers", others, 30);
}

/// The number of vertices of a ring: 300 subgraphs.
const RING: u64 = 64 * 300;

/// Returns the subgraphs that have records in the block with this byte.
fn lost_subgraphs(layout: &SegmentLayout, at: usize) -> BTreeSet<u64> {
    let images = layout.pages.iter().flat_map(|page| &page.images);
    let lost = images.filter(|image| layout.is_in_blocks_of(image, at));
    lost.map(|image| u64::from(image.subgraph)).collect()
}

/// Salvages a ring with this byte damaged; checks that the result has all subgraphs except the lost ones.
fn salvage_ring(disk: &SimFs, name: &str, at: usize, lost: &BTreeSet<u64>) {
    let damaged = SimFs::from_files(&disk.files());
    damaged.corrupt(name, at as u64, 16);
    let (report, graph) = salvaged(&damaged);
    let what = || format!("at {at}, {lost:?}: {report}");
    assert!(!report.is_sound(), "{}", what());
    assert_eq!(report.is_whole(), lost.is_empty(), "{}", what());
    assert_eq!(report.lost_subgraphs, lost.len() as u64, "{}", what());
    let is_lost = |v: u64| lost.contains(&(v / 64));
    let snapshot = graph.snapshot().unwrap();
    let found: BTreeSet<VertexKey> = snapshot.vertices().unwrap().map(|vertex| vertex.unwrap().1).collect();
    let kept = (0..RING).filter(|v| !is_lost(*v)).map(VertexKey::U64);
    assert!(found.iter().cloned().eq(kept), "{}", what());
    // Salvage knows an edge with one lost end from its other end, and counts it.
    let ends_lost = |v: u64| usize::from(is_lost(v)) + usize::from(is_lost((v + 1) % RING));
    let edges_with = |ends: usize| (0..RING).filter(|v| ends_lost(*v) == ends).count() as u64;
    assert_eq!((report.edges, report.lost_edges), (edges_with(0), edges_with(1)), "{}", what());
    let all = (0..RING).filter(|v| ends_lost(*v) == 0);
    assert!(all.into_iter().all(|v| snapshot.contains_edge((v, (v + 1) % RING)).unwrap()), "{}", what());
}

pub(crate) fn what_is_missing_or_foreign_is_told() {
    let config = ModelConfig { directed: true, weighted: false, keys: KeyKind::U64, rich: false };
    let (disk, _) = store(config, 9, true);
    let mut tried = 0;
    for name in disk.files().into_keys().filter(|name| name != "LOCK" && name != "RESERVE") {
        for how in 0..3 {
            let damaged = SimFs::from_files(&disk.files());
            match how {
                0 => _ = damaged.remove(&name),
                1 => _ = damaged.truncate(&name, damaged.files()[&name].len() as u64 / 2),
                _ => damaged.put(&name, b"something else altogether, of another program"),
            }
            let (report, _) = salvaged(&damaged);
            assert!(!report.is_sound() || name.ends_with(".man"), "{name}, {how}: {report}");
            tried += 1;
        }
    }
    explored("stores with a file missing, cut or foreign", tried, 12);
    let nothing = SimFs::new();
    nothing.put("seg-0000000000000001.csr", b"nothing of ours");
    let refused = salvage_on(nothing.handle(), SimFs::new().handle());
    assert!(matches!(refused, Err(Error::Open(OpenError::NotAStore { .. }))), "{refused:?}");
    let full = SimFs::new();
    full.put("mine", b"x");
    assert!(matches!(
        salvage_on(disk.handle(), full.handle()),
        Err(Error::Argument(ArgumentError::Invalid(_)))
    ));
}

/// The image of a hub takes many blocks, and a piece in one of them is damaged. Salvage knows the edges of
/// the hub from their other ends. It saves them if the key of a vertex is its number, and counts them if the
/// key is lost with the image.
pub(crate) fn a_hub_that_is_lost_is_told_edge_by_edge() {
    const EDGES: u64 = 40_000;
    for keys in [KeyKind::Dense, KeyKind::U64] {
        let disk = SimFs::new();
        let graph = crate::common::small().keys(keys).weighted(true).open_on(disk.handle()).unwrap();
        let edges: Vec<(u64, u64, f64)> = (1..=EDGES).map(|v| (0, v, 1.0 / v as f64)).collect();
        let mut tx = graph.write().unwrap();
        tx.put_edges(&edges).unwrap();
        tx.commit().unwrap();
        graph.compact().unwrap();
        graph.close().unwrap();
        let name = names(&disk, ".csr").remove(0);
        let layout = SegmentLayout::of(&disk.files()[&name]).unwrap();
        let pieces = &layout.pages[0].images[0].pieces;
        assert!(pieces.len() > 4, "{pieces:?}");
        disk.corrupt(&name, pieces[2].start as u64 + 1000, 1);
        let (report, graph) = salvaged(&disk);
        let snapshot = graph.snapshot().unwrap();
        assert_eq!(report.lost_subgraphs, 1, "{keys:?}: {report}");
        // Salvage has no trace of an edge with both ends in the lost image.
        let most = EDGES - 64 * report.lost_subgraphs;
        if keys == KeyKind::Dense {
            assert!((most..EDGES).contains(&report.edges) && report.lost_edges == 0, "{report}");
            assert_eq!(snapshot.degree(0u64, hedgerow::Direction::Out).unwrap(), Some(report.edges as usize));
            assert_eq!(
                snapshot.default_label().weight_between(0u64, EDGES).unwrap(),
                Some(1.0 / EDGES as f64)
            );
        } else {
            assert!((most..EDGES).contains(&report.lost_edges) && report.edges == 0, "{report}");
            assert_eq!(report.vertices, EDGES + 1 - 64 * report.lost_subgraphs);
        }
        assert!(!report.is_whole() && report.losses.len() < 20, "{report}");
    }
}
