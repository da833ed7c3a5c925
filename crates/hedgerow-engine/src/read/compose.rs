//! Making the view of chosen edges: of several labels, of a range of ranks, with properties that pass tests,
//! in any direction.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, EdgeTest, LabelId, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::version::NotInMemory;
use hedgerow_mem::view::{
    CHUNK_SUBGRAPHS, Chunk, ComposeError, Composer, DirectionView, EdgeWeight, Shape, Source, Take,
};
use hedgerow_mem::{Arena, Hold, View};
use hedgerow_pager::budget::For;
use hedgerow_pager::budget::taken::{Stop, Taken};
use rayon::prelude::*;

use super::views::{is_not_in_memory, side_of};
use crate::state::chosen_edges::{ChosenEdges, ChosenLabel, ChosenWeight, EdgeDirection};
use crate::state::store::Engine;

/// The number of chunks that one task takes.
const AT_ONCE: usize = 4;

/// The reason why a view is not made.
pub(super) enum Unmade {
    Error(Error),
    NoWeight(Unweighed),
}

/// An edge for which the weight property has no number.
#[derive(Clone, Copy)]
pub(super) struct Unweighed {
    pub(super) label: LabelId,
    pub(super) ends: (VertexId, VertexId),
}

impl Unweighed {
    /// Returns the edge that an error message names: the one with the least subgraph, then the least label,
    /// then the least ends. So the message does not depend on the content of memory, on merges, or on
    /// threads.
    pub(super) fn least(self, other: Unweighed) -> Unweighed {
        let order = |edge: Unweighed| (edge.ends.0.subgraph(), edge.label, edge.ends);
        if order(other) < order(self) { other } else { self }
    }
}

impl From<Error> for Unmade {
    fn from(error: Error) -> Unmade {
        Unmade::Error(error)
    }
}

/// The common inputs for making the sides of a view.
struct Composing<'a> {
    engine: &'a Engine,
    chosen: &'a ChosenEdges,
    ts: Timestamp,
    shape: Shape,
    arena: Arena,
}

/// Makes the view of the chosen edges at `ts`, a registered timestamp. Loads the labels if memory lacks them.
pub(super) fn view(
    engine: &Engine,
    chosen: &ChosenEdges,
    ts: Timestamp,
) -> std::result::Result<View, Unmade> {
    engine.pager.check_in_memory_at(ts)?;
    let load = || {
        engine.pager.load_label(LabelId::DEFAULT, true)?;
        chosen.labels.iter().try_for_each(|label| engine.pager.load_label(label.label, true))
    };
    let absent = |error: &Unmade| matches!(error, Unmade::Error(error) if is_not_in_memory(error));
    engine.pager.with_loaded(load, absent, || compose(engine, chosen, ts))
}

/// Makes the [`view`] from data in memory.
fn compose(engine: &Engine, chosen: &ChosenEdges, ts: Timestamp) -> std::result::Result<View, Unmade> {
    let directed = engine.catalog.config.directed;
    let by_property = chosen.labels.iter().any(ChosenLabel::reads_properties);
    let shape = Shape {
        directed,
        weighted: chosen.weighted,
        // Incoming copies of edges have no properties: the incoming side is made from the outgoing one on
        // first use.
        one_way: engine.catalog.config.is_one_way() || directed && by_property,
        vertex_bound: engine.keys.ids.bound() as usize,
        edge_count: 0,
    };
    let composing = Composing { engine, chosen, ts, shape, arena: Arena::default() };
    let (mut out, loops) = composing.outgoing()?;
    let entries = out.recount();
    let shape = Shape { edge_count: if directed { entries } else { (entries + loops) / 2 }, ..shape };
    let stored = directed && !shape.one_way;
    let into = if stored { composing.side(Direction::In, false)?.0 } else { side_of(engine) };
    let view = View::new(shape, out, into);
    Ok(match chosen.direction {
        EdgeDirection::Out => view,
        EdgeDirection::In => turned(&view, shape),
        EdgeDirection::Both => {
            let (out, into) = (view.side(Direction::Out), view.side(Direction::In));
            let (mut joined, _) = composing.joined(out, into)?;
            joined.recount();
            View::new(Shape { directed: false, one_way: false, ..shape }, joined, side_of(engine))
        }
    })
}

/// Returns the view with its two sides exchanged.
fn turned(view: &View, shape: Shape) -> View {
    let (mut out, into) = (view.side(Direction::In).clone(), view.side(Direction::Out).clone());
    let chunks = out.chunks_mut(shape.vertex_bound).iter_mut().zip(into.chunks());
    chunks.for_each(|(chunk, of)| Chunk::take_existence(chunk, of));
    out.recount();
    View::new(Shape { one_way: false, ..shape }, out, into)
}

impl Composing<'_> {
    fn composer(&self) -> Composer<'_> {
        let composer = Composer::new(self.ts, self.shape.weighted, &self.arena);
        if self.shape.directed { composer } else { composer.counting_loops() }
    }

    /// Takes the memory of a chunk of up to `entries` entries, until it is charged.
    fn take(&self, entries: u64) -> Result<Taken> {
        let each = size_of::<VertexId>() + if self.shape.weighted { size_of::<f64>() } else { 0 };
        let bytes = size_of::<Chunk>() as u64 + entries * each as u64;
        let mut taken = Taken::new(&self.engine.pager.budget, For::Speed);
        if !taken.set(bytes) {
            return Err(self.engine.pager.error_of(Stop::NoRoom(bytes)));
        }
        Ok(taken)
    }

    /// Returns an upper bound of the entries that the sources have. O(subgraphs of the sources).
    fn entries_of(&self, sources: &[Source<'_>]) -> Result<u64> {
        let mut entries = 0;
        for source in sources {
            for subgraph in source.lists.iter() {
                let of_subgraph = subgraph.read(source.direction, self.ts, |read| read.edge_entries())?;
                entries += of_subgraph.unwrap_or(0);
            }
        }
        Ok(entries)
    }

    /// Makes the outgoing side with the vertices that exist; in an undirected graph also counts the
    /// self-loops.
    fn outgoing(&self) -> std::result::Result<(DirectionView, u64), Unmade> {
        // Only the first copy of an undirected edge has its text: second copies are made by reversing first
        // copies.
        let first_copies = !self.shape.directed && self.chosen.labels.iter().any(tests_text);
        let (out, loops) = self.side(Direction::Out, first_copies)?;
        if !first_copies {
            return Ok((out, loops));
        }
        let second = out.reversed(self.shape);
        self.joined(&out, &second)
    }

    fn side(
        &self,
        direction: Direction,
        first_copies: bool,
    ) -> std::result::Result<(DirectionView, u64), Unmade> {
        let (mut side, loops) = (side_of(self.engine), AtomicU64::new(0));
        let unweighed = Mutex::new(None);
        let chunks = side.chunks_mut(self.shape.vertex_bound).par_chunks_mut(AT_ONCE).enumerate();
        hedgerow_par::try_for_each(chunks, |(part, chunks)| {
            let mut composer = self.composer();
            for (at, chunk) in chunks.iter_mut().enumerate() {
                let page = part * AT_ONCE + at;
                let hold = self.engine.pager.hold();
                let mut labels: Vec<(&ChosenLabel, Source<'_>)> = Vec::new();
                for label in &self.chosen.labels {
                    let Some(table) = self.engine.pager.table(label.label) else { continue };
                    let Some(lists) = table.look(page, &hold).in_memory().map_err(Error::from)? else {
                        continue;
                    };
                    labels.push((label, Source { lists, direction, take: take_of(label, first_copies) }));
                }
                let sources: Vec<Source<'_>> = labels.iter().map(|(_, source)| *source).collect();
                let existence = self
                    .engine
                    .pager
                    .subgraphs
                    .page(page, Hold::none())
                    .filter(|_| direction == Direction::Out);
                if sources.is_empty() && existence.is_none() {
                    continue;
                }
                let first = SubgraphId((page * CHUNK_SUBGRAPHS) as u32);
                // A chunk may have most edges of the graph, so its memory is taken before it is filled.
                let entries = self.entries_of(&sources)?;
                let taken = self.take(entries)?;
                let filled = composer.fill(chunk, first, &sources, existence);
                drop(taken);
                Chunk::charge_lists(chunk, self.engine.pager.account());
                let Err(error) = filled else { continue };
                let (ComposeError::NoWeight(src, dst, _), Some((label, _))) =
                    (error, labels.get(error.source()))
                else {
                    return Err(told(error));
                };
                let edge = Unweighed { label: label.label, ends: (src, dst) };
                let mut unweighed = unweighed.lock();
                *unweighed = Some(unweighed.map_or(edge, |least: Unweighed| least.least(edge)));
                // Other tasks continue, since one of them may find a lesser edge.
                break;
            }
            loops.fetch_add(composer.loops(), Ordering::Relaxed);
            Ok::<_, Unmade>(())
        })?;
        if let Some(edge) = *unweighed.lock() {
            return Err(Unmade::NoWeight(edge));
        }
        Ok((side, loops.into_inner()))
    }

    /// Joins the edges of both sides; takes self-loops once.
    fn joined(
        &self,
        out: &DirectionView,
        into: &DirectionView,
    ) -> std::result::Result<(DirectionView, u64), Unmade> {
        let (mut side, loops) = (side_of(self.engine), AtomicU64::new(0));
        let chunks = side.chunks_mut(self.shape.vertex_bound).par_chunks_mut(AT_ONCE).enumerate();
        hedgerow_par::try_for_each(chunks, |(part, chunks)| {
            let mut composer = self.composer();
            for (at, chunk) in chunks.iter_mut().enumerate() {
                let page = part * AT_ONCE + at;
                let Some(one) = out.chunks().get(page) else { continue };
                let other: Option<&Arc<Chunk>> = into.chunks().get(page);
                let first = SubgraphId((page * CHUNK_SUBGRAPHS) as u32);
                let entries = one.counts().1 + other.map_or(0, |other| other.counts().1);
                let taken = self.take(entries)?;
                composer.join(chunk, first, one, other.map(|other| &**other)).map_err(told)?;
                drop(taken);
                Chunk::charge_lists(chunk, self.engine.pager.account());
            }
            loops.fetch_add(composer.loops(), Ordering::Relaxed);
            Ok::<_, Unmade>(())
        })?;
        Ok((side, loops.into_inner()))
    }
}

/// Returns the edges that the view takes of a label.
pub(super) fn take_of(label: &ChosenLabel, first_copies: bool) -> Take<'_> {
    Take { ranks: label.ranks, tests: &label.tests, first_copies, weight: weight_of(label.weight) }
}

/// True if a test reads a property that only the first copy of an undirected edge keeps.
pub(super) fn tests_text(label: &ChosenLabel) -> bool {
    label.tests.iter().any(EdgeTest::reads_text)
}

fn weight_of(weight: ChosenWeight) -> EdgeWeight {
    match weight {
        ChosenWeight::Stored => EdgeWeight::Stored,
        ChosenWeight::Property(property, missing) => {
            EdgeWeight::Property(property, missing.map(f64::from_bits))
        }
    }
}

fn told(error: ComposeError) -> Unmade {
    let error: Error = match error {
        ComposeError::TooManyEdges => {
            let what = "the edges of 64 vertices in a view".to_owned();
            ArgumentError::TooLarge { what, limit: u64::from(u32::MAX) }.into()
        }
        _ => NotInMemory.into(),
    };
    error.into()
}
