//! What each vertex id is bound to: a row for an id, found by position.

use std::sync::OnceLock;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::growing::Growing;
use hedgerow_core::simd;
use hedgerow_core::sync::{AtomicU8, AtomicU32, AtomicU64, Ordering};
use hedgerow_core::{KindId, Timestamp, VertexId};

/// Ids of a page of rows, which takes 128 KiB: allocators lose little of that; smaller blocks of so even a size leave an eighth
/// of their pages unused.
const ROWS: usize = if cfg!(feature = "model-checking") { 2 } else { 1 << 13 };
/// Ids of a page of what few rows have.
const PASTS: usize = if cfg!(feature = "model-checking") { 2 } else { 1 << 9 };
/// Vertex ids.
const IDS: usize = 1 << 32;
/// The stamp of an id without a binding.
const UNBOUND: u64 = u64::MAX;
/// The bit of a stamp that says that the binding has ended.
const ENDED: u64 = 1 << 63;
/// No older binding.
const NO_ID: u32 = u32::MAX;

type Page<T> = OnceLock<Box<[T]>>;

/// The newest binding of an id. A cache line holds four.
struct Row {
    /// A number, or where a text lies.
    key: AtomicU64,
    /// Since when, and whether it has ended; or [`UNBOUND`].
    stamp: AtomicU64,
}

/// What few rows have besides: in pages that are made when the first of their ids needs them.
struct Past {
    /// When the binding ended.
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

/// The rows by vertex id: they grow without moving and are read without locks. Of ids far apart each costs a page.
#[derive(Default)]
pub(super) struct Rows {
    rows: Column<Row, ROWS, { IDS / ROWS }>,
    past: Column<Past, PASTS, { IDS / PASTS }>,
    /// The kinds of the vertices: pages only where one is not of the default kind.
    kinds: Column<AtomicU8, ROWS, { IDS / ROWS }>,
}

impl Default for Row {
    fn default() -> Row {
        Row { key: AtomicU64::new(0), stamp: AtomicU64::new(UNBOUND) }
    }
}

impl Default for Past {
    fn default() -> Past {
        Past { died: AtomicU64::new(0), older: AtomicU32::new(NO_ID) }
    }
}

/// Items by vertex id. Those of a page's worth of ids grow by doubling, so that a small graph takes little.
struct Column<T, const PAGE: usize, const PAGES: usize> {
    first: Growing<T, PAGE>,
    pages: Growing<Page<T>, PAGES>,
}

impl<T, const PAGE: usize, const PAGES: usize> Default for Column<T, PAGE, PAGES> {
    fn default() -> Self {
        Column { first: Growing::default(), pages: Growing::default() }
    }
}

impl<T: Default, const PAGE: usize, const PAGES: usize> Column<T, PAGE, PAGES> {
    #[inline]
    fn get(&self, id: VertexId) -> Option<&T> {
        match id.index() / PAGE {
            0 => self.first.get(id.index()),
            page => self.pages.get(page)?.get()?.get(id.index() % PAGE),
        }
    }

    fn get_or_create(&self, id: VertexId) -> &T {
        match id.index() / PAGE {
            0 => self.first.get_or_create(id.index()),
            page => {
                let page = self.pages.get_or_create(page);
                &page.get_or_init(|| (0..PAGE).map(|_| T::default()).collect())[id.index() % PAGE]
            }
        }
    }

    /// The items of a page of ids after the first, if it was made.
    #[inline]
    fn page(&self, page: usize) -> Option<&[T]> {
        self.pages.get(page)?.get().map(AsRef::as_ref)
    }

    fn bytes(&self) -> usize {
        let made = self.pages.chunks().flat_map(|(_, pages)| pages).filter(|page| page.get().is_some());
        self.first.bytes() + self.pages.bytes() + made.count() * PAGE * size_of::<T>()
    }
}

impl Rows {
    #[inline]
    fn row(&self, id: VertexId) -> Option<&Row> {
        self.rows.get(id)
    }

    #[inline]
    fn past(&self, id: VertexId) -> Option<&Past> {
        self.past.get(id)
    }

    /// Starts loading the row.
    #[inline]
    pub(super) fn prefetch(&self, id: VertexId) {
        if let Some(row) = self.row(id) {
            simd::prefetch(row);
        }
    }

    /// The key that `id` is bound to, or was last. Zero if it never was.
    #[inline]
    pub(super) fn key(&self, id: VertexId) -> u64 {
        self.row(id).map_or(0, |row| row.key.load(Ordering::Acquire))
    }

    /// The kind of the vertex that `id` is bound to, or was last.
    #[inline]
    pub(super) fn kind(&self, id: VertexId) -> KindId {
        self.kinds.get(id).map_or(KindId::DEFAULT, |kind| KindId(kind.load(Ordering::Acquire)))
    }

    /// From when to when `id` is bound; `None` if it is not and no reader may see that it was.
    #[inline]
    pub(super) fn span(&self, id: VertexId) -> Option<Span> {
        self.get(id).map(|(_, span)| span)
    }

    /// The key of `id`, with its [span](Self::span).
    #[inline]
    pub(super) fn get(&self, id: VertexId) -> Option<(u64, Span)> {
        let row = self.row(id)?;
        let (key, stamp) = (row.key.load(Ordering::Acquire), row.stamp.load(Ordering::Acquire));
        if stamp == UNBOUND {
            return None;
        }
        let born = Timestamp(stamp & !ENDED);
        if stamp & ENDED == 0 {
            return Some((key, Span { born, died: Timestamp::INFINITY }));
        }
        let died = Timestamp(self.past(id)?.died.load(Ordering::Acquire));
        // A later binding of the id may have ended meanwhile, and that be its end: then nobody can see this one.
        (row.stamp.load(Ordering::Acquire) == stamp).then_some((key, Span { born, died }))
    }

    /// Calls `f` with the key of each id, which is bound at `t`. A page is looked up once for ids that follow each other.
    ///
    /// # Errors
    /// The first id that is not; `f` had the keys of those before it.
    pub(super) fn each_at(
        &self,
        ids: &[VertexId],
        t: Timestamp,
        mut f: impl FnMut(u64),
    ) -> Result<(), VertexId> {
        let mut known = (0, &[][..]);
        for &id in ids {
            let page = id.index() / ROWS;
            if page != known.0 {
                known = (page, self.rows.page(page).unwrap_or(&[]));
            }
            let row = if page == 0 { self.row(id) } else { known.1.get(id.index() % ROWS) };
            let read = |row: &Row| (row.key.load(Ordering::Acquire), row.stamp.load(Ordering::Acquire));
            match row.map(read) {
                Some((key, stamp)) if stamp <= t.0 => f(key),
                // The binding has ended, if not before `t`.
                _ => {
                    let bound = self.get(id).filter(|(_, span)| span.born <= t && t < span.died);
                    f(bound.ok_or(id)?.0);
                }
            }
        }
        Ok(())
    }

    /// The id that the key of `id` was bound to before, as far as readers could see that when it was bound to `id`.
    #[inline]
    pub(super) fn older(&self, id: VertexId) -> Option<VertexId> {
        let older = self.past(id)?.older.load(Ordering::Acquire);
        (older != NO_ID).then_some(VertexId(older))
    }

    /// Binds an id that is unbound. What a hostile log binds twice is refused by who replays it.
    pub(super) fn bind(&self, id: VertexId, kind: KindId, key: u64, born: Timestamp) {
        if let Some(past) = self.past(id) {
            past.older.store(NO_ID, Ordering::Relaxed);
        }
        let kept = kind == KindId::DEFAULT && faults::is_on(PlantedFault::KindOfIdKept);
        if self.kind(id) != kind && !kept {
            self.kinds.get_or_create(id).store(kind.0, Ordering::Release);
        }
        let row = self.rows.get_or_create(id);
        row.key.store(key, Ordering::Release);
        row.stamp.store(born.0 & !ENDED, Ordering::Release);
    }

    /// Says which id the key was bound to before.
    pub(super) fn set_older(&self, id: VertexId, older: VertexId) {
        self.past.get_or_create(id).older.store(older.0, Ordering::Release);
    }

    /// Ends the binding of an id.
    pub(super) fn end(&self, id: VertexId, died: Timestamp) {
        self.past.get_or_create(id).died.store(died.0, Ordering::Release);
        if let Some(row) = self.row(id) {
            // One thread at a time changes the row of an id.
            row.stamp.store(row.stamp.load(Ordering::Relaxed) | ENDED, Ordering::Release);
        }
    }

    /// Unbinds an id whose binding no reader can see any more. Returns its key, if it had one.
    pub(super) fn forget(&self, id: VertexId) -> Option<u64> {
        let row = self.row(id)?;
        let stamp = row.stamp.swap(UNBOUND, Ordering::AcqRel);
        (stamp != UNBOUND).then(|| row.key.load(Ordering::Relaxed))
    }

    /// The bytes held, with those of ids without a binding.
    pub(super) fn bytes(&self) -> usize {
        self.rows.bytes() + self.past.bytes() + self.kinds.bytes()
    }
}
