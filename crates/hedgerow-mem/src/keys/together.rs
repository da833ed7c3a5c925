//! Looks for several keys at once, whose cache misses overlap.
//!
//! Loops, not closures over arrays: those are compiled to calls, one for each key. Functions that are called, not inlined: who
//! calls them serves graphs without keys too, which would carry their registers and stack.

use hedgerow_core::{Timestamp, VertexId, VertexKeyRef, simd};

use super::bucket::{Bucket, Hash};
use super::index::{Index, Table};
use super::rows::Row;
use super::texts::Place;
use super::{KeyTable, is_text};
use crate::grace::ReadGuard;

/// When the caller of a look hears which vertex a key probably names: what it wants of that vertex may be two cache misses away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// The row of the vertex begins to load.
    RowSought,
    /// It is here, and what the caller began to load at the moment before probably too.
    RowHere,
}

/// The first entry whose tag agrees with that of a key: the vertex, and its row.
type Likely<'a> = Option<(VertexId, Row<'a>)>;

impl KeyTable {
    /// As [`at`](Self::at), of several keys. `likely` hears meanwhile which vertices they probably name, by the place of the
    /// key: the caller can begin to load what it will want of these.
    #[inline(never)]
    pub fn at_all<const N: usize>(
        &self,
        keys: [VertexKeyRef<'_>; N],
        t: Timestamp,
        likely: impl FnMut(Moment, usize, VertexId),
    ) -> [Option<VertexId>; N] {
        let mut found = [None; N];
        // Under the model checkers loads ahead would only be more interleavings.
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

    /// The vertices that the keys probably name now: those of the first entries whose tags agree. Who uses them asks, with the
    /// latches of both held, whether they exist and [carry](Self::carries) the keys. `None` if there is no such entry of one of
    /// them. Begins to load what is compared then. `likely` as in [`at_all`](Self::at_all).
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

    /// The first entry that agrees, found without loading anything ahead.
    #[inline]
    pub(super) fn first_likely(&self, index: &Index, hash: Hash) -> Likely<'_> {
        let walk = ReadGuard::begin();
        let table = index.table(hash, &walk)?;
        let id = first_in(table, table.first(hash), hash)?;
        Some((id, self.rows.row(id)?))
    }

    /// Whether a row is bound to the key at `t` and on. A key names one vertex at a time: then it is that of the row. Only for a
    /// row that the index of the key's kind named.
    #[inline]
    pub(super) fn covers(&self, row: Row<'_>, key: VertexKeyRef<'_>, t: Timestamp) -> bool {
        row.key_at(t).is_some_and(|word| self.is(word, key))
    }

    /// The vertices that the keys probably name, and their rows, which begin to load, and texts.
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

/// The first entry of the hash whose tag agrees; `bucket` is the first bucket of the hash.
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
