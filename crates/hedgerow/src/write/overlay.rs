//! What a transaction sees of its own writes.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Ask, TxnKey, TxnOp};

/// The state that the operations of a transaction leave, laid over its snapshot.
///
/// Built at the first read after a write, so that transactions which only write do not pay for it.
#[derive(Default)]
pub(crate) struct Overlay {
    applied: usize,
    directed: bool,
    edges: HashMap<(TxnKey, TxnKey), Option<f64>>,
    out: HashMap<TxnKey, BTreeSet<TxnKey>>,
    into: HashMap<TxnKey, BTreeSet<TxnKey>>,
    vertices: HashMap<TxnKey, bool>,
    /// Vertices removed at some point: what the snapshot says about their edges no longer holds.
    wiped: HashSet<TxnKey>,
}

impl Overlay {
    pub(crate) fn new(directed: bool) -> Overlay {
        Overlay { directed, ..Overlay::default() }
    }

    /// Takes in the operations that are new since the last call. `create` says whether edges create endpoints.
    pub(crate) fn catch_up(&mut self, ops: &[TxnOp], create: bool) {
        for op in &ops[self.applied..] {
            self.apply(op, create);
        }
        self.applied = ops.len();
    }

    fn item(&self, src: TxnKey, dst: TxnKey) -> (TxnKey, TxnKey) {
        if self.directed { (src, dst) } else { (src.min(dst), src.max(dst)) }
    }

    fn apply(&mut self, op: &TxnOp, create: bool) {
        match op.ask {
            Ask::InsertVertex => {
                self.vertices.insert(op.src, true);
            }
            Ask::RemoveVertex => self.remove_vertex(op.src),
            Ask::Put | Ask::Insert => {
                if create {
                    self.vertices.insert(op.src, true);
                    self.vertices.insert(op.dst, true);
                }
                self.set(op.src, op.dst, Some(op.weight));
            }
            Ask::Remove => self.set(op.src, op.dst, None),
        }
    }

    fn set(&mut self, src: TxnKey, dst: TxnKey, state: Option<f64>) {
        let item = self.item(src, dst);
        self.edges.insert(item, state);
        self.out.entry(item.0).or_default().insert(item.1);
        self.into.entry(item.1).or_default().insert(item.0);
    }

    fn remove_vertex(&mut self, key: TxnKey) {
        self.vertices.insert(key, false);
        self.wiped.insert(key);
        let out: Vec<_> = self.out.get(&key).into_iter().flatten().map(|&d| (key, d)).collect();
        let into: Vec<_> = self.into.get(&key).into_iter().flatten().map(|&s| (s, key)).collect();
        for item in out.into_iter().chain(into) {
            self.edges.insert(item, None);
        }
    }

    /// Whether the transaction inserted or removed the vertex; `None` if it did neither.
    pub(crate) fn vertex(&self, key: TxnKey) -> Option<bool> {
        self.vertices.get(&key).copied()
    }

    /// What the transaction says about the edge: `Some(None)` for removed, `None` for nothing.
    pub(crate) fn edge(&self, src: TxnKey, dst: TxnKey) -> Option<Option<f64>> {
        match self.edges.get(&self.item(src, dst)) {
            Some(state) => Some(*state),
            None => (self.hides(src) || self.hides(dst)).then_some(None),
        }
    }

    /// Whether what the snapshot says about edges of the vertex no longer holds.
    pub(crate) fn hides(&self, key: TxnKey) -> bool {
        self.wiped.contains(&key)
    }

    /// The other endpoints of edges of `key` that the transaction wrote, with their state. `outgoing` chooses the
    /// direction in a directed graph; an undirected one gives all.
    pub(crate) fn written(&self, key: TxnKey, outgoing: bool) -> Vec<(TxnKey, Option<f64>)> {
        let mut found = Vec::new();
        if outgoing || !self.directed {
            let others = self.out.get(&key).into_iter().flatten();
            found.extend(others.map(|&d| (d, self.edges[&(key, d)])));
        }
        if !outgoing || !self.directed {
            let others = self.into.get(&key).into_iter().flatten();
            let others = others.filter(|&&s| self.directed || s != key);
            found.extend(others.map(|&s| (s, self.edges[&(s, key)])));
        }
        found
    }
}
