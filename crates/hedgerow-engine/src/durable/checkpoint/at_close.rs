//! The checkpoint that the program's own call of `close` writes, where it costs less time than the replay that it saves.

use std::panic::{AssertUnwindSafe, catch_unwind};

use hedgerow_core::{LabelId, SubgraphId, Timestamp};

use super::{Extent, Planned, Room};
use crate::error::Result;
use crate::files::log::Durable;
use crate::state::store::Core;

/// What closing has to choose between.
#[derive(Clone, Copy, Debug)]
struct Work {
    /// Bytes of the log that the last checkpoint does not cover.
    log: u64,
    /// Bytes in memory of the subgraphs that changed since it: those that the log touches.
    changed: u64,
    /// Those of them of which files have an older image, which a replay loads.
    loaded: u64,
    /// Bytes of the older images that the checkpoint takes in.
    taken_in: u64,
}

impl Work {
    /// Bytes that a microsecond of replay reads of the log, and loads and merges of the images that the log touches; and bytes of
    /// images that a microsecond of a checkpoint writes.
    const LOG_REPLAYED: u64 = 15;
    const IMAGES_LOADED: u64 = 30;
    const IMAGES_WRITTEN: u64 = 45;
    /// Microseconds that the syncs of a checkpoint take, however small it is.
    const SYNCS: u64 = 40_000;

    /// Whether a checkpoint takes less time than the replay that it saves the next opening.
    fn pays(self) -> bool {
        let replay = self.log / Work::LOG_REPLAYED + self.loaded / Work::IMAGES_LOADED;
        let checkpoint = Work::SYNCS + (self.changed + self.taken_in) / Work::IMAGES_WRITTEN;
        replay > checkpoint
    }
}

impl Core {
    /// Writes the checkpoint of `close`, where it pays. Everything is published, no commit comes any more, and the caller has the lock of
    /// checkpoints. A failure leaves what the log holds to the next opening, and is told by
    /// [`checkpoint_error`](crate::Graph::checkpoint_error).
    pub(crate) fn checkpoint_at_close(&self, durable: &Durable) {
        let Some(log) = self.log_bound.uncovered(self.log_end()) else { return };
        // The log has to be sealed whatever happens here.
        let written = catch_unwind(AssertUnwindSafe(|| self.write_if_it_pays(durable, log)));
        match written {
            Ok(Ok(())) => {}
            // Whoever closes the store did not want the checkpoint any more.
            Ok(Err(_)) if self.closing.skips_checkpoint() => {}
            Ok(Err(error)) => self.log_bound.say(error.to_string()),
            Err(panic) => self.log_bound.say_panic(&*panic),
        }
    }

    fn write_if_it_pays(&self, durable: &Durable, log: u64) -> Result<()> {
        // Nothing that was committed is missing in a checkpoint at which the log ends.
        if log == 0 || self.closing.skips_checkpoint() {
            return Ok(());
        }
        self.read_runs(durable)?;
        let Planned { changes, merge, .. } = self.plan_checkpoint(durable, Extent::Changed);
        let work = {
            let runs = durable.runs.lock();
            let (mut changed, mut loaded) = (0, 0);
            for &id in &changes {
                let bytes = self.bytes_of(id.label, id.subgraph);
                changed += bytes;
                loaded += if runs.has(id) { bytes } else { 0 };
            }
            let taken_in = runs.bytes_taken_in(&merge, |id| changes.contains(&id));
            Work { log, changed, loaded, taken_in }
        };
        let always = self.thresholds.checkpoints_at_close;
        if always || work.pays() {
            self.write_checkpoint(durable, Extent::Changed, Room::Free)?;
        }
        Ok(())
    }

    /// The bytes in memory of a subgraph in a label. O(1).
    fn bytes_of(&self, label: LabelId, subgraph: SubgraphId) -> u64 {
        let Some(entry) = self.table(label).and_then(|table| table.get(subgraph)) else { return 0 };
        let now = |&direction| entry.version(direction, Timestamp::INFINITY).ok().flatten();
        self.directions_of(label).iter().filter_map(now).map(|version| version.bytes() as u64).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::Work;

    const MB: u64 = 1_000_000;

    /// Each as measured: what the replay took, and the checkpoint.
    #[test]
    fn a_checkpoint_is_written_where_the_replay_takes_longer() {
        let of_new = |log, changed| Work { log, changed, loaded: 0, taken_in: 0 }.pays();
        // Nothing, and 20,000 edges with ranks and properties, in a store of their own: 9 ms beside 48.
        assert!(!of_new(0, 0) && !of_new(630_000, 700_000));
        // 300,000 such edges: 250 ms beside 72. A million: 1.1 s beside 0.2.
        assert!(of_new(9_310_000, 9_700_000) && of_new(32_200_000, 36_200_000));
        // 100,000 plain edges in a store of their own: 124 ms beside 70.
        assert!(of_new(1_840_000, 2_400_000));
        // 20,000 and 50,000 edges all over a graph of 4,000,000, of which the checkpoint takes in what it does not write anyway: 0.8 and 1.2 s
        // beside 2.6. 200,000, which touch nearly all of it: 4.5 s.
        let over = |log, changed, taken_in| Work { log, changed, loaded: changed, taken_in }.pays();
        assert!(!over(220_000, 25 * MB, 67 * MB) && !over(560_000, 50 * MB, 42 * MB));
        assert!(over(2_220_000, 88 * MB, 4 * MB));
    }
}
