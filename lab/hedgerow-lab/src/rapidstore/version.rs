//! Versions of a subgraph, from new to old.

use std::sync::Arc;

use hedgerow_core::{Direction, LocalVertex, VertexId};

use super::cell::ArcLock;
use super::shape::Shape;
use super::side::Side;
use crate::change::{Change, Effect};
use crate::clock::Active;
use crate::planted::{Planted, is_on};

/// A version of a subgraph: its state after a transaction.
pub(super) struct Version {
    /// The timestamp of that transaction.
    pub(super) begin: u64,
    /// The set of existing vertices.
    pub(super) live: u64,
    out: Side,
    /// The incoming lists; none before a directed graph has some.
    into: Option<Box<Side>>,
    /// The version that this one replaced, as long as a reader may see it.
    older: ArcLock<Version>,
}

impl Default for Version {
    fn default() -> Self {
        Version { begin: 0, live: 0, out: Side::default(), into: None, older: ArcLock::new(None) }
    }
}

impl Version {
    /// Returns a copy for changes. It shares leaves and trees, and a write replaces the ones that it changes.
    pub(super) fn draft(&self) -> Version {
        Version {
            begin: self.begin,
            live: self.live,
            out: self.out.clone(),
            into: self.into.clone(),
            older: ArcLock::new(None),
        }
    }

    #[inline]
    pub(super) fn side(&self, direction: Direction) -> Option<&Side> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In => self.into.as_deref(),
        }
    }

    pub(super) fn apply(
        &mut self,
        local: LocalVertex,
        direction: Direction,
        changes: &[Change],
        shape: &Shape,
    ) -> Effect {
        let side = match direction {
            Direction::Out => &mut self.out,
            Direction::In => self.into.get_or_insert_default(),
        };
        side.apply(local, changes, shape)
    }

    pub(super) fn find(&self, local: LocalVertex, direction: Direction, target: VertexId) -> Option<f64> {
        self.side(direction)?.find(local, target)
    }

    /// Sets the timestamp, and links the older version that this one replaces.
    pub(super) fn replaces(&mut self, older: Option<Arc<Version>>, begin: u64) {
        self.begin = begin;
        self.older = ArcLock::new(older);
    }

    /// Returns the version that a reader at `at` sees: this one or an older one.
    pub(super) fn at(self: Arc<Version>, at: u64) -> Option<Arc<Version>> {
        let mut version = self;
        while version.begin > at {
            version = version.older.load()?;
        }
        Some(version)
    }

    /// Unlinks the older versions that no reader sees. Called only by the writer that has locked the
    /// subgraph.
    pub(super) fn prune(&self, active: &Active) {
        if active.is_empty() || is_on(Planted::ReadersForgotten) {
            self.older.store(None);
            return;
        }
        let Some(mut older) = self.older.load() else { return };
        // `kept` is the last kept version; `end` is the beginning of the version that replaced `older`.
        let (mut kept, mut end): (Option<Arc<Version>>, u64) = (None, self.begin);
        loop {
            let before = older.older.load();
            let begin = older.begin;
            if active.needs(begin, end) {
                kept = Some(older);
            } else {
                let newer = kept.as_ref().map_or(&self.older, |kept| &kept.older);
                newer.store(before.clone());
            }
            end = begin;
            match before {
                Some(before) => older = before,
                None => return,
            }
        }
    }

    /// Returns the number of bytes of this version, as if it shared nothing.
    pub(super) fn bytes(&self) -> usize {
        let counts = 16;
        let into = self.into.as_ref().map_or(0, |into| size_of::<Side>() + into.bytes());
        counts + size_of::<Version>() + self.out.bytes() + into
    }

    /// Returns the number of bytes of the older versions alone. Parts that they share with newer versions are
    /// not counted again.
    pub(super) fn bytes_of_older(&self) -> usize {
        let mut bytes = 0;
        let mut older = self.older.load();
        while let Some(version) = older {
            bytes += 16 + size_of::<Version>();
            older = version.older.load();
        }
        bytes
    }
}
