//! Checkpoints: the changes since the last one are written as a segment, as of one timestamp, and then a
//! manifest names the segment.

mod at_close;
mod copy;
mod page_versions;
#[cfg(test)]
mod tests;
pub(crate) mod write;

use std::collections::HashSet;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{SubgraphId, Timestamp};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_io::{FileId, Vfs};
use hedgerow_mem::SubgraphTable;
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{ImageId, LevelSegment, Manifest, SegmentInfo, TierError};
use hedgerow_txn::Counts;

use crate::durable::sections;
use crate::error::{ArgumentError, Error, Result, StateError, StorageError};
use crate::files::log::log_refs;
use crate::files::log::{Durable, UnlessDone};
use crate::files::runs::{Merge, Runs};
use crate::state::budget::{For, Need};
use crate::state::store::Core;
use write::{ImageMode, Target, Written, reach};

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
    /// The number of images in the segment: one for each subgraph and each label in which it has data.
    pub subgraphs: u64,
    /// The number of segments that the store has now.
    pub segments: usize,
    /// The number of log segments removed.
    pub log_segments_removed: usize,
}

/// The source of the disk space that a checkpoint takes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Room {
    Free,
    /// The disk is full: the space comes from the reserve.
    OfReserve,
}

/// The amount that a checkpoint writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The changed images, and the images of segments that are merged.
    Changed,
    /// Everything.
    Whole,
}

impl Core {
    /// Writes a checkpoint; one thread at a time does. It never waits for a commit that waits for memory
    /// (rule B2).
    pub(crate) fn checkpoint(&self, extent: Extent) -> Result<Checkpoint> {
        self.check_owner_by_id()?;
        self.check_writable().inspect_err(|_| self.eviction.demand.failed_to_begin())?;
        let Some(durable) = &self.durable else {
            return Err(ArgumentError::Invalid("a store without files has no checkpoints".into()).into());
        };
        let _one_at_a_time = self.checkpointing.lock();
        let mut attempt = self.eviction.demand.begin();
        let write = |room| self.write_checkpoint(durable, extent, room);
        let mut done = self.check_writable().and_then(|()| write(Room::Free));
        if done.as_ref().is_err_and(Error::is_file_without_room) && durable.log.spend_reserve() {
            done = write(Room::OfReserve);
        }
        // Usually the reserve is complete. Files that a checkpoint removed may free their room later, when
        // the snapshots that read them are closed.
        if let Err(error) = durable.log.renew_reserve() {
            self.poisoned_by(error.into());
        }
        // Done before the waiting threads check for room. The disk may have room for the checkpoint, but none
        // for data that snapshots pin: then commits are refused.
        let made = if done.is_ok() { self.make_room_by_page_versions(durable) } else { Ok(()) };
        let full = made.as_ref().err().filter(|error| error.is_disk_full());
        attempt.ends(done.as_ref().err().or(full).map(Error::is_disk_full));
        done
    }

    fn write_checkpoint(&self, durable: &Durable, extent: Extent, room: Room) -> Result<Checkpoint> {
        // Begins a new log segment, so that the log segments before it can be removed as a whole, and no
        // opening reads them again. On a full disk it would take the room that the reserve has given.
        if room == Room::Free {
            self.begin_log_segment(durable, LOG_LEFT)?;
        }
        // Everything in the log before this position is published, and so in the snapshot that is pinned
        // next.
        let covers = durable.log.end().0;
        self.wait_published(self.clock.drawn())?;
        // An opening does not read which segment has which image; the first checkpoint does.
        self.read_runs(durable)?;
        let pinned = self.pin();
        // A manifest may name an image only if every commit in it is durable.
        self.flush()?;
        let as_of = pinned.timestamp();
        reach(&*durable.fs, FailPoint::CheckpointBegin)?;
        let (changes, merge) = self.plan_checkpoint(durable, extent);
        // The buffers are within the reserve for them, from which cached data may have to leave.
        self.find_room(&Need::new(For::Speed, 0));
        let written = self.write_changes(durable, as_of, extent, &merge, |id| changes.contains(&id))?;
        if room == Room::OfReserve {
            self.make_reserve_good(durable, as_of, &merge, written.as_ref())?;
        }
        // After a panic it is unknown which manifest the disk has.
        let known = UnlessDone::new(|| self.commits.fail());
        let done = self.switch(durable, (as_of, pinned.counts()), written, merge);
        known.done();
        let done = done?;
        self.log_bound.cover(covers);
        Ok(done)
    }

    /// Reads which segment has which image, unless that is known, and makes room for this map.
    pub(crate) fn read_runs(&self, durable: &Durable) -> Result<()> {
        let sources = self.pages.sources();
        // A separate statement: the lock must not be held while room is made.
        let are_read = durable.runs.lock().are_read();
        if !are_read {
            let images = sources.segments().map(|segment| segment.reader.info().subgraphs).sum::<u64>();
            // If there is no room, the map exceeds the limit while it is needed.
            self.find_room(&Need::new(For::Read, images.saturating_mul(Runs::MOST_BYTES_PER_IMAGE)));
        }
        durable.runs.lock().read(&sources)?;
        self.charge_coordination();
        Ok(())
    }

    /// Restores the reserve before the switch of manifests, less the bytes that the checkpoint will free. If
    /// the disk has no room for that, removes the segment and fails: a checkpoint that used up the reserve
    /// would leave none for the next opening.
    fn make_reserve_good(
        &self,
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
            self.poisoned_by(error.into())
        })
    }

    /// Returns the images that changed since the last checkpoint, and the segments to merge into the next
    /// one. The caller has read which segment has which image. O(subgraphs + images).
    fn plan_checkpoint(&self, durable: &Durable, extent: Extent) -> (HashSet<ImageId>, Merge) {
        let (last, segments) = {
            let manifest = durable.manifest.lock();
            (manifest.checkpoint, manifest.segments.clone())
        };
        let changes = self.changed_after(last);
        let merge = match extent {
            Extent::Changed => durable.runs.lock().plan(&segments, |id| changes.contains(&id)),
            Extent::Whole => Runs::whole(&segments),
        };
        (changes, merge)
    }

    /// Returns the subgraphs, by label, with operations after `last`: with all published operations, and
    /// perhaps with some that are not published yet.
    fn changed_after(&self, last: Timestamp) -> HashSet<ImageId> {
        let labels = if faults::is_on(PlantedFault::ChangesOfLabelsMissed) { 1 } else { usize::MAX };
        // A page that only files hold has not changed after `last`: each reader at a timestamp without a page
        // version, and each checkpoint, keeps later changes in memory (rules E2 and P6).
        let is_later = |table: &SubgraphTable, id| {
            let hold = table.hold();
            table.get(id, &hold).is_some_and(|entry| entry.stamp().applied() > last)
        };
        let of_table = |(label, table)| {
            let later = move |id: &SubgraphId| is_later(table, *id);
            SubgraphTable::existing(table).filter(later).map(move |subgraph| ImageId { label, subgraph })
        };
        self.tables().take(labels).flat_map(of_table).collect()
    }

    /// Writes the segment, if there is anything to write. A failure leaves at most a file that no manifest
    /// names.
    fn write_changes(
        &self,
        durable: &Durable,
        as_of: Timestamp,
        extent: Extent,
        merge: &Merge,
        changed: impl Fn(ImageId) -> bool,
    ) -> Result<Option<Written>> {
        let ask = |id: ImageId| -> ImageMode {
            let runs = durable.runs.lock();
            if extent == Extent::Whole {
                ImageMode::Image
            } else if !changed(id) && !runs.is_taken_in(id, merge) {
                ImageMode::Nothing
            } else if merge.needs_empty_images() && runs.has(id) {
                ImageMode::ImageOrEmpty
            } else {
                ImageMode::Image
            }
        };
        // A manifest with a checkpoint must name a segment, even if the segment is empty.
        let nothing = || self.image_ids().all(|id| ask(id) == ImageMode::Nothing);
        if !merge.keep.is_empty() && nothing() {
            return Ok(None);
        }
        let target = {
            let mut manifest = durable.manifest.lock();
            let (store, config) = (manifest.store, manifest.config);
            Target { fs: durable.fs.clone(), file_id: next_file_id(&mut manifest)?, store, config }
        };
        let name = segment_name(target.file_id);
        let written = self.write_run(as_of, target, |id| Ok(ask(id)));
        written.map(Some).map_err(|error| {
            // No manifest names the file. If it cannot be removed now, the next opening removes it.
            let _ = durable.fs.unlink(&name);
            self.poisoned_by(error)
        })
    }

    /// Poisons the store after a failed sync of the directory: the content of the directory after a crash is
    /// unknown from then on, and a later sync that succeeds would prove nothing about it.
    fn poisoned_by(&self, error: Error) -> Error {
        match error {
            Error::Storage(
                StorageError::Io { operation: hedgerow_io::SYNC_DIRECTORY, .. }
                | StorageError::DiskFull { operation: hedgerow_io::SYNC_DIRECTORY, .. },
            ) => {
                self.commits.fail();
                StateError::Poisoned.into()
            }
            other => other,
        }
    }

    /// Makes the manifest name the new segment, and removes the files that it no longer names.
    fn switch(
        &self,
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
        next.next_vertex = self.ids.bound();
        sections::put_schema(&mut next, &self.schema.load().as_of(as_of));
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
                self.commits.fail();
                return Err(StateError::Poisoned.into());
            }
            Err(error) => {
                if let Some(info) = info {
                    let _ = durable.fs.unlink(&segment_name(info.file_id));
                }
                return Err(self.poisoned_by(error.into()));
            }
        }
        let _ = failpoint::reach(FailPoint::CheckpointSwitched);
        *manifest = next;
        let images = written.map_or_else(Vec::new, |written| written.images);
        note_images(durable, &merge.gone, info, &images);
        if self.read_pages_from(durable, &manifest) {
            self.eviction.set_clean(as_of);
        }
        // The checkpoint is valid from now on. If a file cannot be removed, the next opening removes it,
        // since no manifest names it.
        let removed = remove_covered(durable, &manifest, &merge.gone, as_of);
        let removed = removed.map_err(|error| self.poisoned_by(error)).unwrap_or(0);
        Ok(Checkpoint {
            timestamp: as_of,
            bytes: info.map_or(0, |info| info.bytes),
            subgraphs: info.map_or(0, |info| info.subgraphs),
            segments: manifest.segments.len(),
            log_segments_removed: removed,
        })
    }
}

impl Core {
    /// Makes reads of data outside memory use the segments of the new manifest; false if one of them cannot
    /// be opened. Then reads use the older open segments. These have the same data except for later changes,
    /// which stay in memory (rule E1).
    fn read_pages_from(&self, durable: &Durable, manifest: &Manifest) -> bool {
        let sources = self.pages.sources().following(&durable.fs, manifest);
        sources.map(|sources| self.pages.replace(sources)).is_ok()
    }
}

/// Takes the number of the next segment. A number is never used twice.
fn next_file_id(manifest: &mut Manifest) -> Result<FileId> {
    let id = manifest.next_file_id;
    let next = id.0.checked_add(1).filter(|&next| next < u64::MAX);
    manifest.next_file_id = FileId(next.ok_or_else(|| ArgumentError::TooLarge {
        what: "the number of segment files ever written".into(),
        limit: u64::MAX - 1,
    })?);
    Ok(id)
}

/// Notes the new places of images.
fn note_images(
    durable: &Durable,
    gone: &[LevelSegment],
    info: Option<SegmentInfo>,
    images: &[(ImageId, u64)],
) {
    let mut runs = durable.runs.lock();
    runs.forget_all_in(gone);
    if let Some(info) = info {
        images.iter().for_each(|&(id, bytes)| runs.put(id, info.file_id, bytes));
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
