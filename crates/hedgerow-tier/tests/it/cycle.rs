//! The cycle of a store with a disk tier: flush, switch, cleanup, and the check of the state that must be
//! found.

use std::sync::Arc;

use hedgerow_core::{Direction, GraphConfig, KeyKind, LabelId, SubgraphId, Timestamp, VertexId};
use hedgerow_io::{Dir, FileId, Lsn, StoreId, Vfs};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{
    AdjacencyPart, ImageId, ImageKeys, LevelSegment, Manifest, SegmentInfo, SegmentReader, SegmentWriter,
    SubgraphImage, TierError,
};

pub(crate) const STORE: StoreId = StoreId([0x5e; 16]);
pub(crate) const CONFIG: GraphConfig =
    GraphConfig { directed: true, keys: KeyKind::U64, weighted: true, reverse: false };

/// Returns the image of subgraph `id` after checkpoint `round`.
pub(crate) fn image(round: u64, id: u32) -> SubgraphImage {
    let degree = 40 + (round as u32 * 7 + id) % 50;
    let mut offsets = [0; 65];
    offsets[6..].fill(degree);
    SubgraphImage {
        id: ImageId { label: LabelId::DEFAULT, subgraph: SubgraphId(id) },
        as_of: Timestamp(round),
        present: 0b10_0001,
        keys: ImageKeys::U64(vec![round, u64::from(id)]),
        parts: vec![AdjacencyPart {
            direction: Direction::Out,
            offsets,
            neighbors: (0..degree).map(|v| VertexId(v * 3)).collect(),
            weights: Some((0..degree).map(|v| f64::from(v) + round as f64).collect()),
            ranks: None,
            columns: Default::default(),
        }],
    }
}

/// Makes checkpoint `round`: writes a segment of all subgraphs, switches the manifest, and removes the files
/// that only older manifests name. Calls `after_switch` as soon as the switch is valid.
pub(crate) fn checkpoint(
    fs: &Arc<dyn Vfs>,
    previous: Option<&Manifest>,
    round: u64,
    after_switch: impl FnOnce(),
) -> Result<Manifest, TierError> {
    let mut manifest = match previous {
        Some(previous) => Manifest { sequence: previous.sequence + 1, ..previous.clone() },
        None => {
            let first = Manifest::new(STORE, CONFIG);
            first.store(fs)?;
            Manifest { sequence: 2, ..first }
        }
    };
    let info = write_segment(fs, manifest.next_file_id, round)?;
    Dir::new(fs.clone()).sync()?;
    manifest.checkpoint = Timestamp(round);
    manifest.durable_lsn = Lsn(round * 100);
    manifest.next_file_id = FileId(info.file_id.0 + 1);
    manifest.segments = vec![LevelSegment { level: 0, info }];
    manifest.store(fs)?;
    after_switch();
    manifest.remove_older(fs)?;
    clean(fs)?;
    Ok(manifest)
}

fn write_segment(fs: &Arc<dyn Vfs>, file_id: FileId, round: u64) -> Result<SegmentInfo, TierError> {
    let mut writer = SegmentWriter::create(fs.clone(), file_id, STORE, CONFIG)?;
    for id in 0..3 {
        image(round, id * 5).with_ref(|image| writer.write(image))?;
    }
    writer.finish()
}

/// Removes everything that the current manifest does not name.
pub(crate) fn clean(fs: &Arc<dyn Vfs>) -> Result<(), TierError> {
    let dir = Dir::new(fs.clone());
    if let Some(found) = Manifest::load(fs)? {
        for name in &found.stray {
            dir.unlink(name)?;
        }
        dir.sync()?;
    }
    Ok(())
}

/// Returns the current manifest and its round, after reading and checking all files that it names. Before any
/// checkpoint the round is 0.
pub(crate) fn inspect(fs: &Arc<dyn Vfs>) -> Result<(Option<Manifest>, u64), TierError> {
    let Some(found) = Manifest::load(fs)? else {
        return Ok((None, 0));
    };
    let round = found.manifest.checkpoint.0;
    for segment in &found.manifest.segments {
        let reader = SegmentReader::open(fs.clone(), &segment.info, STORE)?;
        reader.verify_whole()?;
        let mut id = 0;
        reader.read_all(|found| {
            assert_eq!(found, image(round, id), "an image of another state");
            id += 5;
            Ok::<(), TierError>(())
        })?;
        assert_eq!(id, 15);
        assert!(segment_name(segment.info.file_id) < segment_name(found.manifest.next_file_id));
    }
    assert_eq!(found.manifest.segments.is_empty(), round == 0);
    Ok((Some(found.manifest), round))
}
