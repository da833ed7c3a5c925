//! Making a view at a timestamp: of another one, from scratch, or with the numbers of a property for weights.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow_core::{Direction, InterpolationHint, LabelId, PropertyId, SubgraphId, Timestamp, VertexId};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_mem::version::{NotInMemory, Read};
use hedgerow_mem::view::{CHUNK_SUBGRAPHS, Chunk, DirectionView, Page, Shape, Stale, read_stale};
use hedgerow_mem::{ItemRef, SubgraphTable, View};
use rayon::prelude::*;

use crate::error::{Error, Result, StorageError};
use crate::state::store::Engine;

/// Up to so many subgraphs are read by the thread that asks: waking others takes longer, and where the last commits were
/// its own it finds them in its cache.
const FEW: u32 = 2048;
/// As long as it has not met more than so many entries of deltas: some tenths of a millisecond.
const FEW_ENTRIES: usize = 16 << 10;
/// Subgraphs that it takes at once, in whole chunks, between looks at what it has met.
const AT_ONCE: u32 = 128;
/// Chunks that one task of several threads takes.
const MIN_CHUNKS: usize = 4;

/// Who makes a view.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Makers {
    /// The calling thread, and where there is much to read the current rayon pool.
    Pool,
    /// The calling thread alone.
    ThisThread,
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
) -> Result<()> {
    let Some(table) = engine.table(label) else { return Ok(()) };
    let missing = AtomicBool::new(false);
    // The incoming copy of an edge has no properties: they are looked up with the outgoing one.
    let of = |at: VertexId, item: ItemRef<'_>| match direction {
        Direction::Out => weight.of(&item),
        Direction::In => {
            let outgoing = |read: Read<'_>| {
                let edge = read.item(item.dst.local(), at, item.rank, InterpolationHint::UNKNOWN);
                edge.map(|edge| weight.of(&edge))
            };
            let entry = table.get(item.dst.subgraph());
            let found = entry.map_or(Ok(None), |entry| entry.read(Direction::Out, ts, outgoing));
            let found = found.unwrap_or_else(|NotInMemory| {
                missing.store(true, Ordering::Relaxed);
                None
            });
            found.flatten().unwrap_or(weight.missing)
        }
    };
    let chunks = side.chunks_mut(shape.vertex_bound).par_iter_mut().enumerate().with_min_len(1);
    hedgerow_par::try_for_each(chunks, |(i, chunk)| {
        let first = (i * CHUNK_SUBGRAPHS) as u32;
        let weigh = |subgraph: usize, local, item: ItemRef<'_>| {
            of(SubgraphId(first + subgraph as u32).vertex(local), item)
        };
        table.page(i).map_or(Ok(()), |lists| Chunk::weigh(chunk, lists, direction, ts, weigh))
    })?;
    if missing.into_inner() { Err(NotInMemory.into()) } else { Ok(()) }
}

/// Makes a view at `ts` of `previous`, or from scratch.
pub(crate) fn make(
    engine: &Engine,
    label: LabelId,
    previous: Option<Arc<View>>,
    ts: Timestamp,
    edge_count: u64,
    makers: Makers,
) -> Result<View> {
    let config = &engine.config;
    let shape = shape(engine, label, edge_count);
    let fresh = || (side_of(engine), side_of(engine));
    engine.check_in_memory_at(ts)?;
    let (mut out, mut into) = previous.map_or_else(fresh, View::into_sides);
    let tables = (engine.table(label), &engine.subgraphs);
    loaded(engine, label, makers, || {
        refresh_side(&mut out, tables, Direction::Out, ts, shape, makers)?;
        if config.directed && config.reverse {
            refresh_side(&mut into, tables, Direction::In, ts, shape, makers)?;
        }
        Ok(())
    })?;
    Ok(View::new(shape, out, into))
}

/// Does something with a label of which everything is in memory.
fn loaded(engine: &Engine, label: LabelId, makers: Makers, make: impl FnMut() -> Result<()>) -> Result<()> {
    let load = || engine.load_label(label, makers == Makers::Pool);
    engine.with_loaded(load, is_not_in_memory, make)
}

pub(super) fn is_not_in_memory(error: &Error) -> bool {
    matches!(error, Error::Storage(StorageError::NotInMemory(_)))
}

/// `tables`: of the label, if it has one, and the one that says which vertices exist.
fn refresh_side(
    side: &mut DirectionView,
    tables: (Option<&SubgraphTable>, &SubgraphTable),
    direction: Direction,
    ts: Timestamp,
    shape: Shape,
    makers: Makers,
) -> Result<()> {
    let page = |i: usize| {
        let lists = tables.0.and_then(|table| table.page(i));
        let existence = tables.1.page(i).filter(|_| direction == Direction::Out);
        Page { lists, existence }
    };
    let arena = side.arena().clone();
    let mut stale = side.stale(shape.vertex_bound, page, ts);
    let read = |part: &mut [Stale<'_>]| {
        let _ = failpoint::reach(FailPoint::ViewPart);
        read_stale(part, direction, ts, shape.weighted, &arena)
    };
    let mut rest = &mut stale[..];
    let alone = makers == Makers::ThisThread;
    if alone || rest.iter().map(Stale::count).sum::<u32>() <= FEW {
        let mut entries = 0;
        while !rest.is_empty() && (alone || entries <= FEW_ENTRIES) {
            let mut taken = 0;
            let whole = |stale: &&Stale<'_>| {
                let more = taken < AT_ONCE;
                taken += stale.count();
                more
            };
            let (part, others) = rest.split_at_mut(rest.iter().take_while(whole).count());
            entries += read(part)?;
            rest = others;
        }
    }
    if !rest.is_empty() {
        hedgerow_par::try_for_each(rest.par_chunks_mut(MIN_CHUNKS), |part| read(part).map(drop))?;
    }
    Ok(())
}

/// A side without chunks, of the store's account.
pub(super) fn side_of(engine: &Engine) -> DirectionView {
    DirectionView::charging(engine.account().clone())
}

/// A view made without the cache.
pub(crate) fn fresh(engine: &Engine, label: LabelId, ts: Timestamp, edge_count: u64) -> Result<View> {
    make(engine, label, None, ts, edge_count, Makers::Pool)
}

/// A view made without the cache, with the numbers of a property for weights.
pub(crate) fn weighted(
    engine: &Engine,
    label: LabelId,
    weight: Weight,
    ts: Timestamp,
    edge_count: u64,
) -> Result<View> {
    let shape = Shape { weighted: true, ..shape(engine, label, edge_count) };
    let mut sides = (side_of(engine), side_of(engine));
    let tables = (engine.table(label), &engine.subgraphs);
    loaded(engine, label, Makers::Pool, || {
        // Weights of a side are made once.
        sides = (side_of(engine), side_of(engine));
        let (out, into) = &mut sides;
        refresh_side(out, tables, Direction::Out, ts, shape, Makers::Pool)?;
        weigh_side(out, engine, label, Direction::Out, weight, ts, shape)?;
        out.charge_lists();
        if engine.directions().contains(&Direction::In) {
            refresh_side(into, tables, Direction::In, ts, shape, Makers::Pool)?;
            weigh_side(into, engine, label, Direction::In, weight, ts, shape)?;
            into.charge_lists();
        }
        Ok(())
    })?;
    let (out, into) = sides;
    Ok(View::new(shape, out, into))
}
