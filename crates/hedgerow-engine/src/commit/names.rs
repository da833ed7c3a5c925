//! The keys that a transaction names, as handles of one word.

use std::collections::HashMap;
use std::sync::Arc;

use foldhash::quality::RandomState;
use hedgerow_core::{KindId, Timestamp, VertexId, VertexKey, VertexKeyRef};

/// A key inside one transaction: a number that encodes kind and key, or the place of the key in the
/// transaction's table.
///
/// A word whose highest byte is not [`SPECIAL`] is a number of the default kind. Else the next byte is a
/// kind, and the lower bytes are the number; or it is [`TABLE`], and they are a place in the table. So the
/// table has only texts, and numbers that do not fit: of random numbers of the default kind one in 256.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct TxnKey(pub(crate) u64);

/// The timestamp at which commits look keys up: all applied changes are visible at it.
pub(super) const NOW: Timestamp = Timestamp(u64::MAX - 1);

const SPECIAL: u64 = 0xff;
const TABLE: u8 = 0xff;
/// The number of bits for a number of a kind, and for a place in the table.
const BITS: u32 = 48;

impl TxnKey {
    fn special(what: u8, low: u64) -> TxnKey {
        TxnKey(SPECIAL << 56 | u64::from(what) << BITS | low)
    }

    /// Returns the vertex of a number of the default kind in a dense graph.
    #[inline]
    pub(super) fn dense_id(self) -> Option<VertexId> {
        u32::try_from(self.0).ok().map(VertexId)
    }

    /// Returns the byte below [`SPECIAL`], and the number in the bytes below that.
    fn parts(self) -> Option<(u8, u64)> {
        (self.0 >> 56 == SPECIAL).then_some(((self.0 >> BITS) as u8, self.0 & ((1 << BITS) - 1)))
    }
}

/// The keys that a transaction names.
#[derive(Default)]
pub(crate) struct TxnKeys {
    /// The keys that do not fit into their handles.
    table: Vec<VertexKey>,
    numbers: HashMap<(KindId, u64), TxnKey>,
    /// The handles of texts, by kind.
    texts: Vec<HashMap<Arc<str>, TxnKey, RandomState>>,
}

impl TxnKeys {
    pub(crate) fn new() -> TxnKeys {
        TxnKeys::default()
    }

    /// Returns the handle of `key`.
    #[inline]
    pub(crate) fn intern(&mut self, key: VertexKeyRef<'_>) -> TxnKey {
        match key {
            VertexKeyRef::U64(n) if n >> 56 != SPECIAL => TxnKey(n),
            VertexKeyRef::KindU64(kind, n) if n >> BITS == 0 => TxnKey::special(kind.0, n),
            VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => self.intern_number(key.kind(), n),
            VertexKeyRef::Str(s) | VertexKeyRef::KindStr(_, s) => self.intern_text(key.kind(), s),
        }
    }

    fn add(table: &mut Vec<VertexKey>, key: VertexKey) -> TxnKey {
        table.push(key);
        TxnKey::special(TABLE, table.len() as u64 - 1)
    }

    fn intern_number(&mut self, kind: KindId, n: u64) -> TxnKey {
        let add = || Self::add(&mut self.table, kind.key(n).to_owned());
        *self.numbers.entry((kind, n)).or_insert_with(add)
    }

    fn intern_text(&mut self, kind: KindId, s: &str) -> TxnKey {
        let at = usize::from(kind.0);
        if self.texts.len() <= at {
            self.texts.resize_with(at + 1, HashMap::default);
        }
        let texts = &mut self.texts[at];
        if let Some(&key) = texts.get(s) {
            return key;
        }
        let text = Arc::<str>::from(s);
        let key = Self::add(&mut self.table, VertexKey::Str(text.clone()).with_kind(kind));
        texts.insert(text, key);
        key
    }

    #[inline]
    pub(crate) fn key(&self, key: TxnKey) -> VertexKeyRef<'_> {
        match key.parts() {
            None => VertexKeyRef::U64(key.0),
            Some((TABLE, place)) => self.table[place as usize].as_ref(),
            Some((kind, n)) => VertexKeyRef::KindU64(KindId(kind), n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Similar keys have different handles, and a handle returns its key.
    #[test]
    fn a_handle_is_that_of_one_key() {
        let (a, b) = (KindId(1), KindId::MAX);
        let mut all: Vec<VertexKeyRef<'_>> = Vec::new();
        for n in
            [0, 1, 1 << 47, 1 << 48, 1 << 56, 0xfe << 56, 0xff << 56, 0xffff << 48, u64::MAX - 1, u64::MAX]
        {
            all.extend([KindId::DEFAULT, a, b].map(|kind| kind.key(n)));
        }
        for s in ["", "0", "1", "a"] {
            all.extend([KindId::DEFAULT, a, b].map(|kind| kind.key(s)));
        }
        let mut keys = TxnKeys::new();
        let handles: Vec<TxnKey> = all.iter().map(|&key| keys.intern(key)).collect();
        for (key, &handle) in all.iter().zip(&handles) {
            assert_eq!(keys.key(handle), *key);
            assert_eq!(keys.intern(*key), handle, "{key:?}");
        }
        let mut distinct = handles.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), all.len());
    }
}
