//! Looks for several keys at once, whose cache misses overlap.
//!
//! Loops, not closures over arrays: those are compiled to calls, one for each key. Functions that are called, not inlined: who
//! calls them serves graphs without keys too, which would carry their registers and stack.

use hedgerow_core::{Timestamp, VertexId, VertexKeyRef, simd};

use super::bucket::Hash;
use super::index::Table;
use super::rows::Row;
use super::texts::Place;
use super::{KeyTable, Kind};
use crate::grace::ReadGuard;

impl KeyTable {
    /// As [`at`](Self::at), of several keys. `likely` hears meanwhile which vertices they probably name, by the place of the
    /// key: the caller can begin to load what it will want of these.
    #[inline(never)]
    pub fn at_all<const N: usize>(
        &self,
        keys: [VertexKeyRef<'_>; N],
        t: Timestamp,
        likely: impl FnMut(usize, VertexId),
    ) -> [Option<VertexId>; N] {
        let sought = self.all_sought(&keys);
        // Under the model checkers loads ahead would only be more interleavings.
        let rows = if cfg!(feature = "model-checking") { [None; N] } else { self.likely(&sought, likely) };
        let mut found = [None; N];
        for at in 0..N {
            found[at] = match (rows[at], sought[at]) {
                (_, None) => None,
                (Some((id, row)), _) if self.covers(row, keys[at], t) => Some(id),
                (_, Some((kind, hash))) => self.at_hashed(&kind.index, hash, keys[at], t),
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
        likely: impl FnMut(usize, VertexId),
    ) -> Option<[VertexId; N]> {
        let rows = self.likely(&self.all_sought(keys), likely);
        let mut ids = [VertexId(0); N];
        for (id, row) in ids.iter_mut().zip(rows) {
            *id = row?.0;
        }
        Some(ids)
    }

    /// Whether a row is bound to the key at `t` and on. A key names one vertex at a time: then it is that of the row. Only for a
    /// row that the index of the key's kind named.
    #[inline]
    fn covers(&self, row: Row<'_>, key: VertexKeyRef<'_>, t: Timestamp) -> bool {
        row.key_at(t).is_some_and(|word| self.is(word, key))
    }

    #[inline]
    fn all_sought<const N: usize>(&self, keys: &[VertexKeyRef<'_>; N]) -> [Option<(&Kind, Hash)>; N] {
        let mut sought = [None; N];
        for (sought, &key) in sought.iter_mut().zip(keys) {
            *sought = self.sought(key);
        }
        sought
    }

    /// The vertices that the keys probably name, and their rows, which begin to load, and texts.
    #[inline]
    fn likely<const N: usize>(
        &self,
        sought: &[Option<(&Kind, Hash)>; N],
        mut likely: impl FnMut(usize, VertexId),
    ) -> [Option<(VertexId, Row<'_>)>; N] {
        let walk = ReadGuard::begin();
        let mut tables: [Option<(&Table, Hash)>; N] = [None; N];
        for (table, sought) in tables.iter_mut().zip(sought) {
            if let &Some((kind, hash)) = sought
                && let Some(found) = kind.index.table(hash, &walk)
            {
                simd::prefetch(found.first(hash));
                *table = Some((found, hash));
            }
        }
        let mut rows = [None; N];
        for at in 0..N {
            if let Some((table, hash)) = tables[at]
                && let Some(id) = table.find(hash, |bucket, slot| Some(bucket.id(slot)))
                && let Some(row) = self.rows.row(id)
            {
                row.prefetch();
                rows[at] = Some((id, row));
            }
        }
        drop(walk);
        for (at, row) in rows.iter().enumerate() {
            if let &Some((id, _)) = row {
                likely(at, id);
            }
        }
        for at in 0..N {
            if let (Some((_, row)), Some((kind, _))) = (rows[at], sought[at])
                && kind.is_text
                && !cfg!(feature = "model-checking")
            {
                self.texts.prefetch(Place(row.key_now()));
            }
        }
        rows
    }
}
