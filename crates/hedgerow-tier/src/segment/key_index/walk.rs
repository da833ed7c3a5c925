//! A walk through the key indexes of several segments, key by key. Looking up each key would read a block per
//! key and segment.

use std::vec::IntoIter;

use hedgerow_core::{KindId, VertexId, VertexKeyRef};
use hedgerow_io::StoreId;

use super::KeyIndex;
use super::entry::{Entry, hash_of, text_of};
use crate::TierError;
use crate::segment::source::Source;

/// A key in the form that key indexes use. Equal keys of one store have equal forms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndexedKey<'a> {
    hash: u64,
    kind: KindId,
    text: Option<&'a str>,
}

impl<'a> IndexedKey<'a> {
    /// Returns the form of a key in the indexes of a store.
    pub(in crate::segment) fn of(store: StoreId, key: VertexKeyRef<'a>) -> IndexedKey<'a> {
        IndexedKey { hash: hash_of(store, key), kind: key.kind(), text: text_of(key) }
    }
}

/// A copy of an entry that no longer needs its block.
struct Told {
    hash: u64,
    kind: KindId,
    text: Option<Box<str>>,
    id: VertexId,
    /// The number of the segment with the entry.
    by: usize,
}

impl Told {
    fn new(entry: &Entry<'_>, by: usize) -> Told {
        Told { hash: entry.hash, kind: entry.kind, text: entry.text.map(Box::from), id: entry.id, by }
    }

    /// Returns the kind and the text, which identify a key among the keys with one hash.
    fn key(&self) -> (KindId, Option<&str>) {
        (self.kind, self.text.as_deref())
    }
}

/// A position in the index of one segment.
struct Cursor<'s> {
    index: &'s KeyIndex,
    source: &'s Source,
    by: usize,
    /// The number of the next block.
    next: usize,
    /// The remaining entries of the current block.
    entries: IntoIter<Told>,
}

impl Cursor<'_> {
    /// Returns the hash of the next entry; `None` at the end. If the current block has no more entries, reads
    /// the next block.
    fn hash(&mut self) -> Result<Option<u64>, TierError> {
        while self.entries.as_slice().is_empty() && self.next < self.index.blocks.len() {
            let (mut entries, by) = (Vec::new(), self.by);
            self.index.read_block(self.source, self.next, |entry| entries.push(Told::new(entry, by)))?;
            (self.next, self.entries) = (self.next + 1, entries.into_iter());
        }
        Ok(self.entries.as_slice().first().map(|entry| entry.hash))
    }

    /// Moves the entries with this hash to `to`. They are all in one block.
    fn take(&mut self, hash: u64, to: &mut Vec<Told>) {
        let same = self.entries.as_slice().iter().take_while(|entry| entry.hash == hash).count();
        to.extend(self.entries.by_ref().take(same));
    }
}

/// Calls `f` with each key that one of the indexes has, and with the vertex that it names in each index.
/// Skips a key that one index has twice. Reads each block of each index once, with one block of each index in
/// memory. For a segment without an index the vertex is `None`.
pub(in crate::segment) fn walk(
    indexes: &[Option<(&KeyIndex, &Source)>],
    mut f: impl FnMut(IndexedKey<'_>, &[Option<VertexId>]),
) -> Result<(), TierError> {
    let numbered = (0..).zip(indexes).filter_map(|(by, index)| Some((by, (*index)?)));
    let cursor =
        |(by, (index, source))| Cursor { index, source, by, next: 0, entries: Vec::new().into_iter() };
    let mut cursors: Vec<Cursor<'_>> = numbered.map(cursor).collect();
    let (mut told, mut names) = (Vec::new(), vec![None; indexes.len()]);
    loop {
        let mut least = None;
        for cursor in &mut cursors {
            least = [least, cursor.hash()?].into_iter().flatten().min();
        }
        let Some(hash) = least else { return Ok(()) };
        cursors.iter_mut().for_each(|cursor| cursor.take(hash, &mut told));
        told.sort_by(|a, b| a.key().cmp(&b.key()));
        for of_key in told.chunk_by(|a, b| a.key() == b.key()) {
            names.fill(None);
            let mut name = |entry: &Told| names.get_mut(entry.by).and_then(|name| name.replace(entry.id));
            let is_twice = of_key.iter().any(|entry| name(entry).is_some());
            if let (Some(first), false) = (of_key.first(), is_twice) {
                let (kind, text) = first.key();
                f(IndexedKey { hash, kind, text }, &names);
            }
        }
        told.clear();
    }
}
