//! The content of a checkpoint: the images that changed, and the segments to merge.

use std::collections::{HashMap, HashSet};

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::SubgraphTable;
use hedgerow_tier::ImageId;

use crate::error::Result;
use crate::files::log::Durable;
use crate::files::runs::{Merge, Runs};
use crate::state::budget::{For, Need};
use crate::state::store::Core;

/// The bytes of an operation in an inbox, for each byte of it in a delta.
const PACKED: u64 = 6;

/// The amount that a checkpoint writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// The changed images, and the images of segments that are merged.
    Changed,
    /// Everything.
    Whole,
}

/// Reads which segment has which image, unless that is known, and makes room for this map.
pub(crate) fn read_runs(core: &Core, durable: &Durable) -> Result<()> {
    let sources = core.pager.pages.sources();
    // A separate statement: the lock must not be held while room is made.
    let are_read = durable.runs.lock().are_read();
    if !are_read {
        let images = sources.segments().map(|segment| segment.reader.info().subgraphs).sum::<u64>();
        // If there is no room, the map exceeds the limit while it is needed.
        core.pager.find_room(&Need::new(For::Read, images.saturating_mul(Runs::MOST_BYTES_PER_IMAGE)));
    }
    durable.runs.lock().read(&sources)?;
    core.charge_coordination();
    Ok(())
}

/// Returns the images that changed since the last checkpoint, and the segments to merge into the next
/// one. The caller has read which segment has which image. O(subgraphs + images).
pub(super) fn plan_checkpoint(core: &Core, durable: &Durable, extent: Extent) -> (HashSet<ImageId>, Merge) {
    let (last, segments) = {
        let manifest = durable.manifest.lock();
        (manifest.checkpoint, manifest.segments.clone())
    };
    let changes = changed_after(core, last);
    let merge = match extent {
        Extent::Changed => {
            let of_deltas = |id: ImageId| bytes_of_delta(core, id);
            let deltas: HashMap<ImageId, u64> =
                changes.iter().filter_map(|&id| Some((id, of_deltas(id)?))).collect();
            let is_image = |id: ImageId| changes.contains(&id) && !deltas.contains_key(&id);
            durable.runs.lock().plan(&segments, is_image, deltas.values().sum())
        }
        Extent::Whole => Runs::whole(&segments),
    };
    (changes, merge)
}

/// Returns the approximate size of the delta that a checkpoint writes for a subgraph; `None` if it writes the
/// image. O(1).
pub(super) fn bytes_of_delta(core: &Core, id: ImageId) -> Option<u64> {
    let bytes = core.pager.inboxes.bytes_of(id);
    (bytes > 0 && can_have_delta(id)).then_some(bytes / PACKED)
}

/// True if a segment may have deltas of the subgraph in this label.
pub(super) fn can_have_delta(id: ImageId) -> bool {
    id.label == LabelId::DEFAULT
}

/// Returns the subgraphs, by label, with operations after `last`: with all published operations, and
/// perhaps with some that are not published yet.
pub(super) fn changed_after(core: &Core, last: Timestamp) -> HashSet<ImageId> {
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
    core.pager.tables().take(labels).flat_map(of_table).collect()
}
