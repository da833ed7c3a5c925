//! Signals that end a load, which then undoes what it can, like after any other failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

use crate::error::CliError;

/// The first signal that ends the load. A second one ends the program at once.
#[derive(Debug, Default)]
pub(super) struct Interrupts {
    signal: Arc<AtomicUsize>,
}

impl Interrupts {
    /// Watches for signals from here on. If the system refuses, they end the program as usual.
    pub(super) fn watch() -> Interrupts {
        let (interrupts, is_second) = (Interrupts::default(), Arc::new(AtomicBool::new(false)));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // This order is necessary: the first signal must not find its own mark.
            let watched = flag::register_conditional_default(signal, Arc::clone(&is_second))
                .and_then(|_| flag::register(signal, Arc::clone(&is_second)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&interrupts.signal), signal as usize));
            if watched.is_err() {
                break;
            }
        }
        interrupts
    }

    /// Fails once a signal has arrived.
    pub(super) fn check(&self) -> Result<(), CliError> {
        match self.signal.load(Relaxed) {
            0 => Ok(()),
            signal => Err(CliError::Interrupted { signal: signal as u8, committed: 0 }),
        }
    }
}
