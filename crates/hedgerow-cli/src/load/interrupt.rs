//! Signals that stop a load. The load then undoes its changes as after any other failure.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

/// The first signal that stops the load. A second signal ends the program at once.
#[derive(Debug, Default)]
pub(super) struct Interrupts {
    signal: Arc<AtomicUsize>,
}

impl Interrupts {
    /// Begins to watch for signals. If the system refuses, a signal ends the program as usual.
    pub(super) fn watch() -> Interrupts {
        let (interrupts, is_second) = (Interrupts::default(), Arc::new(AtomicBool::new(false)));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            // The order of the handlers matters: the first signal must not see the mark that it sets itself.
            let watched = flag::register_conditional_default(signal, Arc::clone(&is_second))
                .and_then(|_| flag::register(signal, Arc::clone(&is_second)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&interrupts.signal), signal as usize));
            if watched.is_err() {
                break;
            }
        }
        interrupts
    }

    /// Returns the number of the signal that has arrived; 0 if none has.
    pub(super) fn signal(&self) -> u8 {
        self.signal.load(Relaxed) as u8
    }
}
