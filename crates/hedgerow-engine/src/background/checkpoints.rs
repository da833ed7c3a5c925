//! The thread that writes checkpoints when the log is long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;

use crate::durable::checkpoint::Extent;
use crate::state::log_bound::LogBound;
use crate::state::store::Core;

/// Writes checkpoints when they are due, until the store is closed.
pub(crate) fn run(core: &Weak<Core>) {
    while let Some(core) = core.upgrade().filter(|core| core.check_usable().is_ok()) {
        let (bound, end) = (&core.log_bound, core.log_end());
        if !bound.is_due(end) {
            drop(core);
            // Returns at once if a checkpoint was asked for since it last returned.
            std::thread::park();
            continue;
        }
        // Should it not return, those who wait for it must not wait for ever.
        let mut attempt = Attempt { bound, end, failed: true };
        // Without this thread commits would wait for ever once the log is long.
        match catch_unwind(AssertUnwindSafe(|| core.checkpoint(Extent::Changed))) {
            Ok(Ok(_)) => {
                attempt.failed = false;
                bound.succeeded();
            }
            Ok(Err(error)) => bound.say(error.to_string()),
            Err(panic) => bound.say(format!("it panicked: {}", message(&*panic))),
        }
    }
}

/// What a panic says.
fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("without a message")
}

/// Notes a failure when it goes, unless it was told of success.
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
