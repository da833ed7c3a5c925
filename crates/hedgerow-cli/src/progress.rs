//! A progress bar, where there is a terminal to show it.

use std::io::IsTerminal;

use hedgerow_workload::read::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Rows between two updates.
const ROWS: u64 = 1 << 13;

/// Bytes read of one file, on standard error; without colors, and nothing at all where that is no terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
    progress: Progress,
    rows: u64,
}

impl Bar {
    /// A bar for one file.
    pub(crate) fn new(what: &'static str, file: &std::path::Path, progress: Progress) -> Bar {
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(Some(progress.total()), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        let template = "{prefix} {wide_msg} [{bar:30}] {bytes}/{total_bytes} {eta}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(what);
        bar.set_message(file.display().to_string());
        Bar { bar, progress, rows: 0 }
    }

    /// Counts a row.
    pub(crate) fn row(&mut self) {
        self.rows += 1;
        if self.rows.is_multiple_of(ROWS) {
            self.bar.set_position(self.progress.read());
        }
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
