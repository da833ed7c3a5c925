//! The tree of vertices, whose values are lists, and changes of many vertices at once.

use std::sync::Arc;

use hedgerow_core::{Direction, VertexId};
use smallvec::SmallVec;

use super::ctree::CTree;
use super::parallel;
use super::shape::Shape;
use super::tree::{self, Link, Node, Value};
use crate::GraphForm;
use crate::change::{Change, Effect, Entry};

/// The lists of a vertex.
#[derive(Clone, Debug, Default)]
pub(super) struct Vertex {
    out: CTree,
    /// The incoming list of a directed graph; made with the first edge to this vertex.
    into: Option<Arc<CTree>>,
}

impl Value for Vertex {
    type Total = ();

    fn total(&self, (): (), (): ()) {}
}

impl Vertex {
    #[inline]
    pub(super) fn list(&self, direction: Direction) -> Option<&CTree> {
        match direction {
            Direction::Out => Some(&self.out),
            Direction::In => self.into.as_deref(),
        }
    }

    fn list_mut(&mut self, direction: Direction) -> &mut CTree {
        match direction {
            Direction::Out => &mut self.out,
            Direction::In => Arc::make_mut(self.into.get_or_insert_default()),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let counts = 16;
        let into = self.into.as_ref().map_or(0, |into| counts + size_of::<CTree>() + into.bytes());
        self.out.bytes() + into
    }
}

/// The changes that a transaction makes at one vertex.
#[derive(Clone, Copy, Debug)]
pub(super) struct VertexChange<'a> {
    pub(super) vertex: VertexId,
    /// Whether the transaction makes the vertex exist.
    pub(super) is_inserted: bool,
    /// The changes of lists, sorted by direction and target.
    pub(super) entries: &'a [Entry],
}

/// The effect of changes on the vertices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Outcome {
    pub(super) vertices: i64,
    /// The difference in ends of edges. A directed edge has one end, in an outgoing list. An undirected edge
    /// has two ends, also if it is a loop.
    pub(super) ends: i64,
    /// Whether anything changed, weights included.
    pub(super) changed: bool,
}

impl Outcome {
    pub(super) fn add(&mut self, other: Outcome) {
        self.vertices += other.vertices;
        self.ends += other.ends;
        self.changed |= other.changed;
    }
}

/// The parameters with which a transaction changes vertices.
#[derive(Clone, Copy, Debug)]
pub(super) struct Writer {
    pub(super) form: GraphForm,
    pub(super) shape: Shape,
    /// Whether other threads may share the work.
    pub(super) is_parallel: bool,
}

impl Writer {
    /// Applies the changes in one pass through the tree. They ascend by vertex and name each vertex once.
    pub(super) fn change(&self, link: &mut Link<Vertex>, changes: &[VertexChange<'_>]) -> Outcome {
        if changes.is_empty() {
            return Outcome::default();
        }
        let Some(top) = link else {
            let (made, outcome) = self.insert(changes);
            *link = made;
            return outcome;
        };
        let node = Arc::make_mut(top);
        let key = VertexId(node.key);
        let (left, rest) = changes.split_at(changes.partition_point(|change| change.vertex < key));
        let (here, right) = rest.split_at(rest.partition_point(|change| change.vertex == key));
        let (mut outcome, of_right) = if left.is_empty() || right.is_empty() {
            (self.change(&mut node.left, left), self.change(&mut node.right, right))
        } else {
            parallel::both(
                self.is_parallel && changes.len() >= parallel::LEAST_VERTICES,
                || self.change(&mut node.left, left),
                || self.change(&mut node.right, right),
            )
        };
        outcome.add(of_right);
        if let Some(here) = here.first() {
            outcome.add(self.change_lists(&mut node.value, here));
        }
        if !node.update() {
            tree::rebalance(link);
        }
        outcome
    }

    /// Returns the tree of the new vertices.
    fn insert(&self, changes: &[VertexChange<'_>]) -> (Link<Vertex>, Outcome) {
        if changes.is_empty() {
            return (None, Outcome::default());
        }
        let (left, rest) = changes.split_at(changes.len() / 2);
        let (here, right) = (&rest[0], &rest[1..]);
        let ((left, mut outcome), (right, of_right)) = parallel::both(
            self.is_parallel && changes.len() >= parallel::LEAST_VERTICES,
            || self.insert(left),
            || self.insert(right),
        );
        outcome.add(of_right);
        if !here.is_inserted {
            return (tree::join_two(left, right), outcome);
        }
        let mut vertex = Vertex::default();
        outcome.add(Outcome { vertices: 1, ends: 0, changed: true });
        outcome.add(self.change_lists(&mut vertex, here));
        (Some(tree::join(left, Node::alone(here.vertex.0, vertex), right)), outcome)
    }

    fn change_lists(&self, vertex: &mut Vertex, change: &VertexChange<'_>) -> Outcome {
        let mut outcome = Outcome::default();
        let mut changes = SmallVec::<[Change; 4]>::new();
        for entries in change.entries.chunk_by(Entry::same_list) {
            let direction = entries[0].direction;
            changes.clear();
            changes.extend(entries.iter().map(|entry| entry.change));
            // An undirected loop is in one list, and counts as two ends.
            let changes_loop = !self.form.directed
                && changes.binary_search_by_key(&change.vertex, |change| change.target).is_ok();
            let list = vertex.list_mut(direction);
            let has_loop = |list: &CTree| {
                i64::from(changes_loop && list.find(change.vertex, self.shape.coding).is_some())
            };
            let before = has_loop(list);
            let Effect { entries, changed } = list.change(&changes, &self.shape, self.is_parallel);
            outcome.changed |= changed;
            if direction == Direction::Out {
                outcome.ends += entries + has_loop(list) - before;
            }
        }
        outcome
    }
}
