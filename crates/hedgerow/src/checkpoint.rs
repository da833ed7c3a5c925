//! Checkpoints: the whole graph at one timestamp, written as a segment, and a manifest that says so.

use std::sync::Arc;

use hedgerow_core::{
    Direction, KeyKind, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexKey,
};
use hedgerow_io::faults::{self, PlantedFault};
use hedgerow_io::{FileId, Vfs};
use hedgerow_mem::Main;
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{ImageRef, KeysRef, LevelSegment, PartRef, SegmentInfo, SegmentWriter, TierError};

use crate::durability::Durable;
use crate::error::{Error, Result};
use crate::graph::{Engine, Graph};
use crate::open::log_refs;
use crate::snapshot::Snapshot;

/// What a checkpoint wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The timestamp: every commit at or before it is in the segment.
    pub timestamp: Timestamp,
    /// The size of the segment in bytes.
    pub bytes: u64,
    /// The number of log segments removed.
    pub log_segments_removed: usize,
}

impl Graph {
    /// Writes the graph as of now into a segment, makes the manifest name it, and removes the log segments that it
    /// covers. Commits and snapshots go on meanwhile. O(edges). One checkpoint runs at a time; a second caller waits.
    ///
    /// # Errors
    /// [`Error::InvalidArgument`] for a store without files; [`Error::DiskFull`] and [`Error::Io`] leave the store as
    /// it was; [`Error::Poisoned`] if it became unknown which manifest holds.
    pub fn checkpoint(&self) -> Result<Checkpoint> {
        let engine = &self.engine;
        engine.check_writable()?;
        let Some(durable) = &engine.durable else {
            return Err(Error::InvalidArgument("a store without files has no checkpoints".into()));
        };
        let _one_at_a_time = engine.checkpointing.lock();
        engine.check_writable()?;
        let snapshot = Snapshot::open(engine);
        // A manifest may name an image only if every commit in it is durable.
        engine.flush()?;
        let file_id = {
            let mut manifest = durable.manifest.lock();
            let id = manifest.next_file_id;
            let next = id.0.checked_add(1).filter(|&next| next < u64::MAX);
            manifest.next_file_id = FileId(next.ok_or_else(|| Error::TooLarge {
                what: "the number of segment files ever written".into(),
                limit: u64::MAX - 1,
            })?);
            id
        };
        let info = match write_segment(engine, durable, &snapshot, file_id) {
            Ok(info) => info,
            Err(error) => {
                // Nothing names the file. If it cannot be removed now, the next opening does.
                let _ = durable.fs.unlink(&segment_name(file_id));
                return Err(error);
            }
        };
        switch(engine, durable, &snapshot, info)
    }
}

fn write_segment(
    engine: &Arc<Engine>,
    durable: &Durable,
    snapshot: &Snapshot,
    file_id: FileId,
) -> Result<SegmentInfo> {
    let (store, config) = {
        let manifest = durable.manifest.lock();
        (manifest.store, manifest.config)
    };
    let mut writer = SegmentWriter::create(durable.fs.clone(), file_id, store, config)?;
    for id in (0..engine.subgraph_bound()).map(SubgraphId) {
        write_subgraph(engine, snapshot, id, &mut writer)?;
    }
    let info = writer.finish()?;
    hedgerow_io::Dir::new(durable.fs.clone()).sync()?;
    Ok(info)
}

/// Writes the image of one subgraph, unless it has neither vertices nor edges.
fn write_subgraph(
    engine: &Arc<Engine>,
    snapshot: &Snapshot,
    id: SubgraphId,
    writer: &mut SegmentWriter,
) -> Result<()> {
    let as_of = snapshot.timestamp();
    let mut mains: Vec<(LabelId, Direction, Main)> = Vec::new();
    for (label, table) in engine.tables() {
        let Some(entry) = table.get(id) else { continue };
        for &direction in engine.directions_of(label) {
            mains.extend(entry.read(direction, as_of, |read| (label, direction, read.settled())));
        }
    }
    let vertices = mains.iter().find(|(l, d, _)| (*l, *d) == (LabelId::DEFAULT, Direction::Out));
    let present = vertices.map_or(0, |(_, _, main)| main.present());
    if present == 0 {
        return Ok(());
    }
    let parts: Vec<PartRef<'_>> = mains
        .iter()
        .filter(|(_, _, main)| !main.edges().is_empty())
        .map(|(label, direction, main)| PartRef {
            label: *label,
            direction: *direction,
            offsets: main.offsets(),
            neighbors: main.edges(),
            weights: main.weights(),
            ranks: main.ranks(),
            columns: main.columns(),
        })
        .collect();
    let live = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex).filter(|l| present & l.bit() != 0);
    let keys: Vec<VertexKey> = match engine.config.keys {
        KeyKind::Dense => Vec::new(),
        _ => live.map(|l| engine.ids.key_of(id.vertex(l))).collect(),
    };
    let numbers: Vec<u64> =
        keys.iter().filter_map(|k| if let VertexKey::U64(n) = k { Some(*n) } else { None }).collect();
    let names: Vec<_> = keys
        .iter()
        .filter_map(|k| if let VertexKey::Str(s) = k { Some((**s).into()) } else { None })
        .collect();
    let keys = match engine.config.keys {
        KeyKind::Dense => KeysRef::Dense,
        KeyKind::U64 => KeysRef::U64(&numbers),
        KeyKind::Str => KeysRef::Str(&names),
    };
    Ok(writer.write(&ImageRef { id, as_of, present, keys, parts: &parts })?)
}

fn switch(engine: &Engine, durable: &Durable, snapshot: &Snapshot, info: SegmentInfo) -> Result<Checkpoint> {
    let timestamp = snapshot.timestamp();
    let mut manifest = durable.manifest.lock();
    let mut next = manifest.clone();
    next.sequence += 1;
    next.checkpoint = timestamp;
    next.durable_lsn = durable.log.durable();
    next.next_vertex = engine.ids.bound();
    crate::sections::put_schema(&mut next, &engine.schema.load().as_of(timestamp));
    next.segments = vec![LevelSegment { level: 0, info }];
    next.logs = log_refs(&durable.log, timestamp);
    if faults::is_on(PlantedFault::LogDeletedEarly) {
        durable.log.remove_segments_through(timestamp)?;
    }
    match next.store(&durable.fs) {
        Ok(()) => {}
        Err(TierError::SwitchUnknown { .. }) => {
            engine.commits.fail();
            return Err(Error::Poisoned);
        }
        Err(error) => {
            let _ = durable.fs.unlink(&segment_name(info.file_id));
            return Err(error.into());
        }
    }
    let old = std::mem::replace(&mut *manifest, next);
    // The checkpoint holds. What cannot be removed now is removed by the next opening, which finds it unnamed.
    let removed = remove_covered(durable, &manifest, &old.segments, timestamp).unwrap_or(0);
    Ok(Checkpoint { timestamp, bytes: info.bytes, log_segments_removed: removed })
}

/// The new manifest is durable: what it no longer names can go.
fn remove_covered(
    durable: &Durable,
    manifest: &hedgerow_tier::Manifest,
    old: &[LevelSegment],
    timestamp: Timestamp,
) -> Result<usize> {
    let fs: &Arc<dyn Vfs> = &durable.fs;
    manifest.remove_older(fs)?;
    let removed = durable.log.remove_segments_through(timestamp)?;
    let dir = hedgerow_io::Dir::new(fs.clone());
    for segment in old {
        dir.unlink(&segment_name(segment.info.file_id))?;
    }
    dir.sync()?;
    Ok(removed.len())
}
