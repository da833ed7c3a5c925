//! Look-ups of several keys at once, whose cache misses overlap.
//!
//! This module uses loops: for closures over arrays the compiler makes a call per key. Its functions are not
//! inlined, because their callers also serve graphs without keys and would need more registers and stack.

use hedgerow_core::{Timestamp, VertexId, VertexKeyRef, simd};

use super::bucket::{Bucket, Hash};
use super::index::{Index, Table};
use super::rows::Row;
use super::texts::Place;
use super::{KeyTable, is_text};
use crate::grace::ReadGuard;

/// The moment at which a look-up reports to its caller the vertex that a key probably names. The data of that
/// vertex may be two cache misses away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The row of the vertex is being loaded.
    RowSought,
    /// The row is in the cache. Data that the caller began to load at `RowSought` is probably there too.
    RowHere,
}

/// The first index entry with the tag of a key: the vertex, and its row.
type Likely<'a> = Option<(VertexId, Row<'a>)>;

impl KeyTable {
    /// Like [`at`](Self::at), but for several keys. Meanwhile it calls `likely` with the position of a key
    /// and the vertex that it probably names, so that the caller can prefetch the data of that vertex.
    #[inline(never)]
    pub fn at_all<const N: usize>(
        &self,
        keys: [VertexKeyRef<'_>; N],
        t: Timestamp,
        likely: impl FnMut(Moment, usize, VertexId),
    ) -> [Option<VertexId>; N] {
        let mut found = [None; N];
        // Under the model checkers prefetches would only add interleavings.
        if cfg!(feature = "model-checking") {
            for (found, key) in found.iter_mut().zip(keys) {
                *found = self.at(key, t);
            }
            return found;
        }
        let rows = self.likely(&keys, likely);
        for at in 0..N {
            found[at] = match rows[at] {
                None => None,
                Some((id, row)) if self.covers(row, keys[at], t) => Some(id),
                Some(_) => self.at_in_general(keys[at], t),
            };
        }
        found
    }

    /// Returns the vertices that the keys probably name now: the vertices of the first entries with equal
    /// tags. The caller latches these vertices, then checks that they exist and [carry](Self::carries) the
    /// keys. `None` if a key has no such entry. Prefetches the data for that check. `likely` is called as in
    /// [`at_all`](Self::at_all).
    #[inline(never)]
    pub fn guess<const N: usize>(
        &self,
        keys: &[VertexKeyRef<'_>; N],
        likely: impl FnMut(Moment, usize, VertexId),
    ) -> Option<[VertexId; N]> {
        let rows = self.likely(keys, likely);
        let mut ids = [VertexId(0); N];
        for (id, row) in ids.iter_mut().zip(rows) {
            *id = row?.0;
        }
        Some(ids)
    }

    /// Returns the first entry with the tag of the hash. Prefetches nothing.
    #[inline]
    pub(super) fn first_likely(&self, index: &Index, hash: Hash) -> Likely<'_> {
        let walk = ReadGuard::begin();
        let table = index.table(hash, &walk)?;
        let id = first_in(table, table.first(hash), hash)?;
        Some((id, self.rows.row(id)?))
    }

    /// True if a row has been bound to the key from `t` or earlier until now. A key names one vertex at a
    /// time, so the key then names the row's vertex. Only for a row that the index of the key's kind named.
    #[inline]
    pub(super) fn covers(&self, row: Row<'_>, key: VertexKeyRef<'_>, t: Timestamp) -> bool {
        row.key_at(t).is_some_and(|word| self.is(word, key))
    }

    /// Returns the vertices that the keys probably name, with their rows. Prefetches rows and texts.
    #[inline(always)]
    fn likely<const N: usize>(
        &self,
        keys: &[VertexKeyRef<'_>; N],
        mut likely: impl FnMut(Moment, usize, VertexId),
    ) -> [Likely<'_>; N] {
        let walk = ReadGuard::begin();
        let mut buckets: [Option<(&Table, &Bucket, Hash)>; N] = [None; N];
        for (bucket, &key) in buckets.iter_mut().zip(keys) {
            if let Some((kind, hash)) = self.sought(key)
                && let Some(table) = kind.index.table(hash, &walk)
            {
                let first = table.first(hash);
                simd::prefetch(first);
                *bucket = Some((table, first, hash));
            }
        }
        let mut rows = [None; N];
        for at in 0..N {
            if let Some((table, bucket, hash)) = buckets[at]
                && let Some(id) = first_in(table, bucket, hash)
                && let Some(row) = self.rows.row(id)
            {
                row.prefetch();
                rows[at] = Some((id, row));
                likely(Moment::RowSought, at, id);
            }
        }
        drop(walk);
        for at in 0..N {
            if let Some((_, row)) = rows[at]
                && is_text(keys[at])
                && !cfg!(feature = "model-checking")
            {
                self.texts.prefetch(Place(row.key_now()));
            }
        }
        for (at, row) in rows.iter().enumerate() {
            if let &Some((id, _)) = row {
                likely(Moment::RowHere, at, id);
            }
        }
        rows
    }
}

/// Returns the first entry with the tag of the hash; `bucket` is the first bucket of the hash.
#[inline]
fn first_in(table: &Table, bucket: &Bucket, hash: Hash) -> Option<VertexId> {
    match bucket.alike(hash.tag()).next() {
        Some(slot) => Some(bucket.id(slot)),
        None if bucket.was_passed() => first_in_any(table, hash),
        None => None,
    }
}

#[cold]
#[inline(never)]
fn first_in_any(table: &Table, hash: Hash) -> Option<VertexId> {
    table.find(hash, |bucket, slot| Some(bucket.id(slot)))
}
