//! The thread that flushes and compacts behind writers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use parking_lot::{Condvar, Mutex};

use super::graph::Graph;
use crate::LabError;
use crate::clock::Clock;

/// How many memory buffers there are at most: one that is written to, one that is flushed.
const BUFFERS: usize = 2;
/// After how long a writer that waits for room looks by itself whether there is some.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

#[derive(Default)]
struct State {
    has_work: bool,
    stops: bool,
    failed: Option<LabError>,
}

/// What the thread and writers share.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Tells the thread that there may be work.
    work: Condvar,
    /// Tells writers that the thread has done something.
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
    /// Sees to it that there is room to write to. An error of the thread is one of every writer from then on.
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
            // The thread has been told to look, and says so when it has; who reclaims memory makes room too,
            // and does not say so.
            if state.failed.is_none() && graph.is_full() && graph.version().buffers.len() >= BUFFERS {
                self.shared.changed.wait_for(&mut state, LOOK_AGAIN);
            }
        }
    }

    /// Lets the thread look for work.
    fn start(&self, graph: &Arc<Graph>, clock: &Arc<Clock>) {
        self.thread.lock().get_or_insert_with(|| {
            let (shared, graph, clock) = (self.shared.clone(), graph.clone(), clock.clone());
            std::thread::spawn(move || shared.serve(&graph, &clock))
        });
        self.shared.state.lock().has_work = true;
        self.shared.work.notify_one();
    }

    /// An error of the thread, if it had one.
    pub(super) fn check(&self) -> Result<(), LabError> {
        self.shared.state.lock().failed.map_or(Ok(()), Err)
    }
}

/// Has writers fail, and not wait, if the thread panics.
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
            // It has said what it had to say.
            let _ = thread.join();
        }
    }
}
