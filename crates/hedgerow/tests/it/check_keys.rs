//! A check of a store whose keys are not in memory reads each block of the key indexes a few times. It
//! reports the keys that name another vertex.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow::io::CountingFs;
use hedgerow::{Graph, VertexKey};
use hedgerow_core::LabelId;
use hedgerow_io::Vfs;
use hedgerow_testkit::SimFs;
use hedgerow_tier::{
    ImageKeys, LevelSegment, Manifest, PageId, SegmentReader, SegmentWriter, SubgraphImage, TierError,
};

use crate::opening_keys::{HARDLY_ANY, Names, PAGE, keeping, store_of};

const PAGES: u64 = 4;
/// The page on which the test writes wrong keys. It is not the first page, because memory has the keys of
/// that page.
const LYING: u32 = 2;
/// The position in its subgraph of the vertex whose key is given twice, and of the vertex that gets this key
/// too.
const AT: usize = 3;

fn open(names: Names, disk: &SimFs) -> (Graph, Arc<hedgerow::io::IoCounters>) {
    let fs = CountingFs::new(disk.handle());
    let counters = fs.counters();
    (keeping(names, HARDLY_ANY).open_on(Arc::new(fs)).unwrap(), counters)
}

/// Writes two segments of a few vertices each; returns the number of vertices.
fn add_segments(names: Names, disk: &SimFs) -> u64 {
    let (mut added, mut segments) = (0, 0);
    for more in [60, 9] {
        let graph = names.options().open_on(disk.handle()).unwrap();
        let mut tx = graph.write().unwrap();
        (added..added + more).for_each(|v| assert!(tx.insert_vertex(&names.key(1_000_000 + v)).unwrap()));
        tx.commit().unwrap();
        segments = graph.checkpoint().unwrap().segments;
        graph.close().unwrap();
        added += more;
    }
    assert!(segments > 1, "{segments} segments");
    added
}

#[test]
fn a_check_reads_blocks_of_keys_and_not_one_for_each_vertex() {
    for names in [Names::Numbers, Names::Texts] {
        let disk = store_of(names, PAGES);
        let vertices = PAGES * PAGE + add_segments(names, &disk);
        let (graph, counters) = open(names, &disk);
        let before = counters.reads.load(Relaxed);
        let report = graph.check().unwrap();
        assert!(report.is_ok() && report.vertices == vertices, "{report:?}");
        let reads = counters.reads.load(Relaxed) - before;
        assert!(reads < vertices / 8, "{names:?}: {reads} reads");
        // Memory has the keys that commits change in the meantime.
        assert!(graph.transact(0, |tx| tx.remove_vertex(&names.key(PAGE * 3))).unwrap().0);
        assert!(graph.transact(0, |tx| tx.insert_vertex(&names.key(PAGE * 9))).unwrap().0);
        let report = graph.check().unwrap();
        assert!(report.is_ok() && report.vertices == vertices, "{report:?}");
    }
}

fn key_of(image: &SubgraphImage) -> VertexKey {
    match &image.keys {
        ImageKeys::U64(keys) => VertexKey::U64(keys[AT]),
        ImageKeys::Str(keys) => VertexKey::Str(keys[AT].clone()),
        other => panic!("{other:?}"),
    }
}

/// Writes a newer segment, in which a vertex of one subgraph has the key of a vertex of another subgraph.
/// Returns the rightful vertex of the key, and the key.
fn give_a_key_twice(disk: &SimFs) -> (u32, VertexKey) {
    let fs: Arc<dyn Vfs> = disk.handle();
    let mut next = Manifest::look(&fs).unwrap().unwrap().manifest;
    let [segment] = &next.segments[..] else { panic!("one segment") };
    let reader = SegmentReader::open(fs.clone(), &segment.info, next.store).unwrap();
    let page = reader.find_page(PageId { label: LabelId::DEFAULT, page: LYING }).unwrap();
    let mut images = Vec::new();
    let read = reader.read_page(
        page,
        |_| true,
        |image| {
            images.push(image);
            Ok::<(), TierError>(())
        },
    );
    read.unwrap();
    let [honest, .., lying] = &mut images[..] else { panic!("{} images", images.len()) };
    match (&mut lying.keys, &honest.keys) {
        (ImageKeys::U64(keys), ImageKeys::U64(of)) => keys[AT] = of[AT],
        (ImageKeys::Str(keys), ImageKeys::Str(of)) => keys[AT] = of[AT].clone(),
        other => panic!("{other:?}"),
    }
    let mut writer = SegmentWriter::create(fs.clone(), next.next_file_id, next.store, next.config).unwrap();
    lying.with_ref(|image| writer.write(image)).unwrap();
    next.segments.push(LevelSegment { level: 0, info: writer.finish().unwrap() });
    next.sequence += 1;
    next.next_file_id.0 += 1;
    next.store(&fs).unwrap();
    next.remove_older(&fs).unwrap();
    (honest.id.subgraph.0 * 64 + AT as u32, key_of(honest))
}

#[test]
fn a_check_names_the_vertex_whose_key_names_another() {
    for names in [Names::Numbers, Names::Texts] {
        let disk = store_of(names, PAGES);
        let (vertex, key) = give_a_key_twice(&disk);
        let (graph, _) = open(names, &disk);
        let expected = format!("vertex {vertex} has key {key}, which names another vertex or none");
        assert_eq!(graph.check().unwrap().problems, [expected], "{names:?}");
        graph.close().unwrap();
        // Look-ups of many keys make memory learn all keys. Then the check looks up every key.
        let graph = names.options().open_on(disk.handle()).unwrap();
        let snapshot = graph.snapshot().unwrap();
        (0..PAGES * PAGE).for_each(|v| _ = snapshot.vertex_id(&names.key(v)).unwrap());
        let report = graph.check().unwrap();
        assert_eq!(report.problems.len(), 1, "{names:?}: {report:?}");
    }
}
