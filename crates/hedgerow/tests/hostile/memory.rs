//! The memory of an opening: at most twice the files and 64 MiB, for any content of the files.

use hedgerow::{KeyKind, Options};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, Forge, SimFs, explored};

use crate::cases;
use crate::stores::{self, Files};

const FIXED_BYTES: usize = 64 << 20;

/// Opens, checks and closes a store; returns the peak of the additionally allocated bytes.
fn peak_of_opening(files: &Files, read_only: bool) -> usize {
    let disk = SimFs::from_files(files);
    let options = Options::new().create(false).read_only(read_only).background_settling(false);
    let before = crate::ALLOCATOR.current_usage();
    crate::ALLOCATOR.reset_peak_usage();
    let opened = options.open_on(disk.handle());
    if let Ok(graph) = &opened {
        let _ = graph.check();
    }
    drop(opened);
    crate::ALLOCATOR.peak_usage().saturating_sub(before)
}

fn within_bounds(files: &Files, what: &dyn Fn() -> String) -> usize {
    let bytes: usize = files.values().map(Vec::len).sum();
    let peak = peak_of_opening(files, true).max(peak_of_opening(files, false));
    assert!(peak <= 2 * bytes + FIXED_BYTES, "{}: {peak} bytes for files of {bytes}", what());
    peak
}

#[test]
fn opening_hostile_stores_takes_little_memory() {
    let _alone = crate::alone();
    let (mut opened, mut most) = (0u64, 0);
    for store in &stores::all(7) {
        let mut cases = cases::of_numbers(store);
        cases.extend(cases::of_lists(store));
        for case in &cases {
            most = most.max(within_bounds(&case.files, &|| case.what.clone()));
            opened += 1;
        }
    }
    let forges: Vec<Forge> = stores::all(8).iter().map(|store| Forge::new(&store.files)).collect();
    let effort = Effort::rounds(1_500);
    while let Some(seed) = effort.next_seed() {
        let mut rng = SplitMix64::new(seed);
        let changes = 1 + rng.below(3) as usize;
        let forged = forges[rng.below(forges.len() as u64) as usize].damage(&mut rng, changes);
        most = most.max(within_bounds(&forged.files, &|| format!("round {seed}: {}", forged.what)));
        opened += 1;
    }
    println!("at most {most} bytes");
    explored("hostile stores opened under a bound of memory", opened, 2_000);
}

/// Ids at the end of their range take little memory. A table indexed by id would take gigabytes.
#[test]
fn far_ids_take_little_memory() {
    let _alone = crate::alone();
    let far = u64::from(u32::MAX) - 1;
    // A dense graph: the id is the key, and a user may choose it.
    let disk = SimFs::new();
    let dense = || Options::new().keys(KeyKind::Dense).log_segment_bytes(4096).background_settling(false);
    let graph = dense().open_on(disk.handle()).unwrap();
    graph.insert_edge((3, far)).unwrap();
    graph.close().unwrap();
    within_bounds(&disk.files(), &|| "a far dense id in the log".into());
    let graph = dense().open_on(disk.handle()).unwrap();
    graph.checkpoint().unwrap();
    graph.close().unwrap();
    drop(graph);
    within_bounds(&disk.files(), &|| "a far dense id in the checkpoint".into());

    // A graph with keys assigns ids in order, but a forged log can contain any id.
    for keys in [KeyKind::U64, KeyKind::Str] {
        let disk = SimFs::new();
        let options = Options::new().keys(keys).log_segment_bytes(4096).background_settling(false);
        let graph = options.open_on(disk.handle()).unwrap();
        let mut tx = graph.write().unwrap();
        match keys {
            KeyKind::Str => tx.insert_vertex("a far one").unwrap(),
            _ => tx.insert_vertex(0x7777u64).unwrap(),
        };
        tx.commit().unwrap();
        graph.close().unwrap();
        drop(graph);
        let files = disk.files();
        let forge = Forge::new(&files);
        let log = files.keys().find(|name| name.ends_with(".wal")).unwrap();
        let at = forge.places(log, hedgerow_testkit::Part::Operations)[4].0;
        let forged = forge.with(&[(log, at, 4, far)]);
        assert_ne!(forged, files);
        within_bounds(&forged, &|| format!("a far id with {keys:?} keys"));
        let graph = Options::new().open_on(SimFs::from_files(&forged).handle()).unwrap();
        assert!(graph.check().unwrap().is_ok());
        let before = graph.snapshot().unwrap().vertex_count();
        let mut tx = graph.write().unwrap();
        match keys {
            KeyKind::Str => tx.insert_vertex("a near one").unwrap(),
            _ => tx.insert_vertex(1u64).unwrap(),
        };
        tx.commit().unwrap();
        assert_eq!((before, graph.snapshot().unwrap().vertex_count()), (1, 2));
        assert!(graph.check().unwrap().is_ok());
    }
}

/// Salvage rebuilds the graph in memory, with a fixed number of bytes per edge. A store with much damage
/// takes no more.
#[test]
fn salvaging_takes_memory_by_the_edge() {
    const EDGES: u64 = 200_000;
    const BYTES_PER_EDGE: usize = 200;
    let _alone = crate::alone();
    let disk = SimFs::new();
    let graph = Options::new().keys(KeyKind::Dense).weighted(true).open_on(disk.handle()).expect("a store");
    let mut rng = SplitMix64::new(5);
    let edges: Vec<_> = (0..EDGES).map(|_| (rng.below(20_000), rng.below(20_000), 0.5)).collect();
    let mut tx = graph.write().expect("a transaction");
    tx.put_edges(&edges).and_then(|()| tx.commit()).expect("a commit");
    graph.checkpoint().expect("a checkpoint");
    graph.close().expect("a close");
    drop((graph, edges));
    let files = disk.files();
    let (name, len) = files
        .iter()
        .map(|(name, bytes)| (name, bytes.len() as u64))
        .max_by_key(|(_, len)| *len)
        .expect("files");
    for damaged in [0, 1, 6] {
        let disk = SimFs::from_files(&files);
        (0..damaged).for_each(|_| _ = disk.corrupt(name, rng.below(len), 8));
        let before = crate::ALLOCATOR.current_usage();
        crate::ALLOCATOR.reset_peak_usage();
        let report = hedgerow::salvage_on(disk.handle(), SimFs::new().handle()).expect("a salvage");
        let peak = crate::ALLOCATOR.peak_usage().saturating_sub(before);
        println!("{damaged} damages: {} edges, {peak} bytes at most", report.edges);
        assert_eq!(report.is_sound(), damaged == 0, "{report}");
        assert!(peak <= EDGES as usize * BYTES_PER_EDGE, "{peak} bytes");
    }
}
