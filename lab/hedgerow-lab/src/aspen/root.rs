//! The root of a version: everything that a snapshot holds.

use hedgerow_core::{Direction, Timestamp, Update, VertexId, Written};
use smallvec::SmallVec;

use super::parallel;
use super::shape::Shape;
use super::tree::{self, Link};
use super::vertices::{Outcome, Vertex, VertexChange, Writer};
use crate::GraphForm;
use crate::change::{self, Change, Entry};

/// A graph after one transaction. A copy shares all nodes.
#[derive(Clone, Debug, Default)]
pub(super) struct Root {
    pub(super) tree: Link<Vertex>,
    /// The timestamp of the transaction.
    pub(super) at: u64,
    pub(super) vertices: usize,
    pub(super) edges: u64,
    /// One more than the largest id.
    pub(super) bound: usize,
}

impl Root {
    /// Makes a transaction. If it changes nothing, it draws no timestamp and returns `None`.
    pub(super) fn write(&mut self, updates: &[Update], form: GraphForm, shape: Shape) -> Option<Written> {
        let writer = Writer { form, shape, is_parallel: false };
        let (mut outcome, mut rest) = (Outcome::default(), updates);
        while !rest.is_empty() {
            let (before, removed, behind) = change::until_removal(rest);
            outcome.add(self.change(before, &writer));
            if let Some(v) = removed {
                outcome.add(self.remove(v, &writer));
            }
            rest = behind;
        }
        if !outcome.changed {
            return None;
        }
        let edges = if form.directed { outcome.ends } else { outcome.ends / 2 };
        self.at += 1;
        self.vertices = self.vertices.saturating_add_signed(outcome.vertices as isize);
        self.edges = self.edges.saturating_add_signed(edges);
        self.bound = tree::last_key(&self.tree).map_or(0, |last| last as usize + 1);
        Some(Written { timestamp: Timestamp(self.at), vertices: outcome.vertices, edges })
    }

    /// Makes updates that remove no vertex.
    fn change(&mut self, updates: &[Update], writer: &Writer) -> Outcome {
        let entries = change::entries(updates, writer.form);
        let mut inserted: SmallVec<[VertexId; 2]> = change::inserted(updates).collect();
        inserted.sort_unstable();
        inserted.dedup();
        let mut inserted = inserted.into_iter().peekable();
        let mut changes = SmallVec::<[VertexChange<'_>; 2]>::new();
        let alone = |vertex| VertexChange { vertex, is_inserted: true, entries: &[] };
        for entries in entries.chunk_by(|a, b| a.owner == b.owner) {
            let vertex = entries[0].owner;
            while let Some(before) = inserted.next_if(|&v| v < vertex) {
                changes.push(alone(before));
            }
            let is_inserted = inserted.next_if_eq(&vertex).is_some();
            changes.push(VertexChange { vertex, is_inserted, entries });
        }
        changes.extend(inserted.map(alone));
        self.make(&changes, entries.len(), writer)
    }

    /// Makes the changes of lists. Several threads share the work if there are many changes.
    fn make(&mut self, changes: &[VertexChange<'_>], entries: usize, writer: &Writer) -> Outcome {
        let is_large = changes.len().max(entries) >= parallel::LEAST_VERTICES;
        parallel::with_threads(is_large, |is_parallel| {
            Writer { is_parallel, ..*writer }.change(&mut self.tree, changes)
        })
    }

    /// Removes a vertex from the graph and from the lists of its neighbours.
    fn remove(&mut self, v: VertexId, writer: &Writer) -> Outcome {
        let (form, coding) = (writer.form, writer.shape.coding);
        let Some(vertex) = tree::find(&self.tree, v.0) else { return Outcome::default() };
        let mut entries: Vec<Entry> = Vec::new();
        for &direction in form.directions() {
            let mirrored = form.mirrored(direction);
            let targets = vertex.list(direction).map_or_else(Vec::new, |list| list.targets(coding));
            let change = Change { target: v, weight: None };
            let others = targets.into_iter().filter(|&owner| owner != v);
            entries.extend(others.map(|owner| Entry { owner, direction: mirrored, change }));
        }
        let own = vertex.list(Direction::Out);
        let len = own.map_or(0, |list| list.len() as i64);
        let has_loop = !form.directed && own.is_some_and(|list| list.find(v, coding).is_some());
        let mut outcome = Outcome { vertices: -1, ends: -len - i64::from(has_loop), changed: true };
        entries.sort_unstable_by_key(|entry| (entry.owner, entry.direction as u8));
        let changes = entries.chunk_by(|a, b| a.owner == b.owner);
        let changes: Vec<VertexChange<'_>> = changes
            .map(|entries| VertexChange { vertex: entries[0].owner, is_inserted: false, entries })
            .collect();
        outcome.add(self.make(&changes, entries.len(), writer));
        tree::remove(&mut self.tree, v.0);
        outcome
    }

    /// Returns the number of bytes on the heap, as if the version shared nothing.
    pub(super) fn bytes(&self) -> usize {
        tree::bytes(&self.tree, &Vertex::bytes)
    }
}
