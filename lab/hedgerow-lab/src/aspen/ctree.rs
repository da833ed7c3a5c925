//! C-trees (Aspen, section 3): the list of a vertex as a tree of heads. Each head has a chunk with the ids
//! between it and the next head.
//!
//! A hash chooses the heads, so an id is a head in every list or in none. So two lists in a union have cuts
//! at the same ids wherever they have the same ids. The ids before the first head are the prefix. The ids in
//! the subtree of a head that are greater than the head are a C-tree again. The head's chunk is the prefix of
//! this C-tree, and the head's right child is its tree. All operations recurse over that view.

use std::cmp::Ordering;
use std::mem;
use std::ops::ControlFlow;
use std::sync::Arc;

use hedgerow_core::{VertexId, simd};

use super::chunk::{Chunk, Run};
use super::parallel;
use super::shape::{Coding, Shape};
use super::tree::{self, Link, Node, Value};
use crate::change::{Change, Effect};
use crate::merged::Merged;
use crate::planted::{Planted, is_on};

#[cfg(test)]
mod tests;

/// The value of a head: the ids up to the next head, and the weight of the edge to the head itself.
#[derive(Clone, Debug)]
pub(super) struct Head {
    pub(super) tail: Chunk,
    weight: f64,
}

impl Value for Head {
    /// The number of ids, heads included.
    type Total = u32;

    #[inline]
    fn total(&self, left: u32, right: u32) -> u32 {
        left + self.tail.len + 1 + right
    }
}

/// A list of ids and weights. A copy shares all nodes and chunks.
#[derive(Clone, Debug, Default)]
pub(super) struct CTree {
    prefix: Chunk,
    heads: Link<Head>,
}

impl CTree {
    /// Returns the C-tree of ascending ids; a weighted graph has one weight for each id.
    pub(super) fn of(list: &Merged, shape: &Shape) -> CTree {
        let (targets, weights) = list.whole();
        let part = |from: usize, to: usize| (&targets[from..to], weights.get(from..to).unwrap_or(&[]));
        let is_head = |&at: &usize| shape.is_head(targets[at].0);
        let places: Vec<usize> = (0..targets.len()).filter(is_head).collect();
        let first = places.first().copied().unwrap_or(targets.len());
        if !places.is_empty() && is_on(Planted::TailBeforeItsHead) {
            let heads =
                places.iter().map(|&at| Node::alone(targets[at].0, head(Chunk::default(), weights, at)));
            let others =
                (0..targets.len()).filter(|at| !is_head(at)).map(|at| targets[at]).collect::<Vec<_>>();
            let mut heads = heads.collect::<Vec<_>>().into_iter();
            let prefix = Chunk::of((&others, weights.get(..others.len()).unwrap_or(&[])), shape.coding);
            return CTree { prefix, heads: tree::build(places.len(), &mut || heads.next().expect("a head")) };
        }
        let mut next = 0;
        let heads = tree::build(places.len(), &mut || {
            let at = places[next];
            next += 1;
            let end = places.get(next).copied().unwrap_or(targets.len());
            Node::alone(targets[at].0, head(Chunk::of(part(at + 1, end), shape.coding), weights, at))
        });
        CTree { prefix: Chunk::of(part(0, first), shape.coding), heads }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.prefix.len as usize + tree::total(&self.heads) as usize
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the weight of one id, if it is there. O(log len + b).
    pub(super) fn find(&self, target: VertexId, coding: Coding) -> Option<f64> {
        let (mut chunk, mut link) = (&self.prefix, &self.heads);
        while let Some(node) = link {
            match target.0.cmp(&node.key) {
                Ordering::Less => link = &node.left,
                Ordering::Equal => return Some(node.value.weight),
                Ordering::Greater => (chunk, link) = (&node.value.tail, &node.right),
            }
        }
        chunk.find(target, coding)
    }

    /// Calls `f` with the list in one or more runs, until `f` breaks; with the weights if they are `WANTED`.
    #[inline]
    pub(super) fn runs<const WANTED: bool>(
        &self,
        coding: Coding,
        run: &mut Run,
        f: &mut impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match &self.heads {
            None if self.prefix.is_empty() => f(&[], &[]),
            None => self.prefix.runs::<WANTED>(None, coding, run, f),
            heads => {
                self.prefix.runs::<WANTED>(None, coding, run, f)?;
                runs::<WANTED>(heads, coding, run, f)
            }
        }
    }

    /// Returns the ids.
    pub(super) fn targets(&self, coding: Coding) -> Vec<VertexId> {
        let mut list = Merged::default();
        self.prefix.append_to(&mut list, coding);
        tree::range(&self.heads, 0, u32::MAX, &mut |key, head| {
            list.extend((&[VertexId(key)], &[]));
            head.tail.append_to(&mut list, coding);
        });
        list.targets
    }

    /// Applies the changes, which ascend. Many changes first become two C-trees: one of the removed ids, and
    /// one of the added ids. In that case it always reports a change, because it does not check whether the
    /// list changed.
    pub(super) fn change(&mut self, changes: &[Change], shape: &Shape, is_parallel: bool) -> Effect {
        if changes.len() < shape.united {
            return change(&mut self.prefix, &mut self.heads, changes, shape);
        }
        let before = self.len();
        let (mut gone, mut new) = (Merged::default(), Merged::default());
        for change in changes {
            match change.weight {
                None => gone.targets.push(change.target),
                Some(weight) => {
                    new.targets.push(change.target);
                    new.weights.extend(shape.coding.weighted.then_some(weight));
                }
            }
        }
        if shape.coding.weighted {
            gone.weights.resize(gone.len(), 1.0);
        }
        let rest = difference(mem::take(self), CTree::of(&gone, shape), shape, is_parallel);
        *self = union(rest, CTree::of(&new, shape), shape, is_parallel);
        Effect { entries: self.len() as i64 - before as i64, changed: true }
    }

    /// Splits the list. Returns the ids less than `key`, the weight of `key` if it is there, and the greater
    /// ids.
    fn split(self, key: u32, coding: Coding) -> (CTree, Option<f64>, CTree) {
        let CTree { prefix, heads } = self;
        let Some(mut top) = heads else {
            let (left, found, right) = prefix.split(VertexId(key), coding);
            return (CTree { prefix: left, heads: None }, found, CTree { prefix: right, heads: None });
        };
        let node = Arc::make_mut(&mut top);
        let left = CTree { prefix, heads: node.left.take() };
        let right = CTree { prefix: mem::take(&mut node.value.tail), heads: node.right.take() };
        match key.cmp(&node.key) {
            Ordering::Equal => (left, Some(node.value.weight), right),
            Ordering::Less => {
                node.value.tail = right.prefix;
                let (left, found, middle) = left.split(key, coding);
                let heads = Some(tree::join(middle.heads, top, right.heads));
                (left, found, CTree { prefix: middle.prefix, heads })
            }
            Ordering::Greater => {
                let (middle, found, right) = right.split(key, coding);
                node.value.tail = middle.prefix;
                let heads = Some(tree::join(left.heads, top, middle.heads));
                (CTree { prefix: left.prefix, heads }, found, right)
            }
        }
    }

    /// Prefetches the data that a read needs first.
    #[inline]
    pub(super) fn prefetch(&self) {
        self.prefix.prefetch();
        if let Some(node) = &self.heads {
            simd::prefetch(Arc::as_ptr(node));
        }
    }

    /// Returns the number of bytes on the heap.
    pub(super) fn bytes(&self) -> usize {
        self.prefix.bytes() + tree::bytes(&self.heads, &|head| head.tail.bytes())
    }
}

fn head(tail: Chunk, weights: &[f64], at: usize) -> Head {
    Head { tail, weight: weights.get(at).copied().unwrap_or(1.0) }
}

fn runs<const WANTED: bool>(
    link: &Link<Head>,
    coding: Coding,
    run: &mut Run,
    f: &mut impl FnMut(&[VertexId], &[f64]) -> ControlFlow<()>,
) -> ControlFlow<()> {
    let Some(node) = link else { return ControlFlow::Continue(()) };
    runs::<WANTED>(&node.left, coding, run, f)?;
    if let Some(right) = &node.right {
        simd::prefetch(Arc::as_ptr(right));
    }
    node.value.tail.runs::<WANTED>(Some((node.key, node.value.weight)), coding, run, f)?;
    runs::<WANTED>(&node.right, coding, run, f)
}

/// Applies the changes to a C-tree. Each id belongs to the chunk before the position that the id would have
/// as a head.
fn change(prefix: &mut Chunk, heads: &mut Link<Head>, changes: &[Change], shape: &Shape) -> Effect {
    if changes.is_empty() {
        return Effect::default();
    }
    let Some(top) = heads else {
        let adds_head =
            changes.iter().any(|change| change.weight.is_some() && shape.is_head(change.target.0));
        return prefix.change(changes, adds_head, shape.coding, |list| {
            let made = CTree::of(list, shape);
            *heads = made.heads;
            made.prefix
        });
    };
    let node = Arc::make_mut(top);
    let key = VertexId(node.key);
    let (left, rest) = changes.split_at(changes.partition_point(|change| change.target < key));
    let (here, right) = rest.split_at(rest.partition_point(|change| change.target == key));
    let mut effect = change(prefix, &mut node.left, left, shape);
    effect.add(change(&mut node.value.tail, &mut node.right, right, shape));
    match here.first().map(|change| change.weight) {
        Some(None) => {
            effect.add(Effect { entries: -1, changed: true });
            let (mut left, right) = (node.left.take(), node.right.take());
            let tail = mem::take(&mut node.value.tail);
            if !is_on(Planted::TailLostWithItsHead) {
                append(prefix, &mut left, &tail, shape.coding);
            }
            *heads = tree::join_two(left, right);
        }
        given => {
            if let Some(Some(weight)) = given
                && shape.coding.weighted
            {
                effect.changed |= mem::replace(&mut node.value.weight, weight) != weight;
            }
            if !node.update() {
                tree::rebalance(heads);
            }
        }
    }
    effect
}

/// Appends ids to a C-tree. They are greater than all its ids, and none of them is a head.
fn append(prefix: &mut Chunk, heads: &mut Link<Head>, tail: &Chunk, coding: Coding) {
    match heads {
        _ if tail.is_empty() => {}
        None => prefix.append(tail, coding),
        Some(top) => {
            let node = Arc::make_mut(top);
            append(&mut node.value.tail, &mut node.right, tail, coding);
            node.update();
        }
    }
}

/// Returns the ids of both lists. An id that is in both has the weight from `new`.
fn union(old: CTree, new: CTree, shape: &Shape, is_parallel: bool) -> CTree {
    if old.is_empty() {
        return new;
    }
    let work = new.len();
    let Some(mut top) = new.heads else { return changed(old, &new.prefix, true, shape) };
    let node = Arc::make_mut(&mut top);
    let left = CTree { prefix: new.prefix, heads: node.left.take() };
    let right = CTree { prefix: mem::take(&mut node.value.tail), heads: node.right.take() };
    let (old_left, found, old_right) = old.split(node.key, shape.coding);
    if let Some(weight) = found
        && is_on(Planted::UnionKeepsOldWeight)
    {
        node.value.weight = weight;
    }
    let (left, right) = parallel::both(
        is_parallel && work >= parallel::LEAST_IDS,
        || union(old_left, left, shape, is_parallel),
        || union(old_right, right, shape, is_parallel),
    );
    node.value.tail = right.prefix;
    CTree { prefix: left.prefix, heads: Some(tree::join(left.heads, top, right.heads)) }
}

/// Returns the ids of `old` that are not in `gone`.
fn difference(old: CTree, gone: CTree, shape: &Shape, is_parallel: bool) -> CTree {
    if old.is_empty() || gone.is_empty() {
        return old;
    }
    let work = gone.len();
    let Some(mut top) = gone.heads else { return changed(old, &gone.prefix, false, shape) };
    let node = Arc::make_mut(&mut top);
    let left = CTree { prefix: gone.prefix, heads: node.left.take() };
    let right = CTree { prefix: mem::take(&mut node.value.tail), heads: node.right.take() };
    let (old_left, _, old_right) = old.split(node.key, shape.coding);
    let (mut left, right) = parallel::both(
        is_parallel && work >= parallel::LEAST_IDS,
        || difference(old_left, left, shape, is_parallel),
        || difference(old_right, right, shape, is_parallel),
    );
    append(&mut left.prefix, &mut left.heads, &right.prefix, shape.coding);
    CTree { prefix: left.prefix, heads: tree::join_two(left.heads, right.heads) }
}

/// Returns the list after the ids of a chunk are added or removed.
fn changed(mut list: CTree, chunk: &Chunk, add: bool, shape: &Shape) -> CTree {
    let mut ids = Merged::default();
    chunk.append_to(&mut ids, shape.coding);
    let weight = |at: usize| add.then(|| ids.weights.get(at).copied().unwrap_or(1.0));
    let changes = (0..ids.len()).map(|at| Change { target: ids.targets[at], weight: weight(at) });
    let changes: Vec<Change> = changes.collect();
    change(&mut list.prefix, &mut list.heads, &changes, shape);
    list
}
