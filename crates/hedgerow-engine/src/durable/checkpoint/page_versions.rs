//! Writing page versions: what snapshots see that hold more in memory than the limit leaves room for (rule E8 of
//! `docs/design/protocol.md`).

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{ImageId, SegmentInfo};

use super::next_file_id;
use super::write::{ImageMode, Target};
use crate::error::Result;
use crate::files::log::Durable;
use crate::files::sources::Sources;
use crate::state::store::Core;

/// What an open segment takes in memory for each image of a page version at most, if each stands on a page of its own.
const BYTES_OF_IMAGE: u64 = 48;

impl Core {
    /// Has what snapshots hold leave memory where that stays scarce after a checkpoint, or commits wait for it: what is held here and there
    /// keeps the regions around it. Called under the lock of checkpoints, right after one.
    ///
    /// # Errors
    /// Where memory stays scarce because one of them could not be written.
    pub(super) fn make_room_by_page_versions(&self, durable: &Durable) -> Result<()> {
        let is_scarce = || !self.has_made_room() || self.eviction.demand.is_waited_for();
        if self.memory_limit.is_none() || !is_scarce() {
            return Ok(());
        }
        let written = self.write_page_versions(durable).map(drop);
        if self.has_made_room() { Ok(()) } else { written }
    }

    /// Writes a page version of each timestamp that snapshots hold from before the last checkpoint, oldest first; returns how many. Called under the lock of
    /// checkpoints. O(subgraphs) for each timestamp, and O(edges) of those that changed since.
    ///
    /// # Errors
    /// Those of the first that fails: things are as they were, what its readers and later ones hold stays in memory.
    pub(crate) fn write_page_versions(&self, durable: &Durable) -> Result<usize> {
        self.drop_page_versions();
        let Some(clean) = self.eviction.clean() else { return Ok(0) };
        let mut written = 0;
        let published = self.clock.published();
        for t in self.readers.scan().timestamps() {
            // What changed after the checkpoint stays in memory in any case, so later readers hold nothing that could go.
            let is_old = Timestamp::ZERO < t && t < clean.min(published);
            if is_old && !self.eviction.page_versions.has(t) {
                if self.eviction.page_versions.are_full() {
                    break;
                }
                self.write_page_version(durable, t)?;
                written += 1;
            }
        }
        Ok(written)
    }

    /// Writes what changed after `t` as it was then, in front of the segments of the last checkpoint, which comes after `t`.
    fn write_page_version(&self, durable: &Durable, t: Timestamp) -> Result<()> {
        // Of what has not changed since `t` they say what it was then; what changes from now on is in memory as it was.
        let sources = self.pages.sources();
        let changes = self.changed_after(t);
        let target = {
            let mut manifest = durable.manifest.lock();
            let (store, config) = (manifest.store, manifest.config);
            Target { fs: durable.fs.clone(), file_id: next_file_id(&mut manifest)?, store, config }
        };
        let (name, store) = (segment_name(target.file_id), target.store);
        // The segments may show something of what was not there at `t`.
        let of_changed = match faults::is_on(PlantedFault::EmptyImagesLeftOut) {
            false => ImageMode::ImageOrEmpty,
            true => ImageMode::Image,
        };
        let ask = |id: ImageId| Ok(if changes.contains(&id) { of_changed } else { ImageMode::Nothing });
        let opened = self
            .write_run(t, target, ask)
            .and_then(|written| Ok((sources.behind(&durable.fs, written.info, store)?, written.info)));
        // Nothing names the file. It can be read for as long as it is open; should it not go now, the next opening removes it.
        let _ = durable.fs.unlink(&name);
        let (sources, info) = opened.map_err(|error| self.poisoned_by(error))?;
        self.keep_page_version(t, sources, info);
        Ok(())
    }

    /// Has readers at `t` use the page version, if there still are some: then there were all the time, since nobody comes to a timestamp
    /// after another was published, and nothing that they see was given up while it was written.
    fn keep_page_version(&self, t: Timestamp, sources: Sources, info: SegmentInfo) {
        if !self.readers.scan().contains(t) {
            return;
        }
        let bytes = info.subgraphs.saturating_mul(BYTES_OF_IMAGE);
        let charge = Charge::new(self.account(), Purpose::Reads, usize::try_from(bytes).unwrap_or(0));
        self.eviction.page_versions.put(t, Arc::new(sources), charge);
    }
}
