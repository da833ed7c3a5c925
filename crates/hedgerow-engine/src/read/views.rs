//! Making a view at a timestamp: from another one, or from scratch.

use std::sync::Arc;

use hedgerow_catalog::error::{Error, Result, StorageError};
use hedgerow_core::{Direction, LabelId, SUBGRAPH_VERTICES, Timestamp};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::view::{DirectionView, Page, Shape, Stale, read_stale};
use hedgerow_mem::{Hold, SubgraphTable, View};
use rayon::prelude::*;

use crate::state::store::Engine;

/// The number of subgraphs up to which the calling thread reads alone. Waking others takes longer, and the
/// thread has its own last commits in the cache.
const FEW: u32 = 2048;
/// The number of delta entries after which the calling thread stops reading alone: some tenths of a
/// millisecond.
const FEW_ENTRIES: usize = 16 << 10;
/// The number of subgraphs that the thread reads at once, in whole chunks, between checks of the number of
/// entries.
const AT_ONCE: u32 = 128;
/// The number of chunks that one of several tasks takes.
const MIN_CHUNKS: usize = 4;

/// The threads that make a view.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Makers {
    /// The calling thread, and the current rayon pool if there is much to read.
    Pool,
    /// The calling thread alone.
    ThisThread,
}

fn shape(engine: &Engine, label: LabelId, edge_count: u64) -> Shape {
    let config = &engine.catalog.config;
    Shape {
        directed: config.directed,
        weighted: engine.catalog.is_weighted(label),
        one_way: config.is_one_way(),
        vertex_bound: engine.keys.ids.bound() as usize,
        edge_count,
    }
}

/// Makes a view at `ts` from `previous`, or from scratch.
pub(crate) fn make(
    engine: &Engine,
    label: LabelId,
    previous: Option<Arc<View>>,
    ts: Timestamp,
    edge_count: u64,
    makers: Makers,
) -> Result<View> {
    let config = &engine.catalog.config;
    let shape = shape(engine, label, edge_count);
    let fresh = || (side_of(engine), side_of(engine));
    engine.pager.check_in_memory_at(ts)?;
    let (mut out, mut into) = previous.map_or_else(fresh, View::into_sides);
    let tables = (engine.pager.table(label), &engine.pager.subgraphs);
    loaded(engine, label, makers, || {
        refresh_side(engine, &mut out, tables, Direction::Out, (ts, shape), makers)?;
        if config.directed && config.reverse {
            refresh_side(engine, &mut into, tables, Direction::In, (ts, shape), makers)?;
        }
        Ok(())
    })?;
    Ok(View::new(shape, out, into))
}

/// Calls `make` with all data of a label in memory. Loads the data first, and again if a part was evicted in
/// the meantime.
fn loaded(engine: &Engine, label: LabelId, makers: Makers, make: impl FnMut() -> Result<()>) -> Result<()> {
    let load = || engine.pager.load_label(label, makers == Makers::Pool);
    engine.pager.with_loaded(load, is_not_in_memory, make)
}

pub(super) fn is_not_in_memory(error: &Error) -> bool {
    matches!(error, Error::Storage(StorageError::NotInMemory(_)))
}

/// Refreshes one side of a view. `tables` are the label's table, if it has one, and the table that shows
/// which vertices exist.
fn refresh_side(
    engine: &Engine,
    side: &mut DirectionView,
    tables: (Option<&SubgraphTable>, &SubgraphTable),
    direction: Direction,
    (ts, shape): (Timestamp, Shape),
    makers: Makers,
) -> Result<()> {
    let hold = engine.pager.hold();
    let page = |i: usize| {
        // One look for each page: a page that is evicted at this moment is not without lists.
        let lists = tables.0.map_or(Ok(None), |table| table.look(i, &hold).in_memory())?;
        let existence = tables.1.page(i, Hold::none()).filter(|_| direction == Direction::Out);
        Ok::<_, NotInMemory>(Page { lists, existence })
    };
    let pages = (0..shape.vertex_bound.div_ceil(PAGE * SUBGRAPH_VERTICES)).map(page);
    let pages = pages.collect::<std::result::Result<Vec<Page<'_>>, NotInMemory>>()?;
    let page = |i: usize| pages.get(i).copied().unwrap_or_default();
    let arena = side.arena().clone();
    let mut stale = side.stale(shape.vertex_bound, page, ts);
    let read = |part: &mut [Stale<'_>]| {
        let _ = failpoint::reach(FailPoint::ViewPart);
        // Copies of lists with large deltas are charged as they are made.
        engine.pager.check_room_for_view()?;
        read_stale(part, direction, ts, shape.weighted, &arena).map_err(Error::from)
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

/// Returns a side without chunks, charged to the store's account.
pub(super) fn side_of(engine: &Engine) -> DirectionView {
    DirectionView::charging(engine.pager.account().clone())
}
