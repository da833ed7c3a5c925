//! The thread that writes checkpoints when the log is long, or memory is scarce.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;

use hedgerow_pager::eviction::checkpoint_demand::Wanted;

use crate::durable::checkpoint::{Extent, checkpoint};
use crate::state::log_bound::LogBound;
use crate::state::store::Core;

/// Writes checkpoints when they are due, until the store is closed.
pub(crate) fn run(core: &Weak<Core>) {
    while let Some(core) = core.upgrade().filter(|core| core.check_usable().is_ok()) {
        let (bound, end) = (&core.work.log_bound, core.log_end());
        let wanted = core.pager.eviction.demand.take();
        if wanted == Wanted::Nothing && !bound.is_due(end) {
            drop(core);
            // Returns at once if another thread has requested a checkpoint since the last return.
            std::thread::park();
            continue;
        }
        // If the attempt panics, this guard records a failure, so that no thread waits for it endlessly.
        let mut attempt = Attempt { bound, end, failed: true };
        // A panic must not end this thread: commits would wait endlessly once the log is long or memory is
        // full.
        match catch_unwind(AssertUnwindSafe(|| turn(&core, wanted))) {
            Ok(Ok(written)) => {
                attempt.failed = false;
                if written {
                    bound.succeeded();
                }
            }
            Ok(Err(error)) => bound.say(error),
            Err(panic) => bound.say_panic(&*panic),
        }
    }
}

/// Meets the demand; returns true if it wrote a checkpoint.
fn turn(core: &Core, wanted: Wanted) -> Result<bool, String> {
    let lacks_memory = match wanted {
        Wanted::Nothing => false,
        Wanted::Room => !core.pager.has_made_room(),
        Wanted::Checkpoint => true,
    };
    if lacks_memory {
        core.pager.eviction.commit_loads.were_too_much();
    } else if wanted == Wanted::Room && !core.work.log_bound.is_due(core.log_end()) {
        return Ok(false);
    }
    checkpoint(core, Extent::Changed).map_err(|error| error.to_string())?;
    if wanted == Wanted::Room {
        core.pager.has_made_room();
    }
    Ok(true)
}

/// Writes a checkpoint on the calling thread, unless another thread is writing one. A failure has no effect
/// on the commit before it.
#[cfg(feature = "planted-faults")]
pub(crate) fn write_one(core: &Core) {
    let busy = core.work.checkpointing.try_lock().is_none();
    if !busy {
        let _ = checkpoint(core, Extent::Changed);
    }
}

/// A guard that records a failure when it is dropped, unless the attempt succeeded.
struct Attempt<'a> {
    bound: &'a LogBound,
    end: u64,
    failed: bool,
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if self.failed {
            self.bound.failed(self.end);
        }
    }
}
