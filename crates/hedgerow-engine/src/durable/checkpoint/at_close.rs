//! The checkpoint that an explicit `close` writes if it takes less time than the replay that it saves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hedgerow_catalog::error::Result;

use super::plan::{Extent, plan_checkpoint, read_runs};
use super::{Room, write_checkpoint};
use crate::files::log::Durable;
use crate::state::store::Core;

/// The sizes that decide between a checkpoint and a replay.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// Bytes of the log that the last checkpoint does not cover.
    log: u64,
    /// Bytes in memory of the subgraphs that changed since the last checkpoint; the log touches these
    /// subgraphs.
    changed: u64,
    /// The bytes in `changed` of subgraphs that have an older image in files, which a replay loads.
    loaded: u64,
    /// Bytes of unchanged older images that the checkpoint rewrites as it merges segments.
    taken_in: u64,
}

impl Work {
    /// Bytes per microsecond, here and in the next two constants: log that a replay reads, images that a
    /// replay loads and merges, images that a checkpoint writes.
    const LOG_REPLAYED: u64 = 15;
    const IMAGES_LOADED: u64 = 30;
    const IMAGES_WRITTEN: u64 = 45;
    /// Microseconds that the syncs of a checkpoint take, whatever its size.
    const SYNCS: u64 = 40_000;

    /// True if the checkpoint takes less time than the replay that it saves the next opening.
    fn pays(self) -> bool {
        let replay = self.log / Work::LOG_REPLAYED + self.loaded / Work::IMAGES_LOADED;
        let checkpoint = Work::SYNCS + (self.changed + self.taken_in) / Work::IMAGES_WRITTEN;
        replay > checkpoint
    }
}

/// Writes the checkpoint of `close` if it pays. The caller holds the lock of checkpoints and has
/// published all commits, and no commit follows. If the checkpoint fails, the next opening replays the
/// log, and [`checkpoint_error`](crate::Graph::checkpoint_error) reports why.
pub(crate) fn checkpoint_at_close(core: &Core, durable: &Durable) {
    let Some(log) = core.work.log_bound.uncovered(core.log_end()) else { return };
    // A panic is caught because the log must be sealed in any case.
    let written = catch_unwind(AssertUnwindSafe(|| write_if_it_pays(core, durable, log)));
    match written {
        Ok(Ok(())) => {}
        // The caller cancelled the checkpoint, so its error is not reported.
        Ok(Err(_)) if core.closing.skips_checkpoint() => {}
        Ok(Err(error)) => core.work.log_bound.say(error.to_string()),
        Err(panic) => core.work.log_bound.say_panic(&*panic),
    }
}

fn write_if_it_pays(core: &Core, durable: &Durable, log: u64) -> Result<()> {
    // An empty log means that the last checkpoint has all commits.
    if log == 0 || core.closing.skips_checkpoint() {
        return Ok(());
    }
    read_runs(core, durable)?;
    let plan = plan_checkpoint(core, durable, Extent::Changed);
    let work = {
        let runs = durable.runs.lock();
        let (mut changed, mut loaded) = (0, 0);
        for &id in &plan.changes {
            // A chain with an inbox is only in files, where its image is smaller than in memory.
            let bytes = core.pager.bytes_of(id).max(runs.image_bytes_of(id));
            changed += plan.deltas.get(&id).copied().unwrap_or(bytes);
            loaded += if runs.has(id) { bytes } else { 0 };
        }
        let taken_in = runs.bytes_taken_in(&plan.merge, |id| plan.is_image(id));
        Work { log, changed, loaded, taken_in }
    };
    let always = core.work.thresholds.checkpoints_at_close;
    if always || work.pays() {
        write_checkpoint(core, durable, Extent::Changed, Room::Free)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::Work;

    const MB: u64 = 1_000_000;

    /// The sizes and times are measured. Each comment gives the time of the replay, then the time of the
    /// checkpoint.
    #[test]
    fn a_checkpoint_is_written_where_the_replay_takes_longer() {
        let of_new = |log, changed| Work { log, changed, loaded: 0, taken_in: 0 }.pays();
        // An empty store; and a store of 20,000 edges with ranks and properties: 9 ms, 48 ms.
        assert!(!of_new(0, 0) && !of_new(630_000, 700_000));
        // A store of 300,000 such edges: 250 ms, 72 ms. A store of a million: 1.1 s, 0.2 s.
        assert!(of_new(9_310_000, 9_700_000) && of_new(32_200_000, 36_200_000));
        // A store of 100,000 plain edges: 124 ms, 70 ms.
        assert!(of_new(1_840_000, 2_400_000));
        // New edges are spread over a graph of 4,000,000 edges, which the checkpoint writes again as a whole
        // (2.6 s). The replay takes 0.8 s for 20,000 new edges and 1.2 s for 50,000. For 200,000, which touch
        // nearly every subgraph, it takes 4.5 s.
        let over = |log, changed, taken_in| Work { log, changed, loaded: changed, taken_in }.pays();
        assert!(!over(220_000, 25 * MB, 67 * MB) && !over(560_000, 50 * MB, 42 * MB));
        assert!(over(2_220_000, 88 * MB, 4 * MB));
    }
}
