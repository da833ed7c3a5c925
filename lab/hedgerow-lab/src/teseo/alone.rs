//! The fat tree without latches and service threads, for one user at a time. A change that fills a segment
//! also rebalances it.

use std::sync::Arc;

use hedgerow_core::{Capability, Direction, DynamicGraph, Timestamp, Update, VertexId, Written};
use parking_lot::Mutex;

use super::index::{Hint, Index, LeafIds, MOST, Table, is_alive, keys};
use super::leaf::{Bare, Leaf};
use super::options::{Shape, TeseoOptions};
use super::segment::{NO_HEADER, Segment, key, target};
use super::shared::Store;
use super::snapshot::TeseoSnapshot;
use super::spread::Gathered;
use super::undo::Horizon;
use crate::change::{self, Change, Draft, Effect};
use crate::{GraphForm, LabError};

/// The tree of all edges in one direction.
struct Tree {
    index: Index<Bare>,
    ids: LeafIds,
    direction: Direction,
}

/// The state of a container for one user.
pub struct Alone {
    trees: Vec<Tree>,
    table: Table,
    shape: Shape,
    form: GraphForm,
    /// The timestamp of the last transaction.
    at: u64,
    vertices: i64,
    edges: i64,
}

/// The fat tree for one user at a time, with or without versions.
pub struct TeseoAlone<const VERSIONED: bool> {
    graph: Mutex<Arc<Alone>>,
    form: GraphForm,
}

/// A fat tree without versions of edges.
pub type PlainTeseo = TeseoAlone<false>;
/// A fat tree with versions of edges, which readers check.
pub type VersionedTeseo = TeseoAlone<true>;

impl<const VERSIONED: bool> TeseoAlone<VERSIONED> {
    /// Makes an empty graph with the paper's parameters.
    pub fn new(form: GraphForm) -> Self {
        Self::with_options(form, TeseoOptions::default())
    }

    /// Makes an empty graph. The options about threads have no effect.
    pub fn with_options(form: GraphForm, options: TeseoOptions) -> Self {
        let shape = Shape::new(form, options, VERSIONED);
        let tree = |&direction: &Direction| {
            let mut ids = LeafIds::default();
            Tree { index: Index::new(&shape, &mut ids), ids, direction }
        };
        let graph = Alone {
            trees: form.directions().iter().map(tree).collect(),
            table: Table::default(),
            shape,
            form,
            at: 0,
            vertices: 0,
            edges: 0,
        };
        TeseoAlone { graph: Mutex::new(Arc::new(graph)), form }
    }

    /// Waits until no snapshot is left, and returns the result of `f` for the graph.
    fn change<T>(&self, f: impl FnOnce(&mut Alone) -> T) -> T {
        let mut graph = self.graph.lock();
        loop {
            if let Some(graph) = Arc::get_mut(&mut graph) {
                return f(graph);
            }
            std::thread::yield_now();
        }
    }
}

impl Tree {
    /// Returns the leaf at a place. The tree holds the only reference to it while a transaction runs.
    #[inline]
    fn leaf(&mut self, place: usize) -> &mut Leaf<Bare> {
        Arc::get_mut(&mut self.index.leaves[place]).expect("a leaf of this tree alone")
    }

    /// Returns the segment that holds `key`. Also returns the place of a header there, if `hint` leads to
    /// that segment.
    #[inline]
    fn segment(&mut self, hint: Hint, key: u64) -> (&mut Segment, usize) {
        if let Some(place) = self.index.place_of(hint) {
            let (i, leaf) = (hint.segment(), &self.index.leaves[place]);
            if leaf.segments.get(i).is_some_and(|bare| bare.0.covers(key)) {
                return (&mut self.leaf(place).segments[i].0, hint.header());
            }
        }
        let leaf = self.leaf(self.index.place(key));
        let i = leaf.find(key);
        (&mut leaf.segments[i].0, NO_HEADER)
    }

    /// Rebalances the window of the segment that holds `key`.
    fn rebalance(&mut self, key: u64, shape: &Shape, table: &Table, horizon: &Horizon) {
        let (place, direction) = (self.index.place(key), self.direction);
        let leaf = self.leaf(place);
        let i = leaf.find(key);
        leaf.segments[i].0.prune(horizon);
        if !leaf.segments[i].0.is_full() {
            return;
        }
        let Some(window) = leaf.window(i, shape, |i| leaf.segments[i].0.used()) else {
            return self.rebuild(place..place + 1, shape, table, horizon);
        };
        let mut segments: Vec<&mut Segment> =
            leaf.segments[window.clone()].iter_mut().map(|bare| &mut bare.0).collect();
        let range = segments[0].low..segments[window.len() - 1].high;
        let gathered = Gathered::of(&mut segments, horizon);
        gathered.spread(range, &mut segments);
        let (id, lows) =
            (leaf.id, leaf.segments[window.clone()].iter().map(|bare| bare.0.low).collect::<Vec<_>>());
        leaf.set_fences(window.start, lows.into_iter());
        for i in window {
            table.enter(direction, &leaf.segments[i].0, id, i);
        }
    }

    /// Replaces neighbouring leaves with new leaves.
    fn rebuild(&mut self, places: std::ops::Range<usize>, shape: &Shape, table: &Table, horizon: &Horizon) {
        let range = self.index.leaves[places.start].low..self.index.leaves[places.end - 1].high;
        let mut old: Vec<&mut Segment> = self.index.leaves[places.clone()]
            .iter_mut()
            .flat_map(|leaf| &mut Arc::get_mut(leaf).expect("a leaf of this tree alone").segments)
            .map(|bare| &mut bare.0)
            .collect();
        let mut segments = Gathered::of(&mut old, horizon).segments(range, shape);
        let mut new = Vec::new();
        let each = segments.len().div_ceil(segments.len().div_ceil(shape.leaf));
        while !segments.is_empty() {
            let rest = segments.split_off(each.min(segments.len()));
            let id = self.ids.take();
            for (i, segment) in segments.iter().enumerate() {
                table.enter(self.direction, segment, id, i);
            }
            new.push(Arc::new(Leaf::new(id, segments)));
            segments = rest;
        }
        let replaced: Vec<u32> = self.index.leaves[places.clone()].iter().map(|leaf| leaf.id).collect();
        self.index = self.index.replacing(places, new);
        replaced.into_iter().for_each(|id| self.ids.give_back(id));
    }

    /// Prunes the versions of all segments, and merges leaves if one leaf is enough for their edges.
    fn visit(&mut self, shape: &Shape, table: &Table, horizon: &Horizon) {
        for place in 0..self.index.leaves.len() {
            self.leaf(place).segments.iter_mut().for_each(|bare| bare.0.prune(horizon));
        }
        let used = |leaf: &Leaf<Bare>| leaf.segments.iter().map(|bare| bare.0.used()).sum::<usize>();
        let mut first = 0;
        while first < self.index.leaves.len() {
            let mut words = used(&self.index.leaves[first]);
            let mut end = first + 1;
            while let Some(more) = self.index.leaves.get(end).map(|leaf| used(leaf)) {
                if !shape.merges(words + more) {
                    break;
                }
                (words, end) = (words + more, end + 1);
            }
            if end > first + 1 || self.index.leaves[first].segments.len() > 2 * shape.resized(words) {
                self.rebuild(first..end, shape, table, horizon);
            }
            first += 1;
        }
    }

    fn bytes(&self) -> usize {
        let segments =
            |leaf: &Arc<Leaf<Bare>>| leaf.segments.iter().map(|bare| bare.0.bytes()).sum::<usize>();
        let leaves = self.index.leaves.iter();
        self.index.bytes() + leaves.map(|leaf| leaf.bytes() + segments(leaf)).sum::<usize>()
    }
}

impl Alone {
    #[inline]
    fn segment(&self, direction: Direction, key: u64) -> &Segment {
        let leaf = self.trees[direction as usize].index.leaf(key);
        &leaf.segments[leaf.find(key)].0
    }

    /// Makes one change, and then makes room for the next change.
    fn change(&mut self, owner: VertexId, direction: Direction, change: &Change) -> Effect {
        let (key, at, shape) = (key(owner.0, change.target.0), self.at, self.shape);
        let hint = self.table.hint(owner, direction);
        let tree = &mut self.trees[direction as usize];
        let (segment, header) = tree.segment(hint, key);
        let made = segment.change((key, header), change.weight, at, &shape, || at - 1);
        segment.prune_many(|| Horizon::alone(at - 1));
        if segment.is_full() {
            tree.rebalance(key, &shape, &self.table, &Horizon::alone(at - 1));
        }
        made.expect("there is no other transaction")
    }
}

impl Draft for Alone {
    fn set_present(&mut self, v: VertexId, present: bool) -> bool {
        let (life, at) = (self.table.life(v), self.at);
        if is_alive(life) == present {
            return false;
        }
        let made = self.table.set_life(v, Some(present), at, || at - 1, || Horizon::alone(at - 1));
        made.expect("there is no other transaction");
        true
    }

    fn apply(&mut self, owner: VertexId, direction: Direction, changes: &[Change]) -> Effect {
        let mut effect = Effect::default();
        changes.iter().for_each(|change| effect.add(self.change(owner, direction, change)));
        effect
    }

    fn has(&self, owner: VertexId, direction: Direction, target: VertexId) -> bool {
        let key = key(owner.0, target.0);
        self.segment(direction, key).find(key, NO_HEADER, u64::MAX).is_some()
    }

    fn targets(&self, owner: VertexId, direction: Direction) -> Vec<VertexId> {
        let mut targets = Vec::new();
        let mut range = keys(u64::from(owner.0), u64::from(owner.0) + 1);
        while range.start < range.end {
            let segment = self.segment(direction, range.start);
            let part = range.start..range.end.min(segment.high);
            segment.for_each_visible(part.clone(), u64::MAX, |key, _| targets.push(VertexId(target(key))));
            range.start = part.end;
        }
        targets
    }
}

impl Store for Alone {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn table(&self) -> &Table {
        &self.table
    }

    #[inline]
    fn read<T>(&self, direction: Direction, hint: Hint, key: u64, f: impl FnOnce(&Segment, usize) -> T) -> T {
        let leaf = self.trees[direction as usize].index.leaf_of(hint);
        let hinted = leaf.and_then(|leaf| leaf.segments.get(hint.segment()));
        match hinted.filter(|bare| bare.0.covers(key)) {
            Some(bare) => f(&bare.0, hint.header()),
            None => f(self.segment(direction, key), NO_HEADER),
        }
    }

    #[inline]
    fn prefetch(&self, direction: Direction, hint: Hint) {
        let leaf = self.trees[direction as usize].index.leaf_of(hint);
        if let Some(bare) = leaf.and_then(|leaf| leaf.segments.get(hint.segment())) {
            hedgerow_core::simd::prefetch(bare);
        }
    }
}

impl<const VERSIONED: bool> DynamicGraph for TeseoAlone<VERSIONED> {
    type Error = LabError;
    type Snapshot = TeseoSnapshot<Alone>;

    const LACKS: &'static [Capability] = &[Capability::Versions, Capability::ParallelWriters];

    fn write(&self, updates: &[Update]) -> Result<Written, LabError> {
        change::check(updates, MOST)?;
        Ok(self.change(|graph| {
            graph.at += 1;
            let more = change::make(updates, graph.form, graph);
            graph.vertices += more.vertices;
            graph.edges += more.edges;
            Written { timestamp: Timestamp(graph.at), vertices: more.vertices, edges: more.edges }
        }))
    }

    fn snapshot(&self) -> Result<Self::Snapshot, LabError> {
        let graph = self.graph.lock().clone();
        let seen = (graph.at, graph.vertices as usize, graph.edges as u64);
        Ok(TeseoSnapshot::new(graph, self.form, seen, None))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        self.change(|graph| {
            let horizon = Horizon::alone(graph.at);
            for tree in &mut graph.trees {
                tree.visit(&graph.shape, &graph.table, &horizon);
            }
            graph.table.prune(&horizon);
        });
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        let graph = self.graph.lock();
        graph.table.bytes() + graph.trees.iter().map(Tree::bytes).sum::<usize>()
    }
}
