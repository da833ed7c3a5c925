//! The thread that flushes and compacts in the background of writers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::graph::Graph;
use crate::LabError;
use crate::clock::Clock;

/// The largest number of memory buffers: one for writes, one for a flush.
const BUFFERS: usize = 2;
/// The time after which a writer that waits for room checks again without a signal.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

#[derive(Default)]
struct State {
    has_work: bool,
    stops: bool,
    failed: Option<LabError>,
}

/// The state that the thread and writers share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// The signal to the thread that there may be work.
    work: Condvar,
    /// The signal to writers that the thread has finished a step.
    changed: Condvar,
    has_failed: AtomicBool,
}

/// The thread, which is started when the first buffer is full.
#[derive(Default)]
pub(super) struct Service {
    shared: Arc<Shared>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl Service {
    /// Makes sure that there is room for a write. After an error of the thread, every write returns this
    /// error.
    #[inline]
    pub(super) fn make_room(&self, graph: &Arc<Graph>, clock: &Arc<Clock>) -> Result<(), LabError> {
        if graph.is_full() || self.shared.has_failed.load(Ordering::Relaxed) {
            self.wait_for_room(graph, clock)?;
        }
        Ok(())
    }

    #[cold]
    fn wait_for_room(&self, graph: &Arc<Graph>, clock: &Arc<Clock>) -> Result<(), LabError> {
        loop {
            let state = self.shared.state.lock();
            if let Some(error) = state.failed {
                return Err(error);
            }
            if !graph.is_full() {
                return Ok(());
            }
            drop(state);
            if graph.version().buffers.len() < BUFFERS {
                graph.rotate(false);
            }
            self.start(graph, clock);
            let mut state = self.shared.state.lock();
            // The thread has a signal to look for work, and signals writers after each step. A call that
            // reclaims memory also makes room, but sends no signal.
            if state.failed.is_none() && graph.is_full() && graph.version().buffers.len() >= BUFFERS {
                self.shared.changed.wait_for(&mut state, LOOK_AGAIN);
            }
        }
    }

    /// Signals the thread to look for work. Starts the thread if it does not run yet.
    fn start(&self, graph: &Arc<Graph>, clock: &Arc<Clock>) {
        self.thread.lock().get_or_insert_with(|| {
            let (shared, graph, clock) = (self.shared.clone(), graph.clone(), clock.clone());
            std::thread::spawn(move || shared.serve(&graph, &clock))
        });
        self.shared.state.lock().has_work = true;
        self.shared.work.notify_one();
    }

    /// Returns the error of the thread, if there is one.
    pub(super) fn check(&self) -> Result<(), LabError> {
        self.shared.state.lock().failed.map_or(Ok(()), Err)
    }
}

/// A guard: if the thread panics, writers fail instead of waiting.
struct Panics<'a>(&'a Shared);

impl Drop for Panics<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let error = LabError::Disk { op: "compact", kind: std::io::ErrorKind::Other };
            self.0.fail(&mut self.0.state.lock(), error);
            self.0.changed.notify_all();
        }
    }
}

impl Shared {
    fn fail(&self, state: &mut State, error: LabError) {
        state.failed = Some(error);
        self.has_failed.store(true, Ordering::Relaxed);
    }

    fn serve(&self, graph: &Graph, clock: &Clock) {
        let _panics = Panics(self);
        loop {
            let mut state = self.state.lock();
            while !state.has_work && !state.stops {
                self.work.wait(&mut state);
            }
            state.has_work = false;
            drop(state);
            loop {
                let stepped = graph.step(&|| clock.active());
                let mut state = self.state.lock();
                if let Err(error) = stepped {
                    self.fail(&mut state, error);
                }
                self.changed.notify_all();
                if state.stops || stepped.is_err() {
                    return;
                }
                if stepped == Ok(false) {
                    break;
                }
            }
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.shared.state.lock().stops = true;
        self.shared.work.notify_one();
        if let Some(thread) = self.thread.get_mut().take() {
            // Its error is already recorded.
            let _ = thread.join();
        }
    }
}
