//! Progress bars on a terminal.

use std::io::IsTerminal;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use hedgerow_kernels::Cancel;
use hedgerow_kernels::registry::Kernel;
use hedgerow_load::Progress;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// The bar for the reading of one file, on standard error, without colors. It prints nothing if standard
/// error is no terminal.
pub(crate) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Returns a bar for the file that a load begins to read.
    pub(crate) fn new(at: Progress<'_>) -> Bar {
        let template = if at.in_rows {
            "{prefix} {wide_msg} [{bar:30}] {pos}/{len} rows {eta}"
        } else {
            "{prefix} {wide_msg} [{bar:30}] {bytes}/{total_bytes} {eta}"
        };
        let bar = if std::io::stderr().is_terminal() {
            ProgressBar::with_draw_target(Some(at.of_file[1]), ProgressDrawTarget::stderr())
        } else {
            ProgressBar::hidden()
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(at.action);
        bar.set_message(at.file.display().to_string());
        Bar { bar }
    }

    /// Shows the part of the file that was read.
    pub(crate) fn set(&self, done: u64) {
        self.bar.set_position(done);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// The interval at which a bar of steps is drawn.
const DRAW_EVERY: Duration = Duration::from_millis(100);

/// The bar for the steps of a kernel. A separate thread draws it until it is dropped. It prints nothing if
/// standard error is no terminal, or if no thread can be started.
pub(crate) struct Steps {
    drawing: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Steps {
    /// Returns a bar for a kernel that reports its steps through `cancel`.
    pub(crate) fn new(kernel: &Kernel, cancel: &Cancel) -> Steps {
        if !std::io::stderr().is_terminal() {
            return Steps { drawing: None };
        }
        let (end, ended) = channel();
        let (cancel, name, steps) = (cancel.clone(), kernel.name, kernel.steps);
        let thread = thread::Builder::new().spawn(move || draw(&cancel, name, steps, &ended));
        Steps { drawing: thread.ok().map(|thread| (end, thread)) }
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        if let Some((end, thread)) = self.drawing.take() {
            drop(end);
            // A panic of the drawing thread does not fail the kernel.
            let _drawn = thread.join();
        }
    }
}

/// Draws until the sender of `ended` is dropped.
fn draw(cancel: &Cancel, name: &'static str, steps: &'static str, ended: &Receiver<()>) {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let known = "{prefix} [{bar:30}] {pos}/{len} {msg} {elapsed}";
    let unknown = "{prefix} {spinner} {elapsed}";
    bar.set_prefix(name);
    bar.set_message(steps);
    let style = if steps.is_empty() { unknown } else { known };
    if let Ok(style) = ProgressStyle::with_template(style) {
        bar.set_style(style.progress_chars("=> "));
    }
    while ended.recv_timeout(DRAW_EVERY) == Err(RecvTimeoutError::Timeout) {
        let progress = cancel.progress();
        bar.set_length(progress.total);
        bar.set_position(progress.done);
        bar.tick();
    }
    bar.finish_and_clear();
}
