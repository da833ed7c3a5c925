//! Writing page versions, for snapshots that hold more in memory than the limit leaves room for (rule E8 of
//! `docs/design/page-versions.md`).

use std::sync::Arc;

use hedgerow_catalog::error::Result;
use hedgerow_core::Timestamp;
use hedgerow_core::account::{Charge, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_pager::Sources;
use hedgerow_tier::segment::segment_name;
use hedgerow_tier::{ImageId, SegmentInfo};

use super::plan::changed_after;
use super::write::{ImageMode, Target, write_run};
use crate::durable::sync::poisoned_by;
use crate::files::log::Durable;
use crate::state::store::Core;

/// The most bytes of memory that an open segment takes for each image of a page version: the case of one
/// image on each page.
const BYTES_OF_IMAGE: u64 = 48;

/// Writes page versions and evicts the data that snapshots pinned, if memory is still scarce after a
/// checkpoint, or commits wait for one. Even little pinned data keeps whole regions in memory. The caller
/// has the lock of checkpoints, and has just written one.
///
/// # Errors
/// The error of writing a page version, if memory is still scarce.
pub(super) fn make_room_by_page_versions(core: &Core, durable: &Durable) -> Result<()> {
    let is_scarce = || !core.pager.has_made_room() || core.pager.eviction.demand.is_waited_for();
    if core.pager.memory_limit.is_none() || !is_scarce() {
        return Ok(());
    }
    let written = write_page_versions(core, durable).map(drop);
    if core.pager.has_made_room() { Ok(()) } else { written }
}

/// Writes a page version for each timestamp before the last checkpoint that snapshots hold, oldest first.
/// Returns their number. The caller has the lock of checkpoints. For each timestamp O(subgraphs), and
/// O(edges) of the subgraphs that changed since.
///
/// # Errors
/// The errors of the first page version that fails. It changes nothing: the data that its readers and
/// later readers see stays in memory.
pub(crate) fn write_page_versions(core: &Core, durable: &Durable) -> Result<usize> {
    core.pager.drop_page_versions();
    let Some(clean) = core.pager.eviction.clean() else { return Ok(0) };
    let mut written = 0;
    let published = core.order.clock.published();
    for t in core.order.readers.scan().timestamps() {
        // Changes after the checkpoint stay in memory in any case, so later readers pin nothing that
        // could be evicted.
        let is_old = Timestamp::ZERO < t && t < clean.min(published);
        if is_old && !core.pager.eviction.page_versions.has(t) {
            if core.pager.eviction.page_versions.are_full() {
                break;
            }
            write_page_version(core, durable, t)?;
            written += 1;
        }
    }
    Ok(written)
}

/// Writes a segment of the subgraphs that changed after `t`, as of `t`. Readers at `t` search it before
/// the segments of the last checkpoint, which is later than `t`.
fn write_page_version(core: &Core, durable: &Durable, t: Timestamp) -> Result<()> {
    // For subgraphs that have not changed since `t`, the segments have the state as of `t`. For the
    // others, memory has that state.
    let sources = core.pager.pages.sources();
    let changes = changed_after(core, t);
    let target = Target::of_store(durable)?;
    let (name, store) = (segment_name(target.file_id), target.store);
    // The segments may hold subgraphs that did not exist at `t`.
    let of_changed = match faults::is_on(PlantedFault::EmptyImagesLeftOut) {
        false => ImageMode::ImageOrEmpty,
        true => ImageMode::Image,
    };
    let ask = |id: ImageId| Ok(if changes.contains(&id) { of_changed } else { ImageMode::Nothing });
    let opened = write_run(core, t, target, ask)
        .and_then(|written| Ok((sources.behind(&durable.fs, written.info, store)?, written.info)));
    // No manifest names the file. It stays readable while it is open. If it cannot be removed now, the
    // next opening removes it.
    let _ = durable.fs.unlink(&name);
    let (sources, info) = opened.map_err(|error| poisoned_by(core, error))?;
    keep_page_version(core, t, sources, info);
    Ok(())
}

/// Makes readers at `t` use the page version, if such a reader is left. No reader registers at `t` once a
/// later timestamp is published, so that one was registered all the time. No data that it sees was freed
/// meanwhile.
fn keep_page_version(core: &Core, t: Timestamp, sources: Sources, info: SegmentInfo) {
    if !core.order.readers.scan().contains(t) {
        return;
    }
    let bytes = info.subgraphs.saturating_mul(BYTES_OF_IMAGE);
    let charge = Charge::new(core.pager.account(), Purpose::Reads, usize::try_from(bytes).unwrap_or(0));
    core.pager.eviction.page_versions.put(t, Arc::new(sources), charge);
}
