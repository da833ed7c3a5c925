//! Snapshots. A read holds a latch while it copies a small part of a list, or a reference to the words of a
//! segment.

use std::cell::Cell;
use std::convert::Infallible;
use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, OnceLock};

use hedgerow_core::{
    Block, Direction, GraphSnapshot, LocalVertex, Neighbors, Resident, SUBGRAPH_VERTICES, SubgraphId,
    Timestamp, Topology, VertexId, WeightedTopology,
};

use super::index::{Hint, keys};
use super::lists::{Lists, TeseoBlock};
use super::segment::{Segment, key, target};
use super::shared::{Shared, Store};
use crate::GraphForm;
use crate::clock::Reader;
use crate::flat::FlatLists;
use crate::planted::{Planted, is_on};

/// The largest number of neighbours in a segment that a read copies under the latch. A quarter of the words
/// of a segment is a second limit. A read of more neighbours takes a reference to the words.
const COPIED: usize = 64;

/// The buffer to which a thread copies lists.
#[derive(Debug, Default)]
struct Copied {
    targets: Vec<VertexId>,
    weights: Vec<f64>,
}

thread_local! {
    /// The buffer of this thread, between two uses.
    static BUFFER: Cell<Option<Box<Copied>>> = const { Cell::new(None) };
}

/// The part of a list that a segment has.
enum Part {
    /// The part is in the buffer.
    Copied,
    /// The part is in these words.
    Shared { words: Arc<[VertexId]>, weights: Option<Arc<[f64]>>, spans: [Range<usize>; 2] },
}

/// The degrees of all vertices, once a read has counted them.
type Degrees = OnceLock<Box<[u32]>>;

/// A fat tree at one timestamp.
pub struct TeseoSnapshot<S> {
    store: Arc<S>,
    form: GraphForm,
    at: u64,
    vertices: usize,
    edges: u64,
    bound: usize,
    /// The number of degrees of single vertices that reads requested before the view of all degrees existed.
    asked: AtomicU32,
    degrees: [Degrees; 2],
    flat: FlatLists,
    /// The registration that keeps concurrent writers from pruning versions; `None` without concurrent
    /// writers.
    _reader: Option<Reader>,
}

impl TeseoSnapshot<Shared> {
    /// Returns the number of references to the state that the container and its snapshots share.
    #[cfg(test)]
    pub(crate) fn references(&self) -> usize {
        Arc::strong_count(&self.store)
    }

    /// Makes a snapshot of a tree with concurrent writers.
    pub(super) fn registered(store: Arc<Shared>, form: GraphForm, reader: Reader) -> Self {
        let seen = (reader.timestamp().0, reader.vertices(), reader.edges());
        TeseoSnapshot::new(store, form, seen, Some(reader))
    }
}

#[allow(private_bounds, reason = "a snapshot is made by its container")]
impl<S: Store> TeseoSnapshot<S> {
    pub(super) fn new(
        store: Arc<S>,
        form: GraphForm,
        (at, vertices, edges): (u64, usize, u64),
        reader: Option<Reader>,
    ) -> Self {
        // Every vertex that the reader sees was in the table before the reader was registered.
        let bound = store.table().bound();
        TeseoSnapshot {
            store,
            form,
            at,
            vertices,
            edges,
            bound,
            asked: AtomicU32::new(0),
            degrees: Default::default(),
            flat: FlatLists::default(),
            _reader: reader,
        }
    }

    /// Returns the part of the list of `v` that a segment has from the key `from` on, and the key behind the
    /// segment.
    #[inline]
    fn part(
        &self,
        segment: &Segment,
        v: VertexId,
        from: u64,
        header: usize,
        copied: &mut Copied,
    ) -> (Part, u64) {
        copied.targets.clear();
        copied.weights.clear();
        if !segment.is_clean(self.at) {
            let range = from..segment.high.min(key(v.0 + 1, 0));
            segment.for_each_visible(range, self.at, |key, weight| {
                copied.targets.push(VertexId(target(key)));
                if self.form.weighted {
                    copied.weights.push(weight);
                }
            });
            return (Part::Copied, segment.high);
        }
        let mut spans = segment.spans(v.0, header);
        if target(from) != 0 && segment.low < from {
            for span in &mut spans {
                let list = &segment.words[span.clone()];
                span.start += list.partition_point(|id| id.0 < target(from));
            }
        }
        if spans[0].len() + spans[1].len() > COPIED.min(segment.words.len() / 4) {
            let part = Part::Shared { words: segment.words.clone(), weights: segment.weights.clone(), spans };
            return (part, segment.high);
        }
        for span in spans {
            copied.targets.extend_from_slice(&segment.words[span.clone()]);
            if let Some(weights) = &segment.weights {
                copied.weights.extend_from_slice(&weights[span]);
            }
        }
        (Part::Copied, segment.high)
    }

    /// Calls `f` with the neighbours of `v` in one or more runs, until `f` breaks. Holds no latch while `f`
    /// runs.
    #[inline]
    fn runs(
        &self,
        v: VertexId,
        direction: Direction,
        mut f: impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if v.index() >= self.bound {
            return f(&[], &[]);
        }
        let direction = self.form.kept(direction);
        let range = keys(u64::from(v.0), u64::from(v.0) + 1);
        let (mut from, mut hint) = (range.start, self.store.table().hint(v, direction));
        let mut copied = BUFFER.take().unwrap_or_default();
        let mut flow = ControlFlow::Continue(());
        while from < range.end && flow.is_continue() {
            let part = |segment: &Segment, header| self.part(segment, v, from, header, &mut copied);
            let (part, high) = self.store.read(direction, hint, from, part);
            // `f` gets the first part even if it is empty, so that it gets at least one run. Later empty
            // parts are left out. A list with several parts is usually long, so one empty run does no harm.
            flow = match part {
                Part::Copied if copied.targets.is_empty() && from != range.start => flow,
                Part::Copied => f(&copied.targets, &copied.weights),
                Part::Shared { words, weights, spans } => {
                    spans.into_iter().filter(|span| !span.is_empty()).try_for_each(|span| {
                        let weights = weights.as_ref().map_or(&[][..], |weights| &weights[span.clone()]);
                        if is_on(Planted::WordsTakenLater) {
                            let words = |segment: &Segment, _| segment.words.clone();
                            return f(&self.store.read(direction, hint, from, words)[span], weights);
                        }
                        f(&words[span], weights)
                    })
                }
            };
            (from, hint) = (high, Hint::default());
        }
        BUFFER.set(Some(copied));
        flow
    }

    /// Counts the degrees of all vertices in one pass over the graph.
    fn count(&self, direction: Direction) -> Box<[u32]> {
        let mut degrees = vec![0u32; self.bound.next_multiple_of(SUBGRAPH_VERTICES)].into_boxed_slice();
        let subgraphs = SubgraphId(0)..SubgraphId(self.bound.div_ceil(SUBGRAPH_VERTICES) as u32);
        self.blocks(subgraphs, direction, |subgraph, block| {
            for local in (0..SUBGRAPH_VERTICES as u8).map(LocalVertex) {
                degrees[subgraph.vertex(local).index()] = block.degree(local) as u32;
            }
            ControlFlow::Continue(())
        });
        degrees
    }

    /// Returns the number of neighbours. After `degrees_asked` requests, it reads the degree from a view of
    /// all vertices (the paper's materialised view).
    #[inline]
    fn degree_of(&self, v: VertexId, direction: Direction) -> usize {
        let direction = self.form.kept(direction);
        let degrees = &self.degrees[direction as usize];
        if let Some(degrees) = degrees.get() {
            return degrees.get(v.index()).map_or(0, |&degree| degree as usize);
        }
        if self.asked.fetch_add(1, Ordering::Relaxed) >= self.store.shape().degrees_asked {
            let degrees = degrees.get_or_init(|| self.count(direction));
            return degrees.get(v.index()).map_or(0, |&degree| degree as usize);
        }
        let mut degree = 0;
        let _ = self.runs(v, direction, |run, _| {
            degree += run.len();
            ControlFlow::Continue(())
        });
        degree
    }

    #[inline]
    fn blocks(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        mut f: impl FnMut(SubgraphId, TeseoBlock<'_>) -> ControlFlow<()>,
    ) {
        let direction = self.form.kept(direction);
        let mut lists = Lists::new();
        for subgraph in (subgraphs.start.0..subgraphs.end.0).map(SubgraphId) {
            lists.fill(&*self.store, direction, subgraph, self.at);
            if f(subgraph, TeseoBlock(&lists)).is_break() {
                return;
            }
        }
    }
}

#[allow(private_bounds, reason = "a snapshot is made by its container")]
impl<S: Store> Topology for TeseoSnapshot<S> {
    type Error = Infallible;
    type Block<'a> = TeseoBlock<'a>;

    fn vertex_bound(&self) -> usize {
        self.bound
    }

    fn vertex_count(&self) -> usize {
        self.vertices
    }

    fn edge_count(&self) -> u64 {
        self.edges
    }

    fn is_directed(&self) -> bool {
        self.form.directed
    }

    #[inline]
    fn contains(&self, v: VertexId) -> bool {
        self.store.table().is_present(v, self.at)
    }

    #[inline]
    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.degree_of(v, direction)
    }

    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, TeseoBlock<'_>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        self.blocks(subgraphs, direction, f);
        Ok(())
    }

    #[inline]
    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Infallible> {
        self.visit_weighted(frontier, direction, |v, run, _| f(v, run))
    }

    #[inline]
    fn prefetch_place(&self, v: VertexId, _direction: Direction) {
        self.store.table().prefetch(v);
    }

    #[inline]
    fn prefetch_list(&self, v: VertexId, direction: Direction) {
        let direction = self.form.kept(direction);
        self.store.prefetch(direction, self.store.table().hint(v, direction));
    }
}

#[allow(private_bounds, reason = "a snapshot is made by its container")]
impl<S: Store> Resident for TeseoSnapshot<S> {
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let direction = self.form.kept(direction);
        let list = self.flat.get(v, direction, self.bound, |list| {
            let _ = self.runs(v, direction, |run, _| {
                list.extend_from_slice(run);
                ControlFlow::Continue(())
            });
        });
        Neighbors::from_slice(list)
    }

    #[inline]
    fn degree(&self, v: VertexId, direction: Direction) -> usize {
        self.degree_of(v, direction)
    }
}

#[allow(private_bounds, reason = "a snapshot is made by its container")]
impl<S: Store> WeightedTopology for TeseoSnapshot<S> {
    fn has_weights(&self) -> bool {
        self.form.weighted
    }

    #[inline]
    fn visit_weighted(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> Result<(), Infallible> {
        for v in frontier {
            let _ = self.runs(v, direction, |run, weights| {
                f(v, run, weights);
                ControlFlow::Continue(())
            });
        }
        Ok(())
    }
}

#[allow(private_bounds, reason = "a snapshot is made by its container")]
impl<S: Store> GraphSnapshot for TeseoSnapshot<S> {
    fn timestamp(&self) -> Timestamp {
        Timestamp(self.at)
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        if src.index() >= self.bound {
            return None;
        }
        let key = key(src.0, dst.0);
        let hint = self.store.table().hint(src, Direction::Out);
        self.store.read(Direction::Out, hint, key, |segment, header| segment.find(key, header, self.at))
    }
}
