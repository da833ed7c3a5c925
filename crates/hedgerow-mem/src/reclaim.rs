//! When a version is dead, and what keeps it alive.

use hedgerow_core::Timestamp;

/// Why a version that has ended must stay for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pin {
    /// A reader is registering and has not said its timestamp yet, when the version had ended here: look again soon.
    Registering(Timestamp),
    /// The successor begins at a timestamp that is not published: snapshots opened now still need the version. Look
    /// again once this timestamp is published.
    Unpublished(Timestamp),
    /// A snapshot at this timestamp, the newest that does, reads the version. Look again when it closes.
    Snapshot(Timestamp),
}

/// What is known about readers, given by the layer that owns the clock and the registry.
///
/// `published` must be loaded before the registry is scanned (rule R5 of the design: publish, fence, scan), so that a
/// reader that registers after the scan can only take a timestamp at or after it.
pub trait Horizon {
    /// The published timestamp: no reader that registers from now on reads anything older.
    fn published(&self) -> Timestamp;
    /// The newest active timestamp in `begin..end`, if any. May be conservative (a pin too many), never miss one.
    fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin>;
    /// Told of each merge: a main part of `bytes` is no longer the newest. Whoever keeps it may be alone with it soon.
    fn replaced(&self, _bytes: usize) {}
}

/// Judges a version that lived in `begin..end`: `None` if it is dead.
///
/// Dead means that its end is published and no active timestamp lies in its lifetime (rule R6). The judgement is
/// precise: an old snapshot keeps the version that it reads, and none of the later ones.
#[inline]
pub fn judge(begin: Timestamp, end: Timestamp, horizon: &impl Horizon) -> Option<Pin> {
    if end > horizon.published() {
        return Some(Pin::Unpublished(end));
    }
    horizon.pin_in(begin, end)
}
