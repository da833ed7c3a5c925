//! Checkpoints: the changes since the last one are written as a segment, as of one timestamp, and then a
//! manifest names the segment.

pub(crate) mod at_close;
mod copy;
pub(crate) mod page_versions;
pub(crate) mod plan;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::sync::Arc;

use copy::Below;
use hedgerow_catalog::error::{ArgumentError, Error, Result, StateError};
use hedgerow_core::Timestamp;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::Vfs;
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_pager::budget::{For, Need};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{ImageId, LevelSegment, Manifest, SegmentInfo, TierError};
use hedgerow_txn::Counts;
use page_versions::make_room_by_page_versions;

use crate::durable::sections;
use crate::durable::sync::{begin_log_segment, flush, poisoned_by};
use crate::files::image_table::{Merge, WrittenRecord};
use crate::files::log::{Durable, UnlessDone, log_refs};
use crate::state::pin::pin;
use crate::state::store::Core;
pub(crate) use plan::Extent;
use plan::{Plan, plan_checkpoint, read_runs};
use write::{ImageMode, Target, Written, image_ids, reach, write_run};

/// The most bytes of covered commits that a checkpoint leaves in the log. The next opening reads and skips
/// them.
const LOG_LEFT: u64 = 256 << 10;

/// The outcome of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Checkpoint {
    /// The timestamp: every commit at or before it is in the segments.
    pub timestamp: Timestamp,
    /// The size in bytes of the segment that was written; 0 if nothing had changed.
    pub bytes: u64,
    /// The number of records in the segment: an image, or the operations since an older one, for each
    /// subgraph and each label that the checkpoint wrote.
    pub subgraphs: u64,
    /// The number of segments that the store has now.
    pub segments: usize,
    /// The number of log segments removed.
    pub log_segments_removed: usize,
}

/// The source of the disk space that a checkpoint takes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    Free,
    /// The disk is full: the space comes from the reserve.
    OfReserve,
}

/// Writes a checkpoint; one thread at a time does. It never waits for a commit that waits for memory
/// (rule B2).
pub(crate) fn checkpoint(core: &Core, extent: Extent) -> Result<Checkpoint> {
    core.check_owner_by_id()?;
    core.check_writable().inspect_err(|_| core.pager.eviction.demand.failed_to_begin())?;
    let Some(durable) = &core.durable else {
        return Err(ArgumentError::Invalid("a store without files has no checkpoints".into()).into());
    };
    let _one_at_a_time = core.work.checkpointing.lock();
    let mut attempt = core.pager.eviction.demand.begin();
    let write = |room| write_checkpoint(core, durable, extent, room);
    let mut done = core.check_writable().and_then(|()| write(Room::Free));
    if done.as_ref().is_err_and(Error::is_file_without_room) && durable.log.spend_reserve() {
        done = write(Room::OfReserve);
    }
    // Usually the reserve is complete. Files that a checkpoint removed may free their room later, when
    // the snapshots that read them are closed.
    if let Err(error) = durable.log.renew_reserve() {
        poisoned_by(core, error.into());
    }
    // Done before the waiting threads check for room. The disk may have room for the checkpoint, but none
    // for data that snapshots pin: then commits are refused.
    let made = if done.is_ok() { make_room_by_page_versions(core, durable) } else { Ok(()) };
    let full = made.as_ref().err().filter(|error| error.is_disk_full());
    attempt.ends(done.as_ref().err().or(full).map(Error::is_disk_full));
    done
}

pub(super) fn write_checkpoint(
    core: &Core,
    durable: &Durable,
    extent: Extent,
    room: Room,
) -> Result<Checkpoint> {
    // Begins a new log segment, so that the log segments before it can be removed as a whole, and no
    // opening reads them again. On a full disk it would take the room that the reserve has given.
    if room == Room::Free {
        begin_log_segment(core, durable, LOG_LEFT)?;
    }
    // Everything in the log before this position is published, and so in the snapshot that is pinned
    // next.
    let covers = durable.log.end().0;
    core.wait_published(core.order.clock.drawn())?;
    // An opening does not read which segment has which image; the first checkpoint does.
    read_runs(core, durable)?;
    let pinned = pin(core);
    // A manifest may name an image only if every commit in it is durable.
    flush(core)?;
    let as_of = pinned.timestamp();
    reach(&*durable.fs, FailPoint::CheckpointBegin)?;
    let plan = plan_checkpoint(core, durable, extent);
    // The buffers are within the reserve for them, from which cached data may have to leave.
    core.pager.find_room(&Need::new(For::Speed, 0));
    let written = write_changes(core, durable, as_of, extent, &plan)?;
    if room == Room::OfReserve {
        make_reserve_good(core, durable, as_of, &plan.merge, written.as_ref())?;
    }
    // After a panic it is unknown which manifest the disk has.
    let known = UnlessDone::new(|| core.order.commits.fail());
    let done = switch(core, durable, (as_of, pinned.counts()), written, plan.merge);
    known.done();
    let done = done?;
    core.work.log_bound.cover(covers);
    Ok(done)
}

/// Restores the reserve before the switch of manifests, less the bytes that the checkpoint will free. If
/// the disk has no room for that, removes the segment and fails: a checkpoint that used up the reserve
/// would leave none for the next opening.
fn make_reserve_good(
    core: &Core,
    durable: &Durable,
    as_of: Timestamp,
    merge: &Merge,
    written: Option<&Written>,
) -> Result<()> {
    let runs: u64 = merge.gone.iter().map(|gone| gone.info.bytes).sum();
    durable.log.renew_reserve_less(runs + durable.log.bytes_through(as_of)).map_err(|error| {
        if let Some(written) = written {
            let _ = durable.fs.unlink(&segment_name(written.info.file_id));
        }
        poisoned_by(core, error.into())
    })
}

/// Writes the segment, if there is anything to write. A failure leaves at most a file that no manifest
/// names.
fn write_changes(
    core: &Core,
    durable: &Durable,
    as_of: Timestamp,
    extent: Extent,
    plan: &Plan,
) -> Result<Option<Written>> {
    let merge = &plan.merge;
    let ask = |id: ImageId| -> ImageMode {
        let runs = durable.runs.lock();
        if extent == Extent::Whole {
            ImageMode::Image
        } else if !plan.changes.contains(&id) && !runs.is_taken_in(id, merge) {
            ImageMode::Nothing
        } else if merge.needs_empty_images() && runs.has(id) {
            ImageMode::ImageOrEmpty
        } else {
            ImageMode::Image
        }
    };
    // A manifest with a checkpoint must name a segment, even if the segment is empty.
    let nothing = || image_ids(core).all(|id| ask(id) == ImageMode::Nothing);
    if !merge.keep.is_empty() && nothing() {
        return Ok(None);
    }
    let mut target = Target::of_store(durable)?;
    target.below = Below::of(core, durable, extent, plan);
    let name = segment_name(target.file_id);
    let written = write_run(core, as_of, target, |id| Ok(ask(id)));
    written.map(Some).map_err(|error| {
        // No manifest names the file. If it cannot be removed now, the next opening removes it.
        let _ = durable.fs.unlink(&name);
        poisoned_by(core, error)
    })
}

/// Makes the manifest name the new segment, and removes the files that it no longer names.
fn switch(
    core: &Core,
    durable: &Durable,
    (as_of, counts): (Timestamp, Counts),
    written: Option<Written>,
    merge: Merge,
) -> Result<Checkpoint> {
    let info: Option<SegmentInfo> = written.as_ref().map(|written| written.info);
    let mut manifest = durable.manifest.lock();
    let mut next = manifest.clone();
    next.sequence += 1;
    next.checkpoint = as_of;
    next.durable_lsn = durable.log.durable();
    next.next_vertex = core.keys.ids.bound();
    sections::put_schema(&mut next, &core.catalog.schema.load().as_of(as_of));
    sections::put_counts(&mut next, counts);
    next.segments = merge.keep;
    next.segments.extend(info.map(|info| LevelSegment { level: 0, info }));
    next.logs = log_refs(&durable.log, as_of);
    if faults::is_on(PlantedFault::LogDeletedEarly) {
        durable.log.remove_segments_through(as_of)?;
    }
    if faults::is_on(PlantedFault::SegmentsDeletedEarly) {
        merge.gone.iter().for_each(|gone| drop(durable.fs.unlink(&segment_name(gone.info.file_id))));
    }
    match next.store(&durable.fs) {
        Ok(()) => {}
        Err(TierError::SwitchUnknown { .. }) => {
            core.order.commits.fail();
            return Err(StateError::Poisoned.into());
        }
        Err(error) => {
            if let Some(info) = info {
                let _ = durable.fs.unlink(&segment_name(info.file_id));
            }
            return Err(poisoned_by(core, error.into()));
        }
    }
    // The checkpoint is valid from now on.
    let _ = failpoint::reach(FailPoint::CheckpointSwitched);
    *manifest = next;
    let records = written.map_or_else(Vec::new, |written| written.records);
    note_records(durable, &merge.gone, info, &records);
    if read_pages_from(core, durable, &manifest) {
        core.pager.eviction.set_clean(as_of);
        core.pager.fold_inboxes();
    }
    // If a file cannot be removed, the next opening removes it, since no manifest names it.
    let removed = remove_covered(durable, &manifest, &merge.gone, as_of);
    let removed = removed.map_err(|error| poisoned_by(core, error)).unwrap_or(0);
    Ok(Checkpoint {
        timestamp: as_of,
        bytes: info.map_or(0, |info| info.bytes),
        subgraphs: info.map_or(0, |info| info.subgraphs),
        segments: manifest.segments.len(),
        log_segments_removed: removed,
    })
}

/// Makes reads of data outside memory use the segments of the new manifest; false if one of them cannot
/// be opened. Then reads use the older open segments. These have the same data except for later changes,
/// which stay in memory (rule E1).
fn read_pages_from(core: &Core, durable: &Durable, manifest: &Manifest) -> bool {
    let sources = core.pager.pages.sources().following(&durable.fs, manifest);
    sources.map(|sources| core.pager.pages.replace(sources)).is_ok()
}

/// Notes the new places of records.
fn note_records(
    durable: &Durable,
    gone: &[LevelSegment],
    info: Option<SegmentInfo>,
    records: &[WrittenRecord],
) {
    let mut runs = durable.runs.lock();
    runs.forget_all_in(gone);
    if let Some(info) = info {
        records.iter().for_each(|record| runs.put(record, info.file_id));
    }
}

/// Removes the files that the new manifest no longer names; the manifest is durable.
fn remove_covered(
    durable: &Durable,
    manifest: &hedgerow_tier::Manifest,
    old: &[LevelSegment],
    timestamp: Timestamp,
) -> Result<usize> {
    let fs: &Arc<dyn Vfs> = &durable.fs;
    reach(&**fs, FailPoint::CheckpointRemove)?;
    manifest.remove_older(fs)?;
    let removed = durable.log.remove_segments_through(timestamp)?;
    let dir = hedgerow_io::Dir::new(fs.clone());
    for segment in old {
        if faults::is_on(PlantedFault::FileUnlinkedUnderReader) {
            let file = fs.open(&segment_name(segment.info.file_id), hedgerow_io::Access::ReadWrite);
            let _ = file.and_then(|file| file.set_len(0));
        }
        dir.unlink(&segment_name(segment.info.file_id))?;
    }
    dir.sync()?;
    Ok(removed.len())
}
