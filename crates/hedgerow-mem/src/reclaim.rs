//! The rule for dead versions, and the pins that keep versions alive.

use hedgerow_core::Timestamp;
use smallvec::SmallVec;

/// The reason why a replaced version must stay for now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Pin {
    /// A reader is registering and has not stored its timestamp yet. The version was replaced at this
    /// timestamp. Check again soon.
    Registering(Timestamp),
    /// The successor begins at this timestamp, which is not published: snapshots opened now still need the
    /// version. Check again when the timestamp is published.
    Unpublished(Timestamp),
    /// A snapshot at this timestamp, the newest such one, reads the version. Check again when it closes.
    Snapshot(Timestamp),
}

/// The pins of versions of a chain that must stay for now. The caller records them with the chain: otherwise
/// the versions stay for ever.
#[must_use = "the versions stay until the chain is reclaimed for these pins"]
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VersionPins(
    /// One word, since most calls have no pins.
    Option<Box<SmallVec<[Pin; 2]>>>,
);

impl VersionPins {
    #[inline]
    pub(crate) fn push(&mut self, pin: Pin) {
        self.0.get_or_insert_default().push(pin);
    }

    /// True if no version waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }
}

impl IntoIterator for VersionPins {
    type Item = Pin;
    type IntoIter = smallvec::IntoIter<[Pin; 2]>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.map(|pins| *pins).unwrap_or_default().into_iter()
    }
}

/// The state of the readers, from the layer that owns the clock and the registry.
///
/// `published` must be loaded before the registry is scanned (rule R5 of the design: publish, fence, scan).
/// Then a reader that registers after the scan can only take a timestamp at or after `published`.
///
/// Its calls run under the latch of a subgraph. They take no lock, wait for nothing, and call no storage.
pub trait Horizon {
    /// Returns the published timestamp: no reader that registers from now on reads anything older.
    fn published(&self) -> Timestamp;
    /// Returns the newest active timestamp in `begin..end`, if any. The result may be an unnecessary pin, but
    /// a needed pin is never missed.
    fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin>;
}

/// The main parts that the merges under one latch replaced. The thread that releases the latch passes them
/// on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// The number of main parts that are no longer the newest.
    pub main_parts: usize,
    /// The bytes of these main parts. Soon only snapshots or views may refer to them.
    pub bytes: usize,
}

impl std::ops::AddAssign for Merged {
    fn add_assign(&mut self, other: Merged) {
        self.main_parts += other.main_parts;
        self.bytes += other.bytes;
    }
}

/// Decides about a version whose lifetime is `begin..end`: `None` if it is dead.
///
/// It is dead if its end timestamp is published and no active timestamp is in its lifetime (rule R6). The
/// decision is precise: an old snapshot pins the version that it reads, and no later one.
#[inline]
pub fn judge(begin: Timestamp, end: Timestamp, horizon: &impl Horizon) -> Option<Pin> {
    if end > horizon.published() {
        return Some(Pin::Unpublished(end));
    }
    horizon.pin_in(begin, end)
}

#[cfg(test)]
pub(crate) mod testing {
    use super::{Horizon, Pin, Timestamp};

    /// A horizon that pins all versions. All commits are published.
    pub(crate) struct KeepAll;

    impl Horizon for KeepAll {
        fn published(&self) -> Timestamp {
            Timestamp(u64::MAX >> 1)
        }

        fn pin_in(&self, _: Timestamp, end: Timestamp) -> Option<Pin> {
            Some(Pin::Snapshot(end))
        }
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests {
    use super::*;

    /// A horizon with open snapshots at 3 and 7. Commits up to 10 are published.
    struct Readers;

    impl Horizon for Readers {
        fn published(&self) -> Timestamp {
            Timestamp(10)
        }

        fn pin_in(&self, begin: Timestamp, end: Timestamp) -> Option<Pin> {
            [7, 3].map(Timestamp).into_iter().find(|ts| (begin..end).contains(ts)).map(Pin::Snapshot)
        }
    }

    #[test]
    fn a_version_is_dead_once_its_end_is_published_and_no_snapshot_reads_it() {
        let judged = |begin, end| judge(Timestamp(begin), Timestamp(end), &Readers);
        assert_eq!(judged(4, 7), None, "it ended where a snapshot reads its successor");
        assert_eq!(judged(8, 10), None);
        assert_eq!(judged(3, 4), Some(Pin::Snapshot(Timestamp(3))), "it began where a snapshot reads");
        assert_eq!(judged(0, 8), Some(Pin::Snapshot(Timestamp(7))), "the newest of two");
        // New snapshots still read the version, in addition to older ones.
        assert_eq!(judged(8, 11), Some(Pin::Unpublished(Timestamp(11))));
        assert_eq!(judged(0, 11), Some(Pin::Unpublished(Timestamp(11))));
    }
}
