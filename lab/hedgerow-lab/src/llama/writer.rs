//! Transactions. The writer makes each update at once in the buffer. If an update removes an entry of a
//! level, the writer also marks the entry in the level's deletion vector. No snapshot sees these changes
//! before the buffer is frozen.

use hedgerow_core::{Direction, Timestamp, Update, VertexId, Written};
use smallvec::SmallVec;

use super::buffer::Buffer;
use super::level::position;
use super::options::Shape;
use super::root::Root;
use crate::GraphForm;

/// The state of the only writer: all changes since the last snapshot.
#[derive(Debug)]
pub(super) struct Writer {
    pub(super) buffers: [Buffer; 2],
    /// The timestamp of the last transaction.
    pub(super) at: u64,
    pub(super) vertices: usize,
    pub(super) edges: u64,
    pub(super) bound: usize,
    /// The number of changes of lists and vertices since the last snapshot.
    pub(super) changes: usize,
    form: GraphForm,
    shape: Shape,
}

/// One end of an edge: the list with the edge, and the neighbour in that list.
#[derive(Clone, Copy, Debug)]
struct End {
    owner: VertexId,
    direction: Direction,
    target: VertexId,
}

impl Writer {
    pub(super) fn new(form: GraphForm, shape: Shape) -> Writer {
        let buffers = [Buffer::new(&shape), Buffer::new(&shape)];
        Writer { buffers, at: 0, vertices: 0, edges: 0, bound: 0, changes: 0, form, shape }
    }

    /// Makes a transaction on the last snapshot and the buffer. A transaction without changes draws no
    /// timestamp.
    pub(super) fn write(&mut self, updates: &[Update], root: &Root) -> Written {
        let (vertices, edges, changes) = (self.vertices as i64, self.edges as i64, self.changes);
        for update in updates {
            match *update {
                Update::InsertVertex(v) => self.insert_vertex(v, root),
                Update::RemoveVertex(v) => self.remove_vertex(v, root),
                Update::InsertEdge(src, dst, weight) => self.insert_edge(src, dst, weight, root),
                Update::RemoveEdge(src, dst) => self.remove_edge(src, dst, root),
            }
        }
        self.at += u64::from(self.changes > changes);
        Written {
            timestamp: Timestamp(self.at),
            vertices: self.vertices as i64 - vertices,
            edges: self.edges as i64 - edges,
        }
    }

    fn is_present(&self, v: VertexId, root: &Root) -> bool {
        let direction = Direction::Out as usize;
        self.buffers[direction].list(v, &root.lists[direction]).0.is_present()
    }

    fn set_present(&mut self, v: VertexId, present: bool, root: &Root) {
        let direction = Direction::Out as usize;
        let node = self.buffers[direction].node(v, &root.lists[direction]);
        node.record.set_present(present);
        self.changes += 1;
    }

    fn insert_vertex(&mut self, v: VertexId, root: &Root) {
        if !self.is_present(v, root) {
            self.set_present(v, true, root);
            self.vertices += 1;
            self.bound = self.bound.max(v.index() + 1);
        }
    }

    /// Returns the ends of an edge: one end of an undirected loop, else two.
    fn ends(&self, src: VertexId, dst: VertexId) -> SmallVec<[End; 2]> {
        let mut ends = SmallVec::new();
        ends.push(End { owner: src, direction: Direction::Out, target: dst });
        if self.form.directed || src != dst {
            let direction = self.form.mirrored(Direction::Out);
            ends.push(End { owner: dst, direction, target: src });
        }
        ends
    }

    /// Returns the end whose list is cheaper to search. Either both lists have the edge, or neither does.
    fn nearer(&self, ends: &[End], root: &Root) -> End {
        let cost = |end: &&End| {
            let direction = end.direction as usize;
            let (record, added) = self.buffers[direction].list(end.owner, &root.lists[direction]);
            added.len() + if self.shape.sorted { 0 } else { record.degree() }
        };
        // An edge has at least one end.
        ends.iter().min_by_key(cost).copied().unwrap_or(ends[0])
    }

    /// Returns the weight of the edge at this end, if the edge exists.
    fn find(&self, end: End, root: &Root) -> Option<f64> {
        let (lists, buffer) = (&root.lists[end.direction as usize], &self.buffers[end.direction as usize]);
        let node = buffer.get(end.owner);
        if let Some(node) = node
            && let Some(at) = position(&node.targets, end.target)
        {
            return Some(node.weights.get(at).copied().unwrap_or(1.0));
        }
        let record = node.map_or_else(|| lists.record(end.owner), |node| node.record);
        lists.find(&record, end.target, root.next_epoch()).map(|place| lists.weight(place))
    }

    /// Adds a missing edge at this end.
    fn add(&mut self, end: End, weight: f64, root: &Root) {
        let buffer = &mut self.buffers[end.direction as usize];
        let node = buffer.node(end.owner, &root.lists[end.direction as usize]);
        node.push(end.target, self.form.weighted.then_some(weight));
        buffer.entries += 1;
        self.changes += 1;
    }

    /// Removes an existing edge from the list at this end.
    fn take(&mut self, end: End, root: &Root) {
        let lists = &root.lists[end.direction as usize];
        let buffer = &mut self.buffers[end.direction as usize];
        let node = buffer.node(end.owner, lists);
        if let Some(at) = position(&node.targets, end.target) {
            node.swap_remove(at);
            buffer.entries -= 1;
        } else if let Some(place) = lists.find(&node.record, end.target, root.next_epoch()) {
            lists.mark(place, root.next_epoch());
            node.record.lose_one();
        }
        self.changes += 1;
    }

    /// Sets the weight of an existing edge at this end. An entry of a level is removed and added again.
    fn weigh(&mut self, end: End, weight: f64, root: &Root) {
        let buffer = &mut self.buffers[end.direction as usize];
        let node = buffer.node(end.owner, &root.lists[end.direction as usize]);
        match position(&node.targets, end.target) {
            Some(at) => {
                node.weights[at] = weight;
                self.changes += 1;
            }
            None => {
                self.take(end, root);
                self.add(end, weight, root);
            }
        }
    }

    fn insert_edge(&mut self, src: VertexId, dst: VertexId, weight: f64, root: &Root) {
        self.insert_vertex(src, root);
        self.insert_vertex(dst, root);
        let ends = self.ends(src, dst);
        match self.find(self.nearer(&ends, root), root) {
            None => {
                ends.iter().for_each(|&end| self.add(end, weight, root));
                self.edges += 1;
            }
            Some(before) if self.form.weighted && before != weight => {
                ends.iter().for_each(|&end| self.weigh(end, weight, root));
            }
            Some(_) => {}
        }
    }

    fn remove_edge(&mut self, src: VertexId, dst: VertexId, root: &Root) {
        let ends = self.ends(src, dst);
        if self.find(self.nearer(&ends, root), root).is_some() {
            ends.iter().for_each(|&end| self.take(end, root));
            self.edges -= 1;
        }
    }

    /// Removes a vertex from the lists of its neighbours, and leaves its own lists without fragments.
    fn remove_vertex(&mut self, v: VertexId, root: &Root) {
        if !self.is_present(v, root) {
            return;
        }
        let (mut gone, mut loops) = (0, 0u64);
        for &direction in self.form.directions() {
            let lists = &root.lists[direction as usize];
            let (record, added) = self.buffers[direction as usize].list(v, lists);
            let mut targets = lists.targets(&record, root.next_epoch());
            targets.extend_from_slice(added);
            gone += targets.len() as u64;
            loops += u64::from(targets.contains(&v));
            let mirrored = self.form.mirrored(direction);
            for &owner in targets.iter().filter(|&&owner| owner != v) {
                self.take(End { owner, direction: mirrored, target: v }, root);
            }
            self.clear(v, direction, root);
        }
        // A directed loop was in two lists.
        self.edges -= gone - loops.saturating_sub(1);
        self.set_present(v, false, root);
        self.vertices -= 1;
    }

    /// Removes all neighbours from a list. Its fragments stay in their levels and count as removed.
    fn clear(&mut self, v: VertexId, direction: Direction, root: &Root) {
        let (lists, epoch) = (&root.lists[direction as usize], root.next_epoch());
        let buffer = &mut self.buffers[direction as usize];
        let node = buffer.node(v, lists);
        for (level, fragment) in lists.fragments(node.record.newest()) {
            level.for_each_piece(fragment.range(), epoch, |piece, _| level.lose(piece.len()));
        }
        node.record.lose_all();
        let added = node.targets.len();
        node.targets.clear();
        node.weights.clear();
        buffer.entries -= added;
        self.changes += 1;
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.buffers.iter().map(Buffer::bytes).sum()
    }
}
