//! Points of background work at which a test can cause an error, a panic or a delay. They exist only in
//! builds with the feature `planted-faults`; in every other build [`reach`] is the constant `Ok`.
//!
//! The [planted faults](hedgerow_core::faults) are mistakes of the engine that the tests must find. The
//! actions of this module can also happen to a correct engine, which must handle them.

use std::io;
#[cfg(feature = "planted-faults")]
use std::sync::atomic::Ordering;

/// A point in background work, or in work that is shared between threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailPoint {
    /// The thread that writes checkpoints in the background cannot be started.
    CheckpointThread,
    /// A checkpoint begins.
    CheckpointBegin,
    /// A checkpoint is about to write the image of a subgraph.
    CheckpointImage,
    /// All images are written, but no manifest names them yet.
    CheckpointWritten,
    /// The manifest that names the images is durable; the state in memory is not updated yet.
    CheckpointSwitched,
    /// The files that the new manifest does not name are about to be removed.
    CheckpointRemove,
    /// The thread that settles in the background cannot be started.
    SettleThread,
    /// A turn of settling begins.
    SettleTurn,
    /// A subgraph is latched and about to be settled.
    SettleSubgraph,
    /// The thread that syncs at intervals cannot be started.
    SyncThread,
    /// The thread that syncs at intervals is about to check whether anything must be synced.
    SyncTurn,
    /// The thread that syncs for tickets cannot be started.
    TicketThread,
    /// The thread that syncs for tickets got a request for a sync.
    TicketTurn,
    /// Chunks of a view are about to be read, on one of several threads.
    ViewPart,
    /// A batch part of a large commit is computed, on one of several threads, before a timestamp is drawn.
    BatchCompute,
    /// A batch part of a large commit is applied, on one of several threads, after the commit was logged.
    BatchApply,
}

impl FailPoint {
    /// All points.
    pub const ALL: [FailPoint; 16] = [
        FailPoint::CheckpointThread,
        FailPoint::CheckpointBegin,
        FailPoint::CheckpointImage,
        FailPoint::CheckpointWritten,
        FailPoint::CheckpointSwitched,
        FailPoint::CheckpointRemove,
        FailPoint::SettleThread,
        FailPoint::SettleTurn,
        FailPoint::SettleSubgraph,
        FailPoint::SyncThread,
        FailPoint::SyncTurn,
        FailPoint::TicketThread,
        FailPoint::TicketTurn,
        FailPoint::ViewPart,
        FailPoint::BatchCompute,
        FailPoint::BatchApply,
    ];
}

/// The action at a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// An I/O error. It is ignored at a point that cannot report one.
    Error,
    /// A panic.
    Panic,
    /// A sleep of some milliseconds.
    Delay,
}

#[cfg(feature = "planted-faults")]
mod armed {
    use super::{Action, FailPoint};

    pub(super) struct Armed {
        pub(super) point: FailPoint,
        pub(super) action: Action,
        pub(super) pass: u64,
        pub(super) times: u64,
    }

    pub(super) static ARMED: std::sync::Mutex<(Option<Armed>, u64)> = std::sync::Mutex::new((None, 0));

    /// True if a point is armed. Only then does a thread take the lock: a child that is forked while another
    /// thread has it would wait for it endlessly.
    pub(super) static ANY: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

    pub(super) fn lock() -> std::sync::MutexGuard<'static, (Option<Armed>, u64)> {
        ARMED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

/// Makes `action` happen at `point`, in any thread of the process. It does not happen the first `pass` times,
/// and then happens `times` times.
#[cfg(feature = "planted-faults")]
pub fn arm(point: FailPoint, action: Action, pass: u64, times: u64) {
    *armed::lock() = (Some(armed::Armed { point, action, pass, times }), 0);
    armed::ANY.store(true, Ordering::Release);
}

/// Ends the armed action. Returns how often it happened.
#[cfg(feature = "planted-faults")]
pub fn disarm() -> u64 {
    armed::ANY.store(false, Ordering::Release);
    let mut armed = armed::lock();
    armed.0 = None;
    armed.1
}

/// Returns how often the armed action has happened so far.
#[cfg(feature = "planted-faults")]
pub fn happened() -> u64 {
    armed::lock().1
}

/// Performs the action that is armed at `point`, if there is one.
///
/// # Errors
/// If a test armed an error at this point.
///
/// # Panics
/// If a test armed a panic at this point.
#[cfg(feature = "planted-faults")]
pub fn reach(point: FailPoint) -> io::Result<()> {
    if !armed::ANY.load(Ordering::Acquire) {
        return Ok(());
    }
    let action = {
        let mut guard = armed::lock();
        let (armed, happened) = &mut *guard;
        let Some(armed) = armed.as_mut().filter(|armed| armed.point == point) else { return Ok(()) };
        if armed.pass > 0 {
            armed.pass -= 1;
            return Ok(());
        }
        if armed.times == 0 {
            return Ok(());
        }
        armed.times -= 1;
        *happened += 1;
        armed.action
    };
    match action {
        Action::Error => Err(io::Error::from_raw_os_error(5)),
        Action::Panic => panic!("a test has a panic at {point:?}"),
        Action::Delay => {
            std::thread::sleep(std::time::Duration::from_millis(20));
            Ok(())
        }
    }
}

/// Does nothing in this build.
///
/// # Errors
/// None in this build.
#[cfg(not(feature = "planted-faults"))]
#[inline(always)]
pub const fn reach(_: FailPoint) -> io::Result<()> {
    Ok(())
}
