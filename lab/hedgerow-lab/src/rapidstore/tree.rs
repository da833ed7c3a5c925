//! The compressed radix tree (C-ART, RapidStore section 6.2): the list of a vertex of high degree.
//!
//! A node branches on one byte of the id. Path compression omits the nodes for bytes that all ids of a
//! subtree have in common. Several bytes can lead to one leaf, which holds up to `segment` ids. So the first
//! byte that leads to a child identifies the child. A node has a bitmap of these first bytes, and its
//! children in an array without holes. It finds the child of a byte by counting bits.
//!
//! Nodes and leaves are counted references. A writer copies the nodes on its way down, unless no other
//! version shares them. A version that is freed frees the nodes and leaves that no other version shares.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use hedgerow_core::VertexId;

use super::leaf::{Leaf, cut, find};
use super::shape::Shape;
use crate::change::{Change, Effect};
use crate::merged::Merged;
use crate::planted::{Planted, is_on};

#[cfg(test)]
mod tests;

/// The number of bytes in an id.
const BYTES: u8 = 4;

/// A sorted set of neighbours.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    root: Arc<Node>,
}

#[derive(Clone, Debug)]
struct Node {
    /// The byte of an id on which the node branches. All its ids share the bytes of `prefix` above it.
    depth: u8,
    prefix: u32,
    /// The first byte of each child.
    starts: Starts,
    children: Vec<Child>,
}

#[derive(Clone, Debug)]
enum Child {
    /// Ids from this first byte up to the byte before the next child.
    Leaf(Leaf),
    /// Ids with this byte only.
    Node(Arc<Node>),
}

/// A set of bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Starts([u64; 4]);

impl Starts {
    /// Returns the number of bytes in the set at or below `byte`.
    #[inline]
    fn rank(self, byte: u8) -> usize {
        let word = usize::from(byte >> 6);
        let within = self.0[word] & (u64::MAX >> (63 - (byte & 63)));
        let below: u32 = self.0[..word].iter().map(|word| word.count_ones()).sum();
        (below + within.count_ones()) as usize
    }

    /// Returns the `i`-th byte in the set, or 256 after the last one.
    fn nth(self, mut i: usize) -> usize {
        for (word, &bits) in self.0.iter().enumerate() {
            let count = bits.count_ones() as usize;
            if i < count {
                let mut bits = bits;
                (0..i).for_each(|_| bits &= bits - 1);
                return word * 64 + bits.trailing_zeros() as usize;
            }
            i -= count;
        }
        256
    }

    fn set(&mut self, byte: u8, on: bool) {
        let bit = 1 << (byte & 63);
        let word = &mut self.0[usize::from(byte >> 6)];
        if on { *word |= bit } else { *word &= !bit }
    }
}

#[inline]
fn byte_at(id: u32, depth: u8) -> u8 {
    (id >> (24 - 8 * depth)) as u8
}

/// Returns the bytes of an id above a depth.
#[inline]
fn above(id: u32, depth: u8) -> u32 {
    if depth == 0 { 0 } else { id & (u32::MAX << (32 - 8 * u32::from(depth))) }
}

/// Returns the number of leading bytes that two ids have in common, at most `most`.
fn common(a: u32, b: u32, most: u8) -> u8 {
    ((a ^ b).leading_zeros() as u8 / 8).min(most)
}

impl Tree {
    /// Makes a tree of a sorted list that is not empty.
    pub(super) fn of(list: &Merged, shape: &Shape) -> Tree {
        Tree { root: Arc::new(Node::of(list, 0..list.len(), shape)) }
    }

    /// Returns the ids of the first leaf.
    #[inline]
    pub(super) fn first_run(&self) -> Option<&[VertexId]> {
        let mut node = &self.root;
        loop {
            match node.children.first()? {
                Child::Leaf(leaf) => return Some(&leaf.targets),
                Child::Node(inner) => node = inner,
            }
        }
    }

    /// Returns the weight of one neighbour, if it is there. O(1) nodes and a search in a leaf.
    #[inline]
    pub(super) fn find(&self, target: VertexId) -> Option<f64> {
        let mut node = &self.root;
        loop {
            // If the bytes above differ from the node's prefix, the search for the whole id in a leaf finds
            // nothing.
            let child = node.starts.rank(byte_at(target.0, node.depth)).checked_sub(1)?;
            match &node.children[child] {
                Child::Leaf(leaf) => return find(leaf.whole(), target),
                Child::Node(inner) => node = inner,
            }
        }
    }

    /// Calls `f` with the leaves, ascending, until it breaks.
    #[inline]
    pub(super) fn runs(&self, f: &mut impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>) -> ControlFlow<()> {
        self.root.runs(f)
    }

    /// Applies the changes, which ascend. Afterwards, `scratch` has any content.
    pub(super) fn apply(&mut self, changes: &[Change], shape: &Shape, scratch: &mut Merged) -> Effect {
        if self.root.children.is_empty() {
            scratch.clear();
            let effect = scratch.merge((&[], &[]), changes, shape.weighted);
            if scratch.len() > 0 {
                *self = Tree::of(scratch, shape);
            }
            return effect;
        }
        let effect = Node::apply_to(&mut self.root, changes, shape, scratch);
        if let [Child::Node(inner)] = self.root.children.as_slice() {
            self.root = inner.clone();
        }
        effect
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.root.bytes()
    }
}

impl Node {
    /// Makes a node of a range of a sorted list.
    fn of(list: &Merged, range: Range<usize>, shape: &Shape) -> Node {
        let (first, last) = (list.targets[range.start].0, list.targets[range.end - 1].0);
        let depth = common(first, last, BYTES - 1);
        let mut node =
            Node { depth, prefix: above(first, depth), starts: Starts::default(), children: Vec::new() };
        for (byte, child) in pieces(list, range, depth, shape) {
            node.starts.set(byte, true);
            node.children.push(child);
        }
        node
    }

    fn runs(&self, f: &mut impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>) -> ControlFlow<()> {
        self.children.iter().try_for_each(|child| match child {
            Child::Leaf(leaf) => f(&leaf.targets, leaf.weights()),
            Child::Node(inner) => inner.runs(f),
        })
    }

    /// Applies the changes below `node`. Puts a higher node above it if they have another prefix. Copies the
    /// node if another version shares it.
    fn apply_to(node: &mut Arc<Node>, changes: &[Change], shape: &Shape, scratch: &mut Merged) -> Effect {
        let (Some(first), Some(last)) = (changes.first(), changes.last()) else { return Effect::default() };
        // All ids between two ids have the bytes of the prefix that both ids have.
        let depth = common(node.prefix, first.target.0, node.depth).min(common(
            node.prefix,
            last.target.0,
            node.depth,
        ));
        if depth < node.depth && !is_on(Planted::PrefixNotCompared) {
            let mut starts = Starts::default();
            starts.set(byte_at(node.prefix, depth), true);
            let prefix = above(node.prefix, depth);
            *node = Arc::new(Node { depth, prefix, starts, children: vec![Child::Node(node.clone())] });
        }
        Arc::make_mut(node).apply(changes, shape, scratch)
    }

    /// Applies changes that all have the prefix of this node.
    fn apply(&mut self, mut changes: &[Change], shape: &Shape, scratch: &mut Merged) -> Effect {
        let mut effect = Effect::default();
        while let Some(first) = changes.first() {
            let child = self.child_for(byte_at(first.target.0, self.depth));
            let end = match self.children[child] {
                Child::Leaf(_) => self.starts.nth(child + 1),
                Child::Node(_) => self.starts.nth(child) + 1,
            };
            let here = changes.partition_point(|c| usize::from(byte_at(c.target.0, self.depth)) < end);
            let (mine, rest) = changes.split_at(here);
            effect.add(self.apply_to_child(child, mine, shape, scratch));
            changes = rest;
        }
        effect
    }

    /// Returns the child that a byte leads to. If there is none and the next child is a leaf, that leaf
    /// begins at this byte from now on. Otherwise it inserts a new leaf.
    fn child_for(&mut self, byte: u8) -> usize {
        let rank = self.starts.rank(byte);
        if let Some(before) = rank.checked_sub(1) {
            let leads = match self.children[before] {
                Child::Leaf(_) => true,
                Child::Node(_) => self.starts.nth(before) == usize::from(byte),
            };
            if leads {
                return before;
            }
        }
        match self.children.get(rank) {
            Some(Child::Leaf(_)) => self.starts.set(self.starts.nth(rank) as u8, false),
            _ => self.children.insert(rank, Child::Leaf(Merged::default().leaf(0..0))),
        }
        self.starts.set(byte, true);
        rank
    }

    fn apply_to_child(
        &mut self,
        child: usize,
        changes: &[Change],
        shape: &Shape,
        scratch: &mut Merged,
    ) -> Effect {
        match &mut self.children[child] {
            Child::Leaf(leaf) => {
                scratch.clear();
                let effect = scratch.merge(leaf.whole(), changes, shape.weighted);
                if scratch.len() == 0 {
                    self.remove(child);
                } else if scratch.len() > shape.segment {
                    self.split(child, scratch, shape);
                } else if effect.changed {
                    *leaf = scratch.leaf(0..scratch.len());
                    if effect.entries < 0 {
                        self.join(child, shape, scratch);
                    }
                }
                effect
            }
            Child::Node(inner) => {
                let effect = Node::apply_to(inner, changes, shape, scratch);
                self.collapse(child, shape, scratch);
                effect
            }
        }
    }

    fn remove(&mut self, child: usize) {
        let start = self.starts.nth(child) as u8;
        self.starts.set(start, false);
        self.children.remove(child);
    }

    /// Replaces a leaf by the pieces of `list`, which is too long for a leaf.
    fn split(&mut self, child: usize, list: &Merged, shape: &Shape) {
        let start = self.starts.nth(child) as u8;
        let len = if is_on(Planted::SplitLosesLast) { list.len() - 1 } else { list.len() };
        let mut pieces = pieces(list, 0..len, self.depth, shape);
        // The bytes that led to the leaf lead to its first part. If that part is a node, only its own byte
        // leads to it.
        if let Some((first, Child::Leaf(_))) = pieces.first_mut() {
            *first = start;
        }
        self.starts.set(start, false);
        pieces.iter().for_each(|(byte, _)| self.starts.set(*byte, true));
        self.children.splice(child..=child, pieces.into_iter().map(|(_, child)| child));
    }

    /// Joins a leaf that is less than half full with an adjacent leaf, if both fit into one leaf with room to
    /// spare.
    fn join(&mut self, child: usize, shape: &Shape, scratch: &mut Merged) {
        let len = |i: usize| match self.children.get(i) {
            Some(Child::Leaf(leaf)) => Some(leaf.len()),
            _ => None,
        };
        let most = shape.segment * 3 / 4;
        let fits = |a: usize, b: usize| len(a).zip(len(b)).is_some_and(|(a, b)| a + b <= most);
        if shape.leaf_per_key || len(child).is_none_or(|len| len >= shape.segment / 2) {
            return;
        }
        let first = if fits(child, child + 1) { child } else { child.wrapping_sub(1) };
        if !fits(first, first.wrapping_add(1)) {
            return;
        }
        scratch.clear();
        for child in &self.children[first..first + 2] {
            let Child::Leaf(leaf) = child else { return };
            scratch.extend(leaf.whole());
        }
        self.children[first] = Child::Leaf(scratch.leaf(0..scratch.len()));
        self.remove(first + 1);
    }

    /// Removes a child node that has become empty. Replaces a child node that has only one node below it, or
    /// that has become small enough for half a leaf.
    fn collapse(&mut self, child: usize, shape: &Shape, scratch: &mut Merged) {
        let Child::Node(inner) = &self.children[child] else { return };
        match inner.children.as_slice() {
            [] => self.remove(child),
            [Child::Node(only)] => self.children[child] = Child::Node(only.clone()),
            leaves => {
                let len = |child: &Child| match child {
                    Child::Leaf(leaf) => leaf.len(),
                    Child::Node(_) => shape.segment,
                };
                if leaves.len() <= 4 && leaves.iter().map(len).sum::<usize>() <= shape.segment / 2 {
                    scratch.clear();
                    let _ = inner.runs(&mut |targets, weights| {
                        scratch.extend((targets, weights));
                        ControlFlow::Continue(())
                    });
                    self.children[child] = Child::Leaf(scratch.leaf(0..scratch.len()));
                }
            }
        }
    }

    fn bytes(&self) -> usize {
        let counts = 16;
        let below = self.children.iter().map(|child| match child {
            Child::Leaf(leaf) => leaf.bytes(),
            Child::Node(inner) => inner.bytes(),
        });
        counts + size_of::<Node>() + self.children.capacity() * size_of::<Child>() + below.sum::<usize>()
    }
}

/// Returns the children for a range of a sorted list whose bytes above `depth` are the same, each with its
/// first byte. Leaves end between two bytes. A byte with more ids than a leaf holds gets a node.
fn pieces(list: &Merged, range: Range<usize>, depth: u8, shape: &Shape) -> Vec<(u8, Child)> {
    let wanted = cut(range.len(), shape.segment);
    let mut pieces = Vec::new();
    let mut leaf = range.start..range.start;
    let first_byte = |range: &Range<usize>| byte_at(list.targets[range.start].0, depth);
    let close = |leaf: &mut Range<usize>, pieces: &mut Vec<(u8, Child)>, next: usize| {
        if leaf.start < leaf.end {
            pieces.push((first_byte(leaf), Child::Leaf(list.leaf(leaf.clone()))));
        }
        *leaf = next..next;
    };
    let mut at = range.start;
    while at < range.end {
        let byte = byte_at(list.targets[at].0, depth);
        let count = list.targets[at..range.end].partition_point(|t| byte_at(t.0, depth) == byte);
        let key = at..at + count;
        if count > shape.segment {
            close(&mut leaf, &mut pieces, key.end);
            pieces.push((byte, Child::Node(Arc::new(Node::of(list, key.clone(), shape)))));
        } else {
            let is_full = leaf.len() + count > shape.segment || leaf.len() >= wanted;
            if is_full || shape.leaf_per_key {
                close(&mut leaf, &mut pieces, key.start);
            }
            leaf.end = key.end;
        }
        at = key.end;
    }
    close(&mut leaf, &mut pieces, range.end);
    pieces
}
