//! A purely functional tree that is balanced by weight, like the tree of PAM. Nodes are counted references,
//! and never change while two trees share them.
//!
//! All changes go down through `Arc::make_mut`. A node that another tree shares is copied; a node of this
//! tree alone changes in place. So a writer that begins with a copy of the root copies paths, and copies each
//! node once in a transaction.
//!
//! Balance: neither of two siblings has more than [`DELTA`] times the weight of the other. The weight is the
//! number of nodes plus one. A rotation is double if the inner grandchild has at least [`RATIO`] times the
//! weight of the outer one. All other operations use [`join`] (Blelloch, Ferizovic and Sun, "Just join for
//! parallel ordered sets").

use std::fmt::Debug;
use std::mem;
use std::sync::Arc;

const DELTA: usize = 3;
const RATIO: usize = 2;

/// The value of a node.
pub(super) trait Value: Clone + Debug + Send + Sync {
    /// The type of the sum over a subtree.
    type Total: Copy + Debug + Default + PartialEq + Send + Sync;

    /// Returns the sum over a node and both its subtrees.
    fn total(&self, left: Self::Total, right: Self::Total) -> Self::Total;
}

/// A tree, or a part of one.
pub(super) type Link<V> = Option<Arc<Node<V>>>;

#[derive(Clone, Debug)]
pub(super) struct Node<V: Value> {
    pub(super) left: Link<V>,
    pub(super) right: Link<V>,
    pub(super) key: u32,
    /// The number of nodes in the subtree.
    size: u32,
    total: V::Total,
    pub(super) value: V,
}

impl<V: Value> Node<V> {
    /// Returns a node without children.
    pub(super) fn alone(key: u32, value: V) -> Arc<Node<V>> {
        let total = value.total(V::Total::default(), V::Total::default());
        Arc::new(Node { left: None, right: None, key, size: 1, total, value })
    }

    /// Recomputes the size and the total after a change of children or value. Returns true if the children
    /// are in balance.
    pub(super) fn update(&mut self) -> bool {
        let (left, right) = (size(&self.left), size(&self.right));
        self.size = (left + right + 1) as u32;
        self.total = self.value.total(total(&self.left), total(&self.right));
        !is_heavier(left, right) && !is_heavier(right, left)
    }
}

#[inline]
pub(super) fn size<V: Value>(link: &Link<V>) -> usize {
    link.as_ref().map_or(0, |node| node.size as usize)
}

#[inline]
pub(super) fn total<V: Value>(link: &Link<V>) -> V::Total {
    link.as_ref().map_or(V::Total::default(), |node| node.total)
}

/// True if a tree of `a` nodes is too heavy for a sibling of `b` nodes.
fn is_heavier(a: usize, b: usize) -> bool {
    a + 1 > DELTA * (b + 1)
}

pub(super) fn find<V: Value>(mut link: &Link<V>, key: u32) -> Option<&V> {
    while let Some(node) = link {
        link = match key.cmp(&node.key) {
            std::cmp::Ordering::Less => &node.left,
            std::cmp::Ordering::Equal => return Some(&node.value),
            std::cmp::Ordering::Greater => &node.right,
        };
    }
    None
}

pub(super) fn last_key<V: Value>(link: &Link<V>) -> Option<u32> {
    let mut node = link.as_ref()?;
    while let Some(right) = &node.right {
        node = right;
    }
    Some(node.key)
}

/// Calls `f` with the keys from `first` to `last`, ascending.
pub(super) fn range<'a, V: Value>(link: &'a Link<V>, first: u32, last: u32, f: &mut impl FnMut(u32, &'a V)) {
    let Some(node) = link else { return };
    if first < node.key {
        range(&node.left, first, last, f);
    }
    if (first..=last).contains(&node.key) {
        f(node.key, &node.value);
    }
    if node.key < last {
        range(&node.right, first, last, f);
    }
}

/// Returns the tree of all keys of `left`, the node `middle`, and all keys of `right`. `middle` loses its old
/// children.
pub(super) fn join<V: Value>(left: Link<V>, mut middle: Arc<Node<V>>, right: Link<V>) -> Arc<Node<V>> {
    let sizes = (size(&left), size(&right));
    match (left, right) {
        (Some(mut top), right) if is_heavier(sizes.0, sizes.1) => {
            let node = Arc::make_mut(&mut top);
            node.right = Some(join(node.right.take(), middle, right));
            turn_left(top)
        }
        (left, Some(mut top)) if is_heavier(sizes.1, sizes.0) => {
            let node = Arc::make_mut(&mut top);
            node.left = Some(join(left, middle, node.left.take()));
            turn_right(top)
        }
        (left, right) => {
            let node = Arc::make_mut(&mut middle);
            (node.left, node.right) = (left, right);
            node.update();
            middle
        }
    }
}

/// Rotates to the left if the right child has become too heavy.
fn turn_left<V: Value>(mut top: Arc<Node<V>>) -> Arc<Node<V>> {
    let node = Arc::make_mut(&mut top);
    if node.update() {
        return top;
    }
    let Some(mut right) = node.right.take() else { return top };
    if size(&right.left) + 1 >= RATIO * (size(&right.right) + 1) {
        right = lift_left(right);
    }
    let above = Arc::make_mut(&mut right);
    node.right = above.left.take();
    node.update();
    above.left = Some(top);
    above.update();
    right
}

/// Rotates to the right if the left child has become too heavy.
fn turn_right<V: Value>(mut top: Arc<Node<V>>) -> Arc<Node<V>> {
    let node = Arc::make_mut(&mut top);
    if node.update() {
        return top;
    }
    let Some(mut left) = node.left.take() else { return top };
    if size(&left.right) + 1 >= RATIO * (size(&left.left) + 1) {
        left = lift_right(left);
    }
    let above = Arc::make_mut(&mut left);
    node.left = above.right.take();
    node.update();
    above.right = Some(top);
    above.update();
    left
}

/// Puts the left child in the place of its parent.
fn lift_left<V: Value>(mut top: Arc<Node<V>>) -> Arc<Node<V>> {
    let node = Arc::make_mut(&mut top);
    let Some(mut left) = node.left.take() else { return top };
    let above = Arc::make_mut(&mut left);
    node.left = above.right.take();
    node.update();
    above.right = Some(top);
    above.update();
    left
}

/// Puts the right child in the place of its parent.
fn lift_right<V: Value>(mut top: Arc<Node<V>>) -> Arc<Node<V>> {
    let node = Arc::make_mut(&mut top);
    let Some(mut right) = node.right.take() else { return top };
    let above = Arc::make_mut(&mut right);
    node.right = above.left.take();
    node.update();
    above.left = Some(top);
    above.update();
    right
}

/// Balances a tree whose subtrees are in balance, but whose root may be out of balance.
pub(super) fn rebalance<V: Value>(link: &mut Link<V>) {
    let Some(mut middle) = link.take() else { return };
    let node = Arc::make_mut(&mut middle);
    let (left, right) = (node.left.take(), node.right.take());
    *link = Some(join(left, middle, right));
}

/// Returns the tree of all keys of `left` and all keys of `right`, which are greater.
pub(super) fn join_two<V: Value>(left: Link<V>, right: Link<V>) -> Link<V> {
    let Some(left) = left else { return right };
    let (rest, last) = split_last(left);
    Some(join(rest, last, right))
}

fn split_last<V: Value>(mut top: Arc<Node<V>>) -> (Link<V>, Arc<Node<V>>) {
    let node = Arc::make_mut(&mut top);
    match node.right.take() {
        None => (node.left.take(), top),
        Some(right) => {
            let (rest, last) = split_last(right);
            let left = node.left.take();
            (Some(join(left, top, rest)), last)
        }
    }
}

/// Removes a key. Returns its value, if it was there.
pub(super) fn remove<V: Value>(link: &mut Link<V>, key: u32) -> Option<V> {
    let node = Arc::make_mut(link.as_mut()?);
    let removed = match key.cmp(&node.key) {
        std::cmp::Ordering::Less => remove(&mut node.left, key),
        std::cmp::Ordering::Greater => remove(&mut node.right, key),
        std::cmp::Ordering::Equal => {
            let (left, right) = (node.left.take(), node.right.take());
            let node = mem::replace(link, join_two(left, right));
            return node.map(|node| Arc::unwrap_or_clone(node).value);
        }
    };
    if !node.update() {
        rebalance(link);
    }
    removed
}

/// Returns the tree of the `count` nodes that `next` returns; their keys ascend.
pub(super) fn build<V: Value>(count: usize, next: &mut impl FnMut() -> Arc<Node<V>>) -> Link<V> {
    if count == 0 {
        return None;
    }
    let left = build(count / 2, next);
    let middle = next();
    let right = build(count - count / 2 - 1, next);
    Some(join(left, middle, right))
}

/// Returns the bytes of the nodes of a tree, plus the bytes of each value according to `f`.
pub(super) fn bytes<V: Value>(link: &Link<V>, f: &impl Fn(&V) -> usize) -> usize {
    let counts = 16;
    link.as_ref().map_or(0, |node| {
        counts + size_of::<Node<V>>() + f(&node.value) + bytes(&node.left, f) + bytes(&node.right, f)
    })
}

/// Checks the sizes, the totals, the order of keys and the balance of all nodes.
#[cfg(test)]
pub(super) fn check<V: Value>(link: &Link<V>) {
    let Some(node) = link else { return };
    let (left, right) = (size(&node.left), size(&node.right));
    assert_eq!(node.size as usize, left + right + 1);
    assert_eq!(node.total, node.value.total(total(&node.left), total(&node.right)));
    assert!(!is_heavier(left, right) && !is_heavier(right, left), "{left} nodes beside {right}");
    assert!(last_key(&node.left).is_none_or(|last| last < node.key));
    range(&node.right, 0, node.key, &mut |key, _| panic!("{key} is to the right of {}", node.key));
    check(&node.left);
    check(&node.right);
}
