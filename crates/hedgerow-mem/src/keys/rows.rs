//! The bindings of vertex ids: a row for an id, found by position.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::simd;
use hedgerow_core::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use hedgerow_core::{KindId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId};

use super::column::Column;

/// Rows of a cache line.
const IN_LINE: usize = 5;
/// Lines of a page of rows. With their alignment they fit 128 KiB, of which allocators lose little; smaller
/// blocks of such an even size leave an eighth of their pages unused. The first page has as many after it
/// doubled some times.
const LINES: usize = if cfg!(feature = "model-checking") { 1 } else { 31 << 6 };
/// The distance in ids at which reads of many rows prefetch.
const AHEAD: usize = 12;
/// Ids of a page of kinds.
const KINDS: usize = if cfg!(feature = "model-checking") { 2 } else { 1 << 13 };
/// Ids of a page of `past` or `far`, which few rows need.
const PASTS: usize = if cfg!(feature = "model-checking") { 2 } else { 1 << 9 };
/// Number of vertex ids.
const IDS: usize = 1 << 32;
/// The stamp of an id that the table knows nothing about: segments may hold a binding.
const UNKNOWN: u32 = u32::MAX;
/// The stamp of an id that is known to have no binding, whatever segments hold.
const UNBOUND: u32 = u32::MAX - 1;
/// The bit of a stamp of a binding that has ended.
const ENDED: u32 = 1 << 31;
/// The stamp of a timestamp with other high bits than its line. The timestamp is in a column of its own.
const FAR: u32 = ENDED - 3;
/// Bits of a timestamp in a stamp.
const LOW_BITS: u32 = if cfg!(feature = "model-checking") { 1 } else { 31 };
/// The high bits of a line that has none yet.
const UNSET: u32 = u32::MAX;
/// The mark for "no older binding".
const NO_ID: u32 = u32::MAX;

/// The newest bindings of some ids: a cache line.
#[repr(align(64))]
struct Line {
    /// Numbers, or the places of texts.
    keys: [AtomicU64; IN_LINE],
    /// The low bits of the begin, or [`FAR`], and [`ENDED`] if the binding has ended. Or [`UNBOUND`] or
    /// [`UNKNOWN`].
    stamps: [AtomicU32; IN_LINE],
    /// The high bits of the timestamps: those of the first binding in the line. Once set they never change.
    high: AtomicU32,
}

/// The row of an id: its line, and its place there.
#[derive(Clone, Copy)]
pub(super) struct Row<'a>(&'a Line, usize);

/// The fields that few rows need. Their pages are made when the first of their ids needs them.
struct Past {
    /// The end timestamp of the binding.
    died: AtomicU64,
    /// The id that the key was bound to before.
    older: AtomicU32,
}

/// The span of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) born: Timestamp,
    /// Infinite while the binding goes on.
    pub(super) died: Timestamp,
}

/// The rows by vertex id. They grow without moving and are read without locks. Among ids that are far apart
/// each costs a page.
pub(super) struct Rows {
    account: Arc<Account>,
    lines: Column<Line, LINES, { IDS / IN_LINE / LINES + 1 }>,
    past: Column<Past, PASTS, { IDS / PASTS }>,
    /// The begins of bindings whose stamps are [`FAR`]. Only pages with such a binding exist.
    far: Column<AtomicU64, PASTS, { IDS / PASTS }>,
    /// The kinds of the vertices. Only pages with a vertex that is not of the default kind exist.
    kinds: Column<AtomicU8, KINDS, { IDS / KINDS }>,
}

impl Default for Line {
    fn default() -> Line {
        Line {
            keys: std::array::from_fn(|_| AtomicU64::new(0)),
            stamps: std::array::from_fn(|_| AtomicU32::new(UNKNOWN)),
            high: AtomicU32::new(UNSET),
        }
    }
}

impl Default for Past {
    fn default() -> Past {
        Past { died: AtomicU64::new(0), older: AtomicU32::new(NO_ID) }
    }
}

impl<'a> Row<'a> {
    #[inline]
    fn key(self) -> &'a AtomicU64 {
        &self.0.keys[self.1]
    }

    #[inline]
    fn stamp(self) -> &'a AtomicU32 {
        &self.0.stamps[self.1]
    }

    /// Returns the begin of the binding with this stamp, if the stamp holds it.
    #[inline]
    fn born(self, stamp: u32) -> Option<Timestamp> {
        let low = stamp & !ENDED;
        // Set before the first stamp of the line, and never again.
        let high = self.0.high.load(Ordering::Relaxed);
        (low != FAR).then_some(Timestamp(u64::from(high) << LOW_BITS | u64::from(low)))
    }

    /// Prefetches the row.
    #[inline]
    pub(super) fn prefetch(self) {
        simd::prefetch(self.0);
    }

    /// Returns the key without regard to the binding.
    #[inline]
    pub(super) fn key_now(self) -> u64 {
        self.key().load(Ordering::Acquire)
    }

    /// Returns the key that the id is bound to at `t` and on. `None` also if the row alone does not tell. A
    /// stamp without a binding has the [`ENDED`] bit.
    #[inline]
    pub(super) fn key_at(self, t: Timestamp) -> Option<u64> {
        let (key, stamp) = (self.key().load(Ordering::Acquire), self.stamp().load(Ordering::Acquire));
        let born = self.born(stamp).filter(|_| stamp & ENDED == 0)?;
        (born <= t).then_some(key)
    }

    /// Returns the stamp of a binding, if it can hold the begin. The first binding of a line sets its high
    /// bits.
    fn stamp_of(self, born: Timestamp) -> Option<u32> {
        let (high, low) = ((born.0 >> LOW_BITS) as u32, (born.0 & ((1 << LOW_BITS) - 1)) as u32);
        let set = self.0.high.compare_exchange(UNSET, high, Ordering::Relaxed, Ordering::Relaxed);
        let of_line = set.unwrap_or_else(|other| other) == high || set.is_ok();
        (of_line && low < FAR && born.0 >> LOW_BITS < u64::from(UNSET)).then_some(low)
    }
}

impl Rows {
    /// Makes a table without rows.
    pub(super) fn new(account: Arc<Account>) -> Rows {
        Rows {
            account,
            lines: Column::default(),
            past: Column::default(),
            far: Column::default(),
            kinds: Column::default(),
        }
    }

    /// Returns the row of an id, if its line was made.
    #[inline]
    pub(super) fn row(&self, id: VertexId) -> Option<Row<'_>> {
        let line = self.lines.get(id.index() / IN_LINE)?;
        Some(Row(line, id.index() % IN_LINE))
    }

    #[inline]
    fn past(&self, id: VertexId) -> Option<&Past> {
        self.past.get(id.index())
    }

    /// Prefetches the row.
    #[inline]
    pub(super) fn prefetch(&self, id: VertexId) {
        self.row(id).into_iter().for_each(Row::prefetch);
    }

    /// Returns the key that `id` is bound to, or was last. Zero if it never was.
    #[inline]
    pub(super) fn key(&self, id: VertexId) -> u64 {
        self.row(id).map_or(0, |row| row.key().load(Ordering::Acquire))
    }

    /// Returns the kind of the vertex that `id` is bound to, or was last.
    #[inline]
    pub(super) fn kind(&self, id: VertexId) -> KindId {
        self.kinds.get(id.index()).map_or(KindId::DEFAULT, |kind| KindId(kind.load(Ordering::Acquire)))
    }

    /// Calls `f` with each kind that some of these vertices of a subgraph have, and with the vertices that
    /// have it. The kinds are those of [`kind`](Self::kind).
    pub(super) fn kinds_of(&self, subgraph: SubgraphId, vertices: u64, mut f: impl FnMut(KindId, u64)) {
        let first = subgraph.vertex(LocalVertex(0)).index();
        let mut kinds = [KindId::DEFAULT.0; SUBGRAPH_VERTICES];
        self.kinds.for_each_in(first, SUBGRAPH_VERTICES, |place, kind| {
            kinds[place] = kind.load(Ordering::Acquire);
        });
        let mut rest = vertices;
        while rest != 0 {
            let kind = kinds[rest.trailing_zeros() as usize];
            let mark = |marks, (place, of): (usize, &u8)| marks | u64::from(*of == kind) << place;
            let same = rest & kinds.iter().enumerate().fold(0, mark);
            f(KindId(kind), same);
            rest &= !same;
        }
    }

    /// Returns the span of the binding of `id`. `None` if it has none that a reader may see.
    #[inline]
    pub(super) fn span(&self, id: VertexId) -> Option<Span> {
        self.get(id).map(|(_, span)| span)
    }

    /// Returns the key of `id`, with its [span](Self::span).
    #[inline]
    pub(super) fn get(&self, id: VertexId) -> Option<(u64, Span)> {
        let row = self.row(id)?;
        loop {
            let (key, stamp) = (row.key().load(Ordering::Acquire), row.stamp().load(Ordering::Acquire));
            if stamp >= UNBOUND {
                return None;
            }
            match row.born(stamp) {
                Some(born) if stamp & ENDED == 0 => {
                    return Some((key, Span { born, died: Timestamp::INFINITY }));
                }
                born => {
                    if let Some(span) = self.past_span(id, row, stamp, born) {
                        return Some((key, span));
                    }
                }
            }
            // The binding may have ended since the first load, and a reader may still see it. Such a reader
            // cannot see a later binding of the id.
            if stamp & ENDED != 0 || row.stamp().load(Ordering::Acquire) != stamp | ENDED {
                return None;
            }
        }
    }

    /// Returns the span of a binding if its stamp alone does not hold it.
    #[cold]
    #[inline(never)]
    fn past_span(&self, id: VertexId, row: Row<'_>, stamp: u32, born: Option<Timestamp>) -> Option<Span> {
        let far = || self.far.get(id.index()).map(|far| Timestamp(far.load(Ordering::Acquire)));
        let since = match born {
            Some(born) => born,
            None => far()?,
        };
        let died = match stamp & ENDED {
            0 => Timestamp::INFINITY,
            _ => Timestamp(self.past(id)?.died.load(Ordering::Acquire)),
        };
        // A later binding of the id may have ended meanwhile, and this may be its end. Then no reader can see
        // this binding.
        let same = row.stamp().load(Ordering::Acquire) == stamp && (born.is_some() || far() == Some(since));
        same.then_some(Span { born: since, died })
    }

    /// Calls `f` with the key of each id, which must be bound at `t`. Consecutive ids of one line share its
    /// look-up.
    ///
    /// # Errors
    /// The first id that is not bound. `f` had the keys of the ids before it.
    pub(super) fn each_at(
        &self,
        ids: &[VertexId],
        t: Timestamp,
        mut f: impl FnMut(u64),
    ) -> Result<(), VertexId> {
        let mut known = (usize::MAX, None);
        for (at, &id) in ids.iter().enumerate() {
            let line = id.index() / IN_LINE;
            if let Some(&[before, ahead]) = ids.get(at + AHEAD..at + AHEAD + 2).and_then(<[_]>::as_array)
                && ahead.index() / IN_LINE != before.index() / IN_LINE
            {
                self.prefetch(ahead);
            }
            if line != known.0 {
                known = (line, self.lines.get(line));
            }
            let row = known.1.map(|line| Row(line, id.index() % IN_LINE));
            f(match row.and_then(|row| row.key_at(t)) {
                Some(key) => key,
                // The binding may have ended after `t`.
                None => {
                    let bound = self.get(id).filter(|(_, span)| span.born <= t && t < span.died);
                    bound.ok_or(id)?.0
                }
            });
        }
        Ok(())
    }

    /// Returns the id that the key of `id` was bound to before, if readers could see that binding when `id`
    /// was bound.
    #[inline]
    pub(super) fn older(&self, id: VertexId) -> Option<VertexId> {
        let older = self.past(id)?.older.load(Ordering::Acquire);
        (older != NO_ID).then_some(VertexId(older))
    }

    /// Binds an id that is unbound. Replay refuses a hostile log that binds an id twice.
    pub(super) fn bind(&self, id: VertexId, kind: KindId, key: u64, born: Timestamp) {
        if let Some(past) = self.past(id) {
            past.older.store(NO_ID, Ordering::Relaxed);
        }
        let kept = kind == KindId::DEFAULT && faults::is_on(PlantedFault::KindOfIdKept);
        if self.kind(id) != kind && !kept {
            self.kinds.get_or_create(id.index(), &self.account).store(kind.0, Ordering::Release);
        }
        let line = self.lines.get_or_create(id.index() / IN_LINE, &self.account);
        let row = Row(line, id.index() % IN_LINE);
        let stamp = row.stamp_of(born).unwrap_or_else(|| {
            self.far.get_or_create(id.index(), &self.account).store(born.0, Ordering::Release);
            FAR
        });
        row.key().store(key, Ordering::Release);
        row.stamp().store(stamp, Ordering::Release);
    }

    /// Sets the id that the key was bound to before.
    pub(super) fn set_older(&self, id: VertexId, older: VertexId) {
        self.past.get_or_create(id.index(), &self.account).older.store(older.0, Ordering::Release);
    }

    /// Ends the binding of an id.
    pub(super) fn end(&self, id: VertexId, died: Timestamp) {
        self.past.get_or_create(id.index(), &self.account).died.store(died.0, Ordering::Release);
        if let Some(row) = self.row(id) {
            // One thread at a time changes the row of an id.
            row.stamp().store(row.stamp().load(Ordering::Relaxed) | ENDED, Ordering::Release);
        }
    }

    /// Unbinds an id whose binding no reader can see any more. Returns the key, if the id had one.
    pub(super) fn forget(&self, id: VertexId) -> Option<u64> {
        let row = self.row(id)?;
        let stamp = row.stamp().swap(UNBOUND, Ordering::AcqRel);
        (stamp < UNBOUND).then(|| row.key().load(Ordering::Relaxed))
    }

    /// True if the table knows the key of `id`, or that it has none. Once true, it stays true.
    #[inline]
    pub(super) fn is_known(&self, id: VertexId) -> bool {
        self.row(id).is_some_and(|row| row.stamp().load(Ordering::Acquire) != UNKNOWN)
    }

    /// Marks `id` as without a key, unless the table knows something about it.
    pub(super) fn set_unbound(&self, id: VertexId) {
        let line = self.lines.get_or_create(id.index() / IN_LINE, &self.account);
        let stamp = Row(line, id.index() % IN_LINE).stamp();
        _ = stamp.compare_exchange(UNKNOWN, UNBOUND, Ordering::AcqRel, Ordering::Acquire);
    }

    /// Returns the bytes held, with those of ids without a binding.
    pub(super) fn bytes(&self) -> usize {
        self.lines.bytes() + self.far.bytes() + self.past.bytes() + self.kinds.bytes()
    }
}
