//! Views of snapshots: shared by those of one timestamp, made from the newest one before (rule R8).
//!
//! A cache keeps the newest view of a label. It needs no place in the registry: a view refers to lists and corrections
//! that never change, and what is read anew is read at the timestamp of a registered snapshot (`docs/design/views.md`).

use std::sync::{Arc, Weak};

use hedgerow_core::sync::{AtomicBool, AtomicU64, Mutex, Ordering};
use hedgerow_core::{Direction, LabelId, PropertyId, SubgraphId, Timestamp, VertexId};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_mem::version::Read;
use hedgerow_mem::view::{CHUNK_SUBGRAPHS, Chunk, DirectionView, Page, Shape, Stale, read_stale};
use hedgerow_mem::{ItemRef, SubgraphTable, View};
use rayon::prelude::*;

use crate::store::Engine;

mod by_label;

pub(crate) use by_label::Views;

/// A cached view is given up once merges have replaced main parts of this share of its lists...
const REPLACED_SHARE: u64 = 8;
/// ...and of at least so many bytes.
const MIN_REPLACED_BYTES: u64 = 4 << 20;
/// Up to so many subgraphs are read by the thread that asks: waking others takes longer, and where the last commits were
/// its own it finds them in its cache.
const FEW: u32 = 2048;
/// As long as it has not met more than so many entries of deltas: some tenths of a millisecond.
const FEW_ENTRIES: usize = 16 << 10;
/// Subgraphs that it takes at once, in whole chunks, between looks at what it has met.
const AT_ONCE: u32 = 128;
/// Chunks that one task of several threads takes.
const MIN_CHUNKS: usize = 4;

/// The newest view of a label, for snapshots of its timestamp and as the start of the next one.
#[derive(Default)]
pub(crate) struct ViewCache {
    label: LabelId,
    newest: Mutex<Cached>,
    waste: Waste,
}

/// What views keep alone.
#[derive(Default)]
struct Waste {
    /// Bytes of main parts replaced since the newest view was made, and how many are too many.
    replaced: AtomicU64,
    limit: AtomicU64,
    /// Whether that was exceeded.
    exceeded: AtomicBool,
}

impl Waste {
    /// Begins again after a view of `lists` bytes was made.
    fn renew(&self, lists: u64) {
        self.limit.store((lists / REPLACED_SHARE).max(MIN_REPLACED_BYTES), Ordering::Relaxed);
        self.replaced.store(0, Ordering::Relaxed);
        self.exceeded.store(false, Ordering::Relaxed);
    }

    fn note(&self, bytes: usize) {
        let limit = self.limit.load(Ordering::Relaxed);
        if limit == 0 {
            return; // there never was a view
        }
        let before = self.replaced.fetch_add(bytes as u64, Ordering::Relaxed);
        if before <= limit && before + bytes as u64 > limit {
            self.exceeded.store(true, Ordering::Relaxed);
        }
    }
}

#[derive(Default)]
struct Cached {
    ts: Timestamp,
    layout: u64,
    /// Empty while it is being made into the next view, or after it was given up.
    view: Option<Arc<View>>,
    /// A view that was given up lives on while snapshots use it.
    given_up: Weak<View>,
}

/// Figures for [`Stats`](crate::Stats).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ViewFigures {
    pub(crate) bytes: u64,
    pub(crate) built: u64,
    pub(crate) refreshed: u64,
}

impl ViewCache {
    /// The view at `ts`, which must be registered, and of the `layout` that was counted before. `count_edges` tells
    /// what the snapshot counts, if a view is made. The second value tells what was made, if anything.
    fn get(
        &self,
        engine: &Engine,
        ts: Timestamp,
        layout: u64,
        count_edges: impl FnOnce() -> u64,
    ) -> (Arc<View>, Made) {
        let previous = {
            let mut cached = self.newest.lock();
            let view = cached.view.take().or_else(|| cached.given_up.upgrade());
            match view {
                Some(view) if cached.ts == ts && cached.layout == layout => {
                    cached.view = Some(view.clone());
                    return (view, Made::Nothing);
                }
                // Used by nobody: it becomes the next view in place. Whoever asks meanwhile builds one from scratch.
                Some(view) if Arc::strong_count(&view) == 1 && cached.ts <= ts => Some(view),
                view => {
                    cached.view = view.clone();
                    view
                }
            }
        };
        // No lock is held here: a worker that waits for its part may run another task that asks for a view.
        let made = if previous.is_some() { Made::OfAnother } else { Made::FromScratch };
        let view = Arc::new(make(engine, self.label, previous, ts, count_edges()));
        (self.offer(view, ts, layout), made)
    }

    /// A view made without the cache.
    pub(crate) fn fresh(engine: &Engine, label: LabelId, ts: Timestamp, edge_count: u64) -> View {
        make(engine, label, None, ts, edge_count)
    }

    /// A view made without the cache, with the numbers of a property for weights.
    pub(crate) fn weighted(
        engine: &Engine,
        label: LabelId,
        weight: Weight,
        ts: Timestamp,
        edge_count: u64,
    ) -> View {
        let shape = Shape { weighted: true, ..shape(engine, label, edge_count) };
        let (mut out, mut into) = (DirectionView::default(), DirectionView::default());
        let tables = (engine.table(label), &engine.subgraphs);
        refresh_side(&mut out, tables, Direction::Out, ts, shape);
        weigh_side(&mut out, engine, label, Direction::Out, weight, ts, shape);
        if engine.directions().contains(&Direction::In) {
            refresh_side(&mut into, tables, Direction::In, ts, shape);
            weigh_side(&mut into, engine, label, Direction::In, weight, ts, shape);
        }
        View::new(shape, out, into)
    }

    /// Keeps the view unless there is a newer one. Returns the one to use.
    fn offer(&self, view: Arc<View>, ts: Timestamp, layout: u64) -> Arc<View> {
        let old;
        {
            let mut cached = self.newest.lock();
            if (cached.ts, cached.layout) == (ts, layout)
                && let Some(same) = &cached.view
            {
                return same.clone();
            }
            if (cached.ts, cached.layout) > (ts, layout) && cached.view.is_some() {
                return view;
            }
            old = cached.view.replace(view.clone());
            (cached.ts, cached.layout) = (ts, layout);
            self.waste.renew(view.directed_edges() * 4);
        }
        drop(old); // outside the lock: it may free a view
        view
    }

    /// Gives the newest view up: it goes with the last snapshot that uses it.
    fn give_up(&self) {
        self.waste.exceeded.store(false, Ordering::Relaxed);
        let given_up = {
            let mut cached = self.newest.lock();
            let view = cached.view.take();
            if let Some(view) = &view {
                cached.given_up = Arc::downgrade(view);
            }
            view
        };
        // Tens of thousands of references: not on the thread of a committer.
        if let Some(view) = given_up {
            hedgerow_par::spawn(move || drop(view));
        }
    }

    /// Gives the newest view up, and does not make another of it even while snapshots use it.
    fn forget(&self) {
        let forgotten = std::mem::take(&mut *self.newest.lock());
        drop(forgotten);
    }

    /// The bytes of the view, and of lists that it alone keeps.
    fn bytes(&self) -> u64 {
        let view = self.newest.lock().view.clone();
        view.map_or(0, |view| (view.bytes() + view.kept_bytes()) as u64)
    }
}

/// How a view came to be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    Nothing,
    OfAnother,
    FromScratch,
}

/// What edges of a view weigh.
#[derive(Clone, Copy)]
pub(crate) struct Weight {
    pub(crate) property: Option<PropertyId>,
    /// Of an edge without the property.
    pub(crate) missing: f64,
}

impl Weight {
    fn of(self, item: &ItemRef<'_>) -> f64 {
        let value = self.property.and_then(|property| item.row.get(property).as_number());
        value.unwrap_or(self.missing)
    }
}

fn shape(engine: &Engine, label: LabelId, edge_count: u64) -> Shape {
    let config = &engine.config;
    Shape {
        directed: config.directed,
        weighted: engine.is_weighted(label),
        one_way: config.is_one_way(),
        vertex_bound: engine.ids.bound() as usize,
        edge_count,
    }
}

fn weigh_side(
    side: &mut DirectionView,
    engine: &Engine,
    label: LabelId,
    direction: Direction,
    weight: Weight,
    ts: Timestamp,
    shape: Shape,
) {
    let Some(table) = engine.table(label) else { return };
    // The incoming copy of an edge has no properties: they are looked up with the outgoing one.
    let of = |at: VertexId, item: ItemRef<'_>| match direction {
        Direction::Out => weight.of(&item),
        Direction::In => {
            let found = table.get(item.dst.subgraph()).and_then(|entry| {
                let outgoing = |read: Read<'_>| {
                    let edge = read.item(item.dst.local(), at, item.rank);
                    edge.map(|edge| weight.of(&edge))
                };
                entry.read(Direction::Out, ts, outgoing)
            });
            found.flatten().unwrap_or(weight.missing)
        }
    };
    let chunks = side.chunks_mut(shape.vertex_bound).par_iter_mut().enumerate().with_min_len(1);
    hedgerow_par::for_each(chunks, |(i, chunk)| {
        let first = (i * CHUNK_SUBGRAPHS) as u32;
        let weigh = |subgraph: usize, local, item: ItemRef<'_>| {
            of(SubgraphId(first + subgraph as u32).vertex(local), item)
        };
        if let Some(lists) = table.page(i) {
            Chunk::weigh(chunk, lists, direction, ts, weigh);
        }
    });
}

/// Makes a view at `ts` of `previous`, or from scratch.
fn make(
    engine: &Engine,
    label: LabelId,
    previous: Option<Arc<View>>,
    ts: Timestamp,
    edge_count: u64,
) -> View {
    let config = &engine.config;
    let shape = shape(engine, label, edge_count);
    let (mut out, mut into) = previous.map(View::into_sides).unwrap_or_default();
    let tables = (engine.table(label), &engine.subgraphs);
    refresh_side(&mut out, tables, Direction::Out, ts, shape);
    if config.directed && config.reverse {
        refresh_side(&mut into, tables, Direction::In, ts, shape);
    }
    View::new(shape, out, into)
}

/// `tables`: of the label, if it has one, and the one that says which vertices exist.
fn refresh_side(
    side: &mut DirectionView,
    tables: (Option<&SubgraphTable>, &SubgraphTable),
    direction: Direction,
    ts: Timestamp,
    shape: Shape,
) {
    let page = |i: usize| {
        let lists = tables.0.and_then(|table| table.page(i));
        let existence = tables.1.page(i).filter(|_| direction == Direction::Out);
        Page { lists, existence }
    };
    let mut stale = side.stale(shape.vertex_bound, page, ts);
    let read = |part: &mut [Stale<'_>]| {
        let _ = failpoint::reach(FailPoint::ViewPart);
        read_stale(part, direction, ts, shape.weighted)
    };
    let mut rest = &mut stale[..];
    if rest.iter().map(Stale::count).sum::<u32>() <= FEW {
        let mut entries = 0;
        while !rest.is_empty() && entries <= FEW_ENTRIES {
            let mut taken = 0;
            let whole = |stale: &&Stale<'_>| {
                let more = taken < AT_ONCE;
                taken += stale.count();
                more
            };
            let (part, others) = rest.split_at_mut(rest.iter().take_while(whole).count());
            entries += read(part);
            rest = others;
        }
    }
    if !rest.is_empty() {
        hedgerow_par::for_each(rest.par_chunks_mut(MIN_CHUNKS), |part| _ = read(part));
    }
}
