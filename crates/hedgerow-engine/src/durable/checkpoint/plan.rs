//! The content of a checkpoint: the images that changed, and the segments to merge.

use std::collections::{HashMap, HashSet};

use hedgerow_catalog::error::Result;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{LabelId, SubgraphId, Timestamp};
use hedgerow_mem::SubgraphTable;
use hedgerow_pager::budget::{For, Need};
use hedgerow_tier::ImageId;

use crate::files::image_table::{Merge, Runs};
use crate::files::log::Durable;
use crate::state::store::Core;

/// The approximate bytes of a delta, and of each operation in it.
const RECORD_BYTES: u64 = 100;
const OPERATION_BYTES: u64 = 4;

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

/// The content of a checkpoint.
pub(super) struct Plan {
    /// The subgraphs, by label, that changed since the last checkpoint.
    pub(super) changes: HashSet<ImageId>,
    /// Those of which it writes a delta, unless they are loaded before, with the approximate bytes.
    pub(super) deltas: HashMap<ImageId, u64>,
    /// The segments to merge.
    pub(super) merge: Merge,
}

impl Plan {
    /// True if the checkpoint writes the image of a subgraph because it has changed.
    pub(super) fn is_image(&self, id: ImageId) -> bool {
        self.changes.contains(&id) && !self.deltas.contains_key(&id)
    }
}

/// Returns what changed since the last checkpoint, and the segments to merge into the next one. The caller
/// has read which segment has which image. O(subgraphs + images).
pub(super) fn plan_checkpoint(core: &Core, durable: &Durable, extent: Extent) -> Plan {
    let (last, segments) = {
        let manifest = durable.manifest.lock();
        (manifest.checkpoint, manifest.segments.clone())
    };
    let changes = changed_after(core, last);
    let merge = Runs::whole(&segments);
    let mut plan = Plan { changes, deltas: HashMap::new(), merge };
    if extent == Extent::Changed {
        let each = if core.catalog.config.weighted { 8 + OPERATION_BYTES } else { OPERATION_BYTES };
        let runs = durable.runs.lock();
        let delta = |&id: &ImageId| {
            let operations = core.pager.inboxes.operations_after(id, last).filter(|_| can_have_delta(id))?;
            let bytes = RECORD_BYTES + operations as u64 * each;
            // A delta of many operations would be about as long as the image, which later reads need not
            // merge.
            (2 * bytes <= runs.image_bytes_of(id)).then_some((id, bytes))
        };
        plan.deltas = plan.changes.iter().filter_map(delta).collect();
        let bytes = plan.deltas.values().sum();
        plan.merge = runs.plan(&segments, |id| plan.is_image(id), bytes);
    }
    plan
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
