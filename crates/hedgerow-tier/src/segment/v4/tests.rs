//! What is written comes back; what breaks a rule is refused.

mod damage;
mod images;

use hedgerow_core::{Direction, GraphConfig, KeyKind, LabelId, SubgraphId, Timestamp, VertexId};
use hedgerow_io::{FileId, StoreId};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use proptest::prelude::*;

use super::writer::{SegmentWriter, fault};
use super::{SegmentV4, block};
use crate::TierError;
use crate::segment::reader::Layout;
use crate::segment::testing::{FILE, STORE, config};
use crate::segment::{
    AdjacencyPart, ImageId, ImageKeys, ImageSummary, SegmentInfo, SubgraphImage, segment_name,
};
use images::{dense_image, segment_strategy, star_image};

/// What a reader of any segment does, of one whose images are numbered.
struct SegmentReader(crate::segment::SegmentReader);

impl SegmentReader {
    fn open(
        fs: std::sync::Arc<dyn hedgerow_io::Vfs>,
        info: &SegmentInfo,
        store: StoreId,
    ) -> Result<SegmentReader, TierError> {
        crate::segment::SegmentReader::open(fs, info, store).map(SegmentReader)
    }

    fn stream(&self) -> &SegmentV4 {
        let Layout::Stream(stream) = self.0.layout() else { panic!("not of format 4") };
        stream
    }

    fn read(&self, i: usize) -> Result<SubgraphImage, TierError> {
        self.stream().read(i)
    }

    fn summary(&self, i: usize) -> Option<ImageSummary> {
        self.stream().summary(i)
    }

    fn verify_whole(&self) -> Result<(), TierError> {
        self.0.verify_whole()
    }

    fn config(&self) -> GraphConfig {
        self.0.config()
    }
}

/// Writes `images` as segment [`FILE`] of [`STORE`].
fn write(fs: &SimFs, config: GraphConfig, images: &[SubgraphImage]) -> SegmentInfo {
    write_as(fs, FILE, STORE, config, images)
}

fn write_as(
    fs: &SimFs,
    file: FileId,
    store: StoreId,
    config: GraphConfig,
    images: &[SubgraphImage],
) -> SegmentInfo {
    let mut writer = SegmentWriter::create(fs.handle(), file, store, config).unwrap();
    for image in images {
        image.with_ref(|image| writer.write(image)).unwrap();
    }
    writer.finish().unwrap()
}

/// Opens the segment and reads everything in order.
fn read_all(fs: &SimFs, info: &SegmentInfo) -> Result<Vec<SubgraphImage>, TierError> {
    let reader = SegmentReader::open(fs.handle(), info, STORE)?;
    let mut images = Vec::new();
    reader.0.read_all(|image| {
        images.push(image);
        Ok::<(), TierError>(())
    })?;
    Ok(images)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn any_segment_comes_back((config, images) in segment_strategy()) {
        let fs = SimFs::new();
        let info = write(&fs, config, &images);
        prop_assert_eq!(info.bytes, fs.file(&segment_name(FILE)).unwrap().len() as u64);
        prop_assert_eq!(info.subgraphs, images.len() as u64);
        prop_assert_eq!(info.vertices, images.iter().map(|i| u64::from(i.vertex_count())).sum::<u64>());
        prop_assert_eq!(info.edges, images.iter().map(SubgraphImage::edge_count).sum::<u64>());
        let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
        reader.verify_whole().unwrap();
        prop_assert_eq!(reader.config(), config);
        for (i, image) in images.iter().enumerate() {
            prop_assert_eq!(&reader.read(i).unwrap(), image);
            let summary = reader.summary(i).unwrap();
            prop_assert_eq!((summary.as_of, summary.edges), (image.as_of, image.edge_count()));
            prop_assert_eq!(summary.id, image.image_id());
        }
        prop_assert_eq!(read_all(&fs, &info).unwrap(), images);
    }
}

#[test]
fn a_subgraph_may_span_many_blocks() {
    let fs = SimFs::new();
    let images = [
        dense_image(0, 3),
        star_image(1, 300_000),
        dense_image(2, 64),
        star_image(5, 40_000),
        dense_image(6, 1),
    ];
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    assert!(info.bytes > 20 * block::BLOCK_BYTES);
    assert_eq!(read_all(&fs, &info).unwrap(), images);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    for (i, image) in images.iter().enumerate().rev() {
        assert_eq!(&reader.read(i).unwrap(), image);
    }
}

#[test]
fn degrees_at_the_limits_of_their_width_come_back() {
    for degree in [1, 255, 256, 65_535, 65_536] {
        let fs = SimFs::new();
        let images = [star_image(1, degree)];
        let info = write(&fs, config(KeyKind::Dense, false), &images);
        assert_eq!(read_all(&fs, &info).unwrap(), images);
    }
}

#[test]
fn several_threads_read_at_once() {
    let fs = SimFs::new();
    let images: Vec<_> = (0..200).map(|id| dense_image(id, 64)).collect();
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (reader, images) = (&reader, &images);
            scope.spawn(move || {
                for (i, image) in images.iter().enumerate().skip(thread).step_by(4) {
                    assert_eq!(&reader.read(i).unwrap(), image);
                }
            });
        }
    });
}

#[test]
fn a_segment_may_be_empty() {
    let fs = SimFs::new();
    let info = write(&fs, config(KeyKind::Str, true), &[]);
    assert_eq!((info.subgraphs, info.vertices, info.edges, info.max_as_of), (0, 0, 0, Timestamp::ZERO));
    assert_eq!(read_all(&fs, &info).unwrap(), []);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    reader.verify_whole().unwrap();
    assert!(matches!(reader.read(0), Err(TierError::NoSuchPage { index: 0, len: 0 })));
}

#[test]
fn parts_without_neighbors_take_no_room() {
    let fs = SimFs::new();
    let mut padded = dense_image(0, 5);
    padded.parts.push(AdjacencyPart {
        label: LabelId(9),
        direction: Direction::In,
        offsets: [0; 65],
        neighbors: Vec::new(),
        weights: None,
        ranks: None,
        columns: Default::default(),
    });
    let info = write(&fs, config(KeyKind::Dense, false), &[padded]);
    assert_eq!(read_all(&fs, &info).unwrap(), [dense_image(0, 5)]);
}

#[test]
fn every_key_length_comes_back() {
    for longest in [0, 1, 255, 256, 65_536] {
        let fs = SimFs::new();
        let mut image = dense_image(3, 2);
        image.keys = ImageKeys::Str(vec!["".into(), "é".repeat(longest / 2).into()]);
        let info = write(&fs, config(KeyKind::Str, false), std::slice::from_ref(&image));
        assert_eq!(read_all(&fs, &info).unwrap(), [image]);
    }
}

#[test]
fn order_is_enforced_and_the_writer_survives() {
    let fs = SimFs::new();
    let mut writer = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::Dense, false)).unwrap();
    dense_image(4, 2).with_ref(|image| writer.write(image)).unwrap();
    for id in [4, 3] {
        let refused = dense_image(id, 2).with_ref(|image| writer.write(image));
        assert!(
            matches!(
                refused,
                Err(TierError::OutOfOrder { previous: ImageId { subgraph: SubgraphId(4), .. }, .. })
            ),
            "{refused:?}"
        );
    }
    dense_image(5, 2).with_ref(|image| writer.write(image)).unwrap();
    let info = writer.finish().unwrap();
    assert_eq!(read_all(&fs, &info).unwrap(), [dense_image(4, 2), dense_image(5, 2)]);
}

#[test]
fn images_that_break_a_rule_are_not_written() {
    type Break = fn(&mut SubgraphImage);
    let breaks: [(&str, Break); 14] = [
        ("subgraph id out of range", |i| i.id = SubgraphId(1 << 26)),
        ("live vertex beyond the largest id", |i| (i.id, i.present) = (SubgraphId((1 << 26) - 1), !0)),
        ("keys of another type than the graph's", |i| i.keys = ImageKeys::Dense),
        ("key count differs from live vertex count", |i| i.present |= 1 << 40),
        ("parts out of order", |i| i.parts.push(i.parts[0].clone())),
        ("parts out of order", |i| {
            i.parts.push(AdjacencyPart {
                label: LabelId(0),
                direction: Direction::Out,
                ..i.parts[0].clone()
            });
        }),
        ("offsets do not span the neighbors", |i| i.parts[0].offsets[0] = 1),
        ("offsets do not span the neighbors", |i| i.parts[0].neighbors.push(VertexId(9))),
        ("offsets not ascending", |i| i.parts[0].offsets[3] = 99),
        ("neighbors of a vertex that is not live", |i| i.parts[0].offsets[..63].fill(0)),
        ("neighbors not strictly ascending", |i| i.parts[0].neighbors[1] = i.parts[0].neighbors[0]),
        ("neighbor id out of range", |i| *i.parts[0].neighbors.last_mut().unwrap() = VertexId(u32::MAX)),
        ("weight count differs from neighbor count", |i| i.parts[0].weights = Some(vec![0.5])),
        ("weight is NaN", |i| i.parts[0].weights.as_mut().unwrap()[1] = f64::NAN),
    ];
    let fs = SimFs::new();
    let mut writer = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::U64, true)).unwrap();
    for (rule, break_it) in breaks {
        let mut image = images::weighted_image();
        break_it(&mut image);
        match image.with_ref(|image| writer.write(image)) {
            Err(TierError::InvalidImage { reason, .. }) => assert_eq!(reason, rule),
            other => panic!("{rule}: {other:?}"),
        }
    }
    images::weighted_image().with_ref(|image| writer.write(image)).unwrap();
    let info = writer.finish().unwrap();
    assert_eq!(read_all(&fs, &info).unwrap(), [images::weighted_image()]);
}

#[test]
fn weights_and_keys_follow_the_configuration() {
    let fs = SimFs::new();
    let mut writer = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::U64, false)).unwrap();
    let refused = images::weighted_image().with_ref(|image| writer.write(image));
    assert!(matches!(
        refused,
        Err(TierError::InvalidImage { reason: "weights in a graph without weights", .. })
    ));
    let mut long = dense_image(0, 1);
    long.keys = ImageKeys::Str(vec!["k".repeat(65_537).into()]);
    let mut writer =
        SegmentWriter::create(fs.handle(), FileId(8), STORE, config(KeyKind::Str, false)).unwrap();
    let refused = long.with_ref(|image| writer.write(image));
    assert!(matches!(refused, Err(TierError::InvalidImage { reason: "key too long", .. })));
}

#[test]
fn a_file_id_is_used_once() {
    let fs = SimFs::new();
    write(&fs, config(KeyKind::Dense, false), &[]);
    let again = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::Dense, false));
    assert!(again.is_err());
}

#[test]
fn a_failed_write_or_sync_fails_the_segment() {
    for fail_at in 0..4 {
        let fs = SimFs::new();
        let (class, repeat) = (FaultClass::Change, Repeat::Forever);
        fs.plan_fault(Fault { class, at: fail_at, site: None, repeat, errno: errno::ENOSPC });
        let finished = SegmentWriter::create(fs.handle(), FILE, STORE, config(KeyKind::Dense, false))
            .and_then(|mut writer| {
                let first = star_image(1, 300_000).with_ref(|image| writer.write(image));
                let second = star_image(2, 10).with_ref(|image| writer.write(image));
                assert!(first.is_ok() || second.is_err(), "an error must stick");
                writer.finish()
            });
        assert_eq!(finished.is_err(), fail_at < fs.op_count(), "{:?}", fs.sites());
        assert!(finished.is_err());
    }
}

#[test]
fn an_image_reads_back_only_after_the_file_was_synced() {
    let fs = SimFs::new();
    let operations = fs.operations_of(|| _ = write(&fs, config(KeyKind::Dense, false), &[dense_image(0, 4)]));
    let sites: Vec<&str> = operations.iter().map(|(_, site)| &**site).collect();
    assert_eq!(sites, ["create:csr", "write:csr", "sync_all:csr"]);
}

/// What readers of any format call pages are runs of 512 images here.
#[test]
fn images_are_read_in_runs() {
    let fs = SimFs::new();
    let images: Vec<_> = (0..1100).map(|id| dense_image(id, 2)).collect();
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let SegmentReader(reader) = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    assert!(reader.has_images_of_all_labels());
    assert_eq!((reader.page_count(), reader.label_of_page(2)), (3, Some(LabelId::DEFAULT)));
    assert_eq!(reader.summaries().unwrap().len(), 1100);
    let mut found = Vec::new();
    let take = |image| -> Result<(), TierError> {
        found.push(image);
        Ok(())
    };
    reader.read_page(1, |id| id.subgraph.0 % 2 == 0, take).unwrap();
    assert!(found.iter().eq(images[512..1024].iter().step_by(2)));
    let refused = reader.read_page(3, |_| true, |_| Ok::<(), TierError>(()));
    assert!(matches!(refused, Err(TierError::NoSuchPage { index: 3, len: 3 })));
    assert!(read_all(&fs, &info).unwrap() == images);
}

/// By what a manifest says, or by its footer, salvage tells the layout of a file whose header is damaged.
#[test]
fn without_its_header_a_segment_is_salvaged() {
    let fs = SimFs::new();
    let images: Vec<_> = (0..9).map(|id| dense_image(id, 2)).collect();
    let info = write(&fs, config(KeyKind::Dense, false), &images);
    let mut bytes = fs.file(&segment_name(FILE)).unwrap();
    bytes[40] ^= 1;
    fs.overwrite(&segment_name(FILE), &bytes);
    for info in [Some(&info), None] {
        let (mut found, mut losses) = (Vec::new(), 0);
        let graph = Some(config(KeyKind::Dense, false));
        let mut take = |image| found.push(image);
        let mut lose = |_| losses += 1;
        crate::segment::read_damaged(&fs.handle(), (FILE, STORE), info, graph, &mut take, &mut lose).unwrap();
        assert!(found == images && losses == 1, "{} images, {losses} losses", found.len());
    }
}
