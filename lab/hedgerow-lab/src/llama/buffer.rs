//! The write-optimised store: the changes of each list since the last snapshot, in a table of pages by id.

use hedgerow_core::VertexId;
use smallvec::SmallVec;

use super::lists::Lists;
use super::options::Shape;
use super::record::Record;
use super::table::Paging;

/// A changed list: the remaining part of its fragments, and the added neighbours.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) vertex: VertexId,
    pub(super) record: Record,
    /// The added neighbours, unordered.
    pub(super) targets: SmallVec<[VertexId; 4]>,
    /// The weights, in the order of the targets; empty if the graph has no weights.
    pub(super) weights: SmallVec<[f64; 2]>,
}

impl Node {
    pub(super) fn push(&mut self, target: VertexId, weight: Option<f64>) {
        self.targets.push(target);
        self.weights.extend(weight);
    }

    pub(super) fn swap_remove(&mut self, at: usize) {
        self.targets.swap_remove(at);
        if !self.weights.is_empty() {
            self.weights.swap_remove(at);
        }
    }

    pub(super) fn degree(&self) -> usize {
        self.record.degree() + self.targets.len()
    }
}

/// The changed lists of one direction.
#[derive(Debug)]
pub(super) struct Buffer {
    /// The index of each vertex's node plus one, by page and id; 0 if the vertex has no node.
    pages: Vec<Option<Box<[u32]>>>,
    paging: Paging,
    pub(super) nodes: Vec<Node>,
    /// The number of added neighbours.
    pub(super) entries: usize,
}

impl Buffer {
    pub(super) fn new(shape: &Shape) -> Buffer {
        Buffer { pages: Vec::new(), paging: shape.paging, nodes: Vec::new(), entries: 0 }
    }

    #[inline]
    pub(super) fn get(&self, v: VertexId) -> Option<&Node> {
        let page = self.pages.get(self.paging.page_of(v))?.as_ref()?;
        let node = page[self.paging.place_in_page(v)] as usize;
        self.nodes.get(node.checked_sub(1)?)
    }

    /// Returns the node of a vertex. Makes a missing node with the record of the last snapshot.
    #[inline]
    pub(super) fn node(&mut self, v: VertexId, lists: &Lists) -> &mut Node {
        let (page, at) = (self.paging.page_of(v), self.paging.place_in_page(v));
        if page >= self.pages.len() {
            self.pages.resize_with(page + 1, || None);
        }
        let page = self.pages[page].get_or_insert_with(|| vec![0; self.paging.len()].into());
        if page[at] == 0 {
            let record = lists.record(v);
            self.nodes.push(Node { vertex: v, record, targets: SmallVec::new(), weights: SmallVec::new() });
            page[at] = self.nodes.len() as u32;
        }
        &mut self.nodes[page[at] as usize - 1]
    }

    /// Returns the current list of a vertex: the record of its fragments, and the added neighbours.
    #[inline]
    pub(super) fn list(&self, v: VertexId, lists: &Lists) -> (Record, &[VertexId]) {
        match self.get(v) {
            Some(node) => (node.record, &node.targets[..]),
            None => (lists.record(v), &[]),
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        let pages = self.pages.iter().flatten().map(|page| size_of_val(&**page)).sum::<usize>();
        let spilled = self.nodes.iter().map(|node| {
            let targets = if node.targets.spilled() { node.targets.capacity() } else { 0 };
            let weights = if node.weights.spilled() { node.weights.capacity() } else { 0 };
            targets * size_of::<VertexId>() + weights * size_of::<f64>()
        });
        let table = self.pages.capacity() * size_of::<Option<Box<[u32]>>>();
        table + pages + self.nodes.capacity() * size_of::<Node>() + spilled.sum::<usize>()
    }
}
