//! The thread that writes checkpoints when the log is long.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Weak;

use crate::durable::checkpoint::Extent;
use crate::state::log_bound::LogBound;
use crate::state::store::Core;

/// Writes checkpoints as they are asked for, until the store is closed.
pub(crate) fn run(core: &Weak<Core>, bound: &LogBound) {
    while bound.next_asked() {
        let Some(core) = core.upgrade() else { return };
        // Should it not return, those who wait for it must not wait for ever.
        let mut attempt = Attempt { bound, end: core.log_end(), failed: true };
        if !bound.is_due(attempt.end) {
            attempt.failed = false;
            continue;
        }
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
