//! `hedgerow load`.

mod args;
mod interrupt;
mod report;

use std::cell::{OnceCell, RefCell};
use std::path::PathBuf;
use std::time::Instant;

use hedgerow_load::{Progress, Watch, load_store};

use interrupt::Interrupts;

use crate::error::CliError;
use crate::output::Style;
use crate::progress::Bar;

pub(crate) use args::LoadArgs;

/// Loads files into a store.
pub(crate) fn load(args: &LoadArgs, style: Style) -> Result<(), CliError> {
    let begin = Instant::now();
    // Signals are watched only after standard input was read, since that read does not check for signals.
    let interrupts = OnceCell::new();
    let until = || interrupts.get_or_init(Interrupts::watch).signal() != 0;
    let bar = RefCell::<Option<((&'static str, PathBuf), Bar)>>::default();
    let progress = |at: Progress<'_>| {
        let mut bar = bar.borrow_mut();
        match &mut *bar {
            Some(((action, file), bar)) if *action == at.action && file == at.file => bar.set(at.of_file[0]),
            // The old bar is removed before the new one is drawn.
            other => {
                *other = None;
                *other = Some(((at.action, at.file.to_owned()), Bar::new(at)));
            }
        }
    };
    let watch = Watch::default().until(&until).progress(&progress);
    let loaded = load_store(&args.store, &args.store_options(), &args.load_options(), watch);
    drop(bar.take());
    let signal = interrupts.get().map_or(0, Interrupts::signal);
    let (report, graph) = loaded.map_err(|error| CliError::of_load(error, signal))?;
    // The process ends soon, and freeing the memory of the closed store takes a tenth of the time of a load.
    std::mem::forget(graph);
    report::print(&report, begin.elapsed(), style)
}
