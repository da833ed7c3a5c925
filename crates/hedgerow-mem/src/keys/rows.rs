//! The bindings of vertex ids: a row for an id, found by position.

use std::sync::Arc;

use hedgerow_core::account::Account;
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::simd;
use hedgerow_core::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use hedgerow_core::{KindId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp, VertexId};

use super::column::Column;

/// Number of rows of a cache line.
const IN_LINE: usize = 5;
/// Number of lines of a page of rows. With their alignment they fit 128 KiB, so that allocators waste little;
/// smaller blocks of a power of two waste an eighth of their memory pages. The first page reaches this number
/// by doubling.
const LINES: usize = if cfg!(feature = "model-checking") { 1 } else { 31 << 6 };
/// The distance in ids by which reads of many rows prefetch ahead.
const AHEAD: usize = 12;
/// Number of ids of a page of kinds.
const KINDS: usize = if cfg!(feature = "model-checking") { 2 } else { 1 << 13 };
/// Number of ids of a page of `past` or `far`, which few rows need.
const PASTS: usize = if cfg!(feature = "model-checking") { 2 } else { 1 << 9 };
/// Number of vertex ids.
const IDS: usize = 1 << 32;
/// The stamp of an id about which the table knows nothing: segments may hold a binding.
const UNKNOWN: u32 = u32::MAX;
/// The stamp of an id that is known to have no binding, also if segments hold one.
const UNBOUND: u32 = u32::MAX - 1;
/// The bit that is set in the stamp of a binding that has ended.
const ENDED: u32 = 1 << 31;
/// The stamp of a timestamp whose high bits differ from the line's. The timestamp is in a separate column.
const FAR: u32 = ENDED - 3;
/// Number of bits of a timestamp that a stamp holds.
const LOW_BITS: u32 = if cfg!(feature = "model-checking") { 1 } else { 31 };
/// The value of `high` in a line whose high bits are not set yet.
const UNSET: u32 = u32::MAX;
/// The mark for "no older binding".
const NO_ID: u32 = u32::MAX;

/// The newest bindings of some ids: a cache line.
#[repr(align(64))]
struct Line {
    /// Numbers, or the places of texts.
    keys: [AtomicU64; IN_LINE],
    /// [`UNBOUND`], [`UNKNOWN`], or the low bits of the begin timestamp (or [`FAR`]), with [`ENDED`] if the
    /// binding has ended.
    stamps: [AtomicU32; IN_LINE],
    /// The high bits of the timestamps, set by the first binding in the line. Once set they never change.
    high: AtomicU32,
}

/// The row of an id: its line, and its position in the line.
#[derive(Clone, Copy)]
pub(super) struct Row<'a>(&'a Line, usize);

/// The fields that few rows need. Their pages are made when the first of their ids needs them.
struct Past {
    /// The end timestamp of the binding.
    died: AtomicU64,
    /// The id to which the key was bound before.
    older: AtomicU32,
}

/// The span of a binding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) born: Timestamp,
    /// The timestamp at which the binding ended; infinite while the binding is valid.
    pub(super) died: Timestamp,
}

/// The rows by vertex id. They grow without moving and are read without locks. If ids are far apart, each
/// needs a page.
pub(super) struct Rows {
    account: Arc<Account>,
    lines: Column<Line, LINES, { IDS / IN_LINE / LINES + 1 }>,
    past: Column<Past, PASTS, { IDS / PASTS }>,
    /// The begin timestamps of bindings whose stamps are [`FAR`]. Only pages with such a binding exist.
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

    /// Returns the begin timestamp of the binding with this stamp, if the stamp holds it.
    #[inline]
    fn born(self, stamp: u32) -> Option<Timestamp> {
        let low = stamp & !ENDED;
        // `high` was set before the first stamp of the line, and never changes again.
        let high = self.0.high.load(Ordering::Relaxed);
        (low != FAR).then_some(Timestamp(u64::from(high) << LOW_BITS | u64::from(low)))
    }

    /// Prefetches the row.
    #[inline]
    pub(super) fn prefetch(self) {
        simd::prefetch(self.0);
    }

    /// Returns the key, also if its binding has ended.
    #[inline]
    pub(super) fn key_now(self) -> u64 {
        self.key().load(Ordering::Acquire)
    }

    /// Returns the key to which the id is bound from `t` or earlier until now. `None` also if more than the
    /// row is needed to decide. A stamp without a binding has the [`ENDED`] bit.
    #[inline]
    pub(super) fn key_at(self, t: Timestamp) -> Option<u64> {
        let (key, stamp) = (self.key().load(Ordering::Acquire), self.stamp().load(Ordering::Acquire));
        let born = self.born(stamp).filter(|_| stamp & ENDED == 0)?;
        (born <= t).then_some(key)
    }

    /// Returns the stamp of a binding, if a stamp can hold the begin timestamp. The first binding of a line
    /// sets its high bits.
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

    /// Returns the row of an id, if its line exists.
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

    /// Returns the key to which `id` is bound, or was bound last. Zero if it never was bound.
    #[inline]
    pub(super) fn key(&self, id: VertexId) -> u64 {
        self.row(id).map_or(0, |row| row.key().load(Ordering::Acquire))
    }

    /// Returns the kind of the vertex to which `id` is bound, or was bound last.
    #[inline]
    pub(super) fn kind(&self, id: VertexId) -> KindId {
        self.kinds.get(id.index()).map_or(KindId::DEFAULT, |kind| KindId(kind.load(Ordering::Acquire)))
    }

    /// Groups these vertices of a subgraph by kind: calls `f` with each kind and its vertices. The kinds are
    /// those that [`kind`](Self::kind) returns.
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

    /// Returns the span of the binding of `id`. `None` if no reader may see a binding of it.
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
            // The binding may have ended after the first load, and a reader may still see it. Such a reader
            // cannot see a later binding of the id.
            if stamp & ENDED != 0 || row.stamp().load(Ordering::Acquire) != stamp | ENDED {
                return None;
            }
        }
    }

    /// Returns the span of a binding if more than its stamp is needed.
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
        // A later binding of the id may have ended meanwhile, and `died` may be the end of that one. Then no
        // reader can see this binding.
        let same = row.stamp().load(Ordering::Acquire) == stamp && (born.is_some() || far() == Some(since));
        same.then_some(Span { born: since, died })
    }

    /// Calls `f` with the key of each id, which must be bound at `t`. Consecutive ids of one line share one
    /// look-up of it.
    ///
    /// # Errors
    /// The first id that is not bound. `f` was called for the ids before it.
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

    /// Returns the id to which the key of `id` was bound before, if readers could see that binding when `id`
    /// was bound.
    #[inline]
    pub(super) fn older(&self, id: VertexId) -> Option<VertexId> {
        let older = self.past(id)?.older.load(Ordering::Acquire);
        (older != NO_ID).then_some(VertexId(older))
    }

    /// Binds an id that is unbound. Only a hostile log binds an id twice, and replay refuses it.
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

    /// Sets the id to which the key was bound before.
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

    /// True if the table knows the key of `id`, or knows that `id` has none. Once true, it stays true.
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

    /// Returns the bytes of memory, with the rows of ids without a binding.
    pub(super) fn bytes(&self) -> usize {
        self.lines.bytes() + self.far.bytes() + self.past.bytes() + self.kinds.bytes()
    }
}
