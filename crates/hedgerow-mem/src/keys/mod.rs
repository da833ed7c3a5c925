//! The mapping between keys and vertex ids, by timestamp.
//!
//! A [`KeyTable`] has a row for each vertex id: its key and the span in which the key names it. So a row *is*
//! a binding, and keys by id are an array. An [index](index) for each kind of vertices finds the newest row
//! of a key. It links to the older rows of the key while readers may see them. The bytes of a text are in
//! [`texts`]; its row holds their place. The kind of an id is one more byte, if any id has another kind.
//!
//! A number costs 12.8 bytes for its row and about 7 in the index; a text costs also its length, rounded up
//! to four. A look-up of a number that hits touches two cache lines, the bucket of the index and the row. For
//! a text it also touches the lines of its bytes.
//!
//! # Protocol
//! * One thread at a time changes the bindings of a key: the holder of its latch, which draws the timestamp
//!   and changes them under it, so timestamps ascend. Only [`forget`](KeyTable::forget) needs no latch:
//!   no reader can see its binding any more, and the lock of the index part orders it and later bindings.
//! * A row is bound before the index names it, and unbound after the index has dropped it: a snapshot that
//!   sees a binding finds its row whole. A look-up may read a row that another key got meanwhile: the keys
//!   differ, or the row's span excludes the snapshot (I23 in `docs/design/snapshots.md`).
//! * A link to an older row may outlive it: readers follow it only to a row of the key with an earlier birth.
//! * A look-up reads the index of a kind, not the kinds of rows. Meanwhile the id of a row may be reused for
//!   a vertex of another kind with an equal key. A look-up of the newest state then returns that row. For a
//!   snapshot, the span of the row begins too late.
//! * Look-ups take no lock and wait for no thread. A look-up of the newest state, which no snapshot protects,
//!   may be wrong; committers repeat it with the latches held (invariant I4).

mod bucket;
mod column;
mod index;
mod known;
mod rows;
mod texts;
mod together;

use std::hash::BuildHasher;
use std::sync::{Arc, OnceLock};

use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::growing::Growing;
use hedgerow_core::{KindId, TextColumn, Timestamp, VertexId, VertexKey, VertexKeyRef};
use smallvec::SmallVec;

pub use bucket::PARTS;
pub use together::Moment;

use bucket::Hash;
use index::Index;
use rows::{Rows, Span};
use texts::{Place, Texts};

/// A hasher with a seed per table: no user can choose keys that collide. Model checkers need a fixed seed.
#[cfg(not(feature = "model-checking"))]
type Hasher = foldhash::quality::RandomState;
#[cfg(feature = "model-checking")]
type Hasher = foldhash::quality::FixedState;

/// The keys of one kind of vertices, all numbers or all texts.
struct Kind {
    is_text: bool,
    index: Index,
}

/// The keys of the vertices of one graph.
pub struct KeyTable {
    default: Kind,
    /// All kinds but the default one.
    others: Growing<OnceLock<Box<Kind>>, 256>,
    rows: Rows,
    texts: Texts,
    hasher: Hasher,
    account: Arc<Account>,
}

impl Kind {
    fn new(is_text: bool, account: &Arc<Account>) -> Kind {
        Kind { is_text, index: Index::new(account.clone()) }
    }
}

#[inline]
fn is_text(key: VertexKeyRef<'_>) -> bool {
    matches!(key, VertexKeyRef::Str(_) | VertexKeyRef::KindStr(..))
}

/// A key that is being bound.
struct NewEntry<'k> {
    kind: KindId,
    key: VertexKeyRef<'k>,
    hash: Hash,
    id: VertexId,
}

impl NewEntry<'_> {
    /// Returns the kind, and the number of the index part.
    fn place(&self) -> (KindId, usize) {
        (self.kind, self.hash.part())
    }
}

impl KeyTable {
    /// Makes a table with an account of its own. Keys of the default kind are texts if `is_text`.
    pub fn new(is_text: bool) -> KeyTable {
        KeyTable::charging(is_text, Arc::default())
    }

    /// Like [`new`](Self::new), but charges its memory to `account`.
    pub fn charging(is_text: bool, account: Arc<Account>) -> KeyTable {
        KeyTable {
            default: Kind::new(is_text, &account),
            others: Growing::default(),
            rows: Rows::new(account.clone()),
            texts: Texts::new(account.clone()),
            hasher: Hasher::default(),
            account,
        }
    }

    /// Adds a kind of vertices, whose keys are texts if `is_text`, else numbers. Leaves an existing kind.
    pub fn add_kind(&self, kind: KindId, is_text: bool) {
        if let Some(at) = usize::from(kind.0).checked_sub(1) {
            let cell = self.others.get_or_create(at, |bytes| self.account.charge(Purpose::Keys, bytes));
            cell.get_or_init(|| Box::new(Kind::new(is_text, &self.account)));
        }
    }

    #[inline]
    fn kind(&self, kind: KindId) -> Option<&Kind> {
        match usize::from(kind.0).checked_sub(1) {
            None => Some(&self.default),
            Some(at) => self.others.get(at)?.get().map(Box::as_ref),
        }
    }

    fn kinds(&self) -> impl Iterator<Item = &Kind> {
        let others = self.others.chunks().flat_map(|(_, kinds)| kinds);
        [&self.default].into_iter().chain(others.filter_map(OnceLock::get).map(Box::as_ref))
    }

    /// Returns the kind of the vertex to which the id is or was last bound. Like [`key_of`](Self::key_of).
    #[inline]
    pub fn kind_of(&self, id: VertexId) -> KindId {
        self.rows.kind(id)
    }

    #[inline]
    fn hash(&self, key: VertexKeyRef<'_>) -> Hash {
        Hash(match key {
            VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => self.hasher.hash_one(n),
            VertexKeyRef::Str(s) | VertexKeyRef::KindStr(_, s) => self.hasher.hash_one(s.as_bytes()),
        })
    }

    fn hash_of(&self, id: VertexId, is_text: bool) -> Hash {
        let word = self.rows.key(id);
        if !is_text {
            return self.hash(VertexKeyRef::U64(word));
        }
        Hash(self.hasher.hash_one(&self.texts.read(Place(word))[..]))
    }

    /// Prefetches the keys of ids.
    fn prefetch_rows(&self, ids: &[VertexId], is_text: bool) {
        // Under the model checkers prefetches would only add interleavings.
        if cfg!(feature = "model-checking") {
            return;
        }
        ids.iter().for_each(|&id| self.rows.prefetch(id));
        if is_text {
            ids.iter().for_each(|&id| self.texts.prefetch(Place(self.rows.key(id))));
        }
    }

    /// True if `id` has the key now. The answer is stable while the binding of `id` cannot change.
    #[inline]
    pub fn carries(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        self.is_of_kind(id, key) && self.is(self.rows.key(id), key)
    }

    #[inline]
    fn is_of_kind(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        self.rows.kind(id) == key.kind() || faults::is_on(PlantedFault::KindsNotCompared)
    }

    /// True if a row's word represents `key`, without regard to its kind.
    #[inline]
    fn is(&self, word: u64, key: VertexKeyRef<'_>) -> bool {
        match key {
            VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => word == n,
            VertexKeyRef::Str(s) | VertexKeyRef::KindStr(_, s) => self.texts.is(Place(word), s),
        }
    }

    /// True if `key` names `id` now: the id has the key, and the binding has not ended.
    #[inline]
    pub fn names(&self, id: VertexId, key: VertexKeyRef<'_>) -> bool {
        let bound = self.rows.get(id).filter(|(_, span)| span.died == Timestamp::INFINITY);
        bound.is_some_and(|(word, _)| self.is(word, key)) && self.is_of_kind(id, key)
    }

    /// Returns the newest row of the key.
    #[inline]
    fn newest(&self, index: &Index, hash: Hash, key: VertexKeyRef<'_>) -> Option<(VertexId, Span)> {
        index.find(hash, |id| {
            let (word, span) = self.rows.get(id)?;
            self.is(word, key).then_some((id, span))
        })
    }

    /// Returns the vertex that `key` names for a snapshot at `t`. O(1), and O(its later bindings).
    #[inline]
    pub fn at(&self, key: VertexKeyRef<'_>, t: Timestamp) -> Option<VertexId> {
        let (kind, hash) = self.sought(key)?;
        match self.first_likely(&kind.index, hash)? {
            (id, row) if self.covers(row, key, t) => Some(id),
            _ => self.at_in_general(key, t),
        }
    }

    /// Like [`at`](Self::at), also if the first entry has another key, or a binding that does not cover `t`.
    #[cold]
    #[inline(never)]
    fn at_in_general(&self, key: VertexKeyRef<'_>, t: Timestamp) -> Option<VertexId> {
        let (kind, hash) = self.sought(key)?;
        self.at_hashed(&kind.index, hash, key, t)
    }

    /// Returns the kind and the hash of a key for a look-up; `None` if the kind has keys of the other type.
    #[inline]
    fn sought(&self, key: VertexKeyRef<'_>) -> Option<(&Kind, Hash)> {
        // A number in a row must not be used as the place of a text.
        let kind = self.kind(key.kind()).filter(|kind| kind.is_text == is_text(key))?;
        Some((kind, self.hash(key)))
    }

    #[inline]
    fn at_hashed(&self, index: &Index, hash: Hash, key: VertexKeyRef<'_>, t: Timestamp) -> Option<VertexId> {
        let (mut id, mut span) = self.newest(index, hash, key)?;
        while span.born > t {
            let later = span.born;
            id = self.rows.older(id).filter(|&older| self.carries(older, key))?;
            span = self.rows.span(id).filter(|span| span.born < later)?;
        }
        (t < span.died).then_some(id)
    }

    /// Returns when the key was last bound or unbound; `None` if never, or if no reader can see that.
    pub fn changed(&self, key: VertexKeyRef<'_>) -> Option<Timestamp> {
        let (kind, hash) = self.sought(key)?;
        let (_, span) = self.newest(&kind.index, hash, key)?;
        Some(if span.died == Timestamp::INFINITY { span.born } else { span.died })
    }

    /// Returns the key of an id. The caller reads a snapshot in which the vertex exists.
    pub fn key_of(&self, id: VertexId) -> VertexKey {
        let (of, word) = (self.rows.kind(id), self.rows.key(id));
        let is_text = self.kind(of).is_some_and(|kind| kind.is_text);
        let text = || String::from_utf8_lossy(&self.texts.read(Place(word))).into();
        let key = if is_text { VertexKey::Str(text()) } else { VertexKey::U64(word) };
        if of == KindId::DEFAULT { key } else { key.with_kind(of) }
    }

    /// Calls `f` with the key of each id in a snapshot at `t`, if all keys of the graph are numbers. O(ids).
    ///
    /// # Errors
    /// The first id without a vertex in that snapshot.
    pub fn numbers_at(&self, ids: &[VertexId], t: Timestamp, f: impl FnMut(u64)) -> Result<(), VertexId> {
        debug_assert!(!self.default.is_text);
        self.rows.each_at(ids, t, f)
    }

    /// Adds the key of each id in a snapshot at `t`, if all keys of the graph are texts. O(ids, and bytes).
    ///
    /// # Errors
    /// The first id without a vertex in that snapshot.
    pub fn texts_at(&self, ids: &[VertexId], t: Timestamp, texts: &mut TextColumn) -> Result<(), VertexId> {
        debug_assert!(self.default.is_text);
        self.rows.each_at(ids, t, |word| {
            texts.push(&String::from_utf8_lossy(&self.texts.read(Place(word))));
        })
    }

    /// Calls `f` with the key of each id, of any kind, in a snapshot at `t`. O(ids); allocates each text.
    ///
    /// # Errors
    /// The first id without a vertex in that snapshot.
    pub fn keys_at(
        &self,
        ids: &[VertexId],
        t: Timestamp,
        mut f: impl FnMut(VertexKey),
    ) -> Result<(), VertexId> {
        let mut left = ids.iter();
        self.rows.each_at(ids, t, |_| left.next().into_iter().for_each(|&id| f(self.key_of(id))))
    }

    /// Binds `key` to `id` as of `ts`; `oldest` is the oldest timestamp that readers can see, now or later.
    /// Only for the holder of the key's latch. No reader may see another binding of the id, and the kind has
    /// been [added](Self::add_kind). O(1), and O(keys / 64) for a few calls.
    pub fn bind(&self, key: VertexKeyRef<'_>, id: VertexId, ts: Timestamp, oldest: Timestamp) {
        self.bind_all([(key, id)], ts, oldest);
    }

    /// Like [`bind`](Self::bind), but for several keys. It takes the lock of each part of the index once, and
    /// the cache misses of the keys overlap.
    pub fn bind_all<'k>(
        &self,
        keys: impl IntoIterator<Item = (VertexKeyRef<'k>, VertexId)>,
        ts: Timestamp,
        oldest: Timestamp,
    ) {
        let keys = keys.into_iter();
        let mut all: SmallVec<[NewEntry<'k>; 2]> = SmallVec::with_capacity(keys.size_hint().0);
        for (key, id) in keys {
            self.forget(id);
            let (of, plain) = key.split();
            if self.kind(of).is_none() {
                debug_assert!(false, "a kind is added before its first key");
                continue;
            }
            let word = match plain {
                VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => n,
                VertexKeyRef::Str(s) | VertexKeyRef::KindStr(_, s) => self.texts.add(s).0,
            };
            self.rows.bind(id, of, word, ts);
            all.push(NewEntry { kind: of, key, hash: self.hash(key), id });
        }
        all.sort_unstable_by_key(NewEntry::place);
        for entries in all.chunk_by(|a, b| a.place() == b.place()) {
            self.put(entries, oldest);
        }
    }

    /// Makes room in one index part for its share of `keys` keys of a kind that are added one by one, so that
    /// its table is replaced once. Parts are numbered from 0 to [`PARTS`]. O(keys of the part).
    pub fn reserve(&self, kind: KindId, part: usize, keys: usize) {
        if let Some(kind) = self.kind(kind) {
            kind.index.reserve(part, keys / PARTS, self.hashes_of(kind));
        }
    }

    /// Returns a function that calls back with each id of a kind and the hash of its key.
    fn hashes_of(&self, kind: &Kind) -> impl Fn(&[VertexId], &mut dyn FnMut(Hash, VertexId)) {
        move |ids, f| {
            self.prefetch_rows(ids, kind.is_text);
            ids.iter().for_each(|&id| f(self.hash_of(id, kind.is_text), id));
        }
    }

    /// Puts entries of one part of one kind into the index; their rows are already bound.
    fn put(&self, entries: &[NewEntry<'_>], oldest: Timestamp) {
        let Some(kind) = entries.first().and_then(|entry| self.kind(entry.kind)) else { return };
        let replaces = |entry: &NewEntry<'_>, other: VertexId| {
            let found = self.rows.get(other).filter(|(word, _)| self.is(*word, entry.key));
            // Before the index names the new row: a reader of the new row may need the older one.
            if found.is_some_and(|(_, span)| span.died > oldest) {
                self.rows.set_older(entry.id, other);
            }
            found.is_some()
        };
        kind.index.put(entries, |entry| (entry.hash, entry.id), replaces, self.hashes_of(kind));
    }

    /// Ends the binding of `id` as of `ts`. Only for the holder of the key's latch.
    pub fn unbind(&self, id: VertexId, ts: Timestamp) {
        self.rows.end(id, ts);
    }

    /// Removes an ended binding of an id before the id is reused. No reader may see the binding any more.
    pub fn forget(&self, id: VertexId) {
        if self.rows.span(id).is_none_or(|span| span.died == Timestamp::INFINITY) {
            return;
        }
        let Some(kind) = self.kind(self.rows.kind(id)) else { return };
        kind.index.remove(self.hash_of(id, kind.is_text), id);
        if let Some(word) = self.rows.forget(id)
            && kind.is_text
        {
            self.texts.free(Place(word));
        }
    }

    /// Returns the number of keys that are bound, or were bound and may still be seen by readers.
    pub fn len(&self) -> usize {
        self.kinds().map(|kind| kind.index.len()).sum()
    }

    /// True if no such key exists.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the bytes of memory. O(ids / 9,920), and O(removed ids / 512).
    pub fn bytes(&self) -> usize {
        let kinds: usize = self.kinds().map(|kind| kind.index.bytes()).sum();
        self.rows.bytes() + kinds + self.texts.bytes() + self.others.bytes()
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
