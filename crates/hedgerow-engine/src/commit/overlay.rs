//! A transaction's own writes, in the form for its reads.

use std::collections::{BTreeSet, HashMap, HashSet};

use hedgerow_core::{LabelId, PropertyId, Row, Value};

use super::attributes::AttributesTable;
use super::effect::laid_over;
use super::names::TxnKey;
use super::op::{Given, OpKind, TxnOp};
use crate::state::placement::Placement;

/// An edge: label, endpoints, rank.
type EdgeTuple = (LabelId, TxnKey, TxnKey, u64);

/// Other endpoints and ranks of the edges of a label at a vertex.
type Others = HashMap<(LabelId, TxnKey), BTreeSet<(TxnKey, u64)>>;

/// Weight and properties of an edge; `None` if there is no edge.
pub(crate) type Edge = Option<(f64, Option<Row>)>;

/// The state of an edge after a transaction's writes.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// The state of the edge for any snapshot.
    Is(Edge),
    /// A state that depends on the snapshot. If the snapshot has the edge, the values of `patch` replace its
    /// properties; if it has none, the state is `otherwise`.
    Based { patch: Vec<(PropertyId, Value)>, otherwise: Edge },
}

impl State {
    /// The state of an edge that the transaction has not written.
    const UNTOUCHED: State = State::Based { patch: Vec::new(), otherwise: None };

    /// Returns the state after `op`, which has the properties `given`.
    fn after(self, op: &TxnOp, given: Given<'_>) -> State {
        let new = || (op.weight, given.row.to_row());
        let makes = |edge: Edge| op.kind.makes(edge, new, |old| laid_over(old, given.patch));
        match (op.kind, self) {
            (_, State::Is(edge)) => State::Is(makes(edge)),
            (OpKind::Insert, State::Based { patch, otherwise }) => {
                State::Based { patch, otherwise: makes(otherwise) }
            }
            (OpKind::Update | OpKind::Merge, State::Based { mut patch, otherwise }) => {
                patch.extend_from_slice(given.patch);
                State::Based { patch, otherwise: makes(otherwise) }
            }
            // The result of these operations does not depend on the snapshot.
            (OpKind::Put | OpKind::Remove | OpKind::InsertVertex | OpKind::RemoveVertex, _) => {
                State::Is(makes(None))
            }
        }
    }

    /// Returns the edge, given that the snapshot has `found`.
    pub(crate) fn over(self, found: Edge) -> Edge {
        match (self, found) {
            (State::Is(edge), _) => edge,
            (State::Based { patch, .. }, Some((weight, row))) if patch.is_empty() => Some((weight, row)),
            (State::Based { patch, .. }, Some((weight, row))) => {
                Some((weight, Row::merged(row.as_ref(), &patch)))
            }
            (State::Based { otherwise, .. }, None) => otherwise,
        }
    }
}

/// The state of the edges of a label between two vertices after a transaction's writes.
#[derive(Clone, Debug)]
pub(crate) enum Between {
    /// One or more edges, for any snapshot.
    Exists,
    /// No edge, for any snapshot.
    Nothing,
    /// The snapshot's edges, except for these ranks.
    AllBut(BTreeSet<u64>),
}

/// The state after the operations of a transaction, relative to its snapshot.
///
/// Built at the first read after a write, so that transactions which only write do not pay for it.
#[derive(Default)]
pub(crate) struct Overlay {
    applied: usize,
    placement: Placement,
    edges: HashMap<EdgeTuple, State>,
    out: Others,
    into: Others,
    vertices: HashMap<TxnKey, bool>,
    /// The labels written to: a removed vertex may have edges of these labels.
    labels: BTreeSet<LabelId>,
    /// The vertices removed at some point: the snapshot's edges of them are hidden.
    wiped: HashSet<TxnKey>,
}

impl Overlay {
    pub(crate) fn new(placement: Placement) -> Overlay {
        Overlay { placement, ..Overlay::default() }
    }

    /// Applies the operations that are new since the last call. `create`: edges create endpoints.
    pub(crate) fn catch_up(&mut self, ops: &[TxnOp], attributes: AttributesTable<'_>, create: bool) {
        for op in &ops[self.applied..] {
            self.apply(op, attributes, create);
        }
        self.applied = ops.len();
    }

    fn item_key(&self, label: LabelId, src: TxnKey, dst: TxnKey, rank: u64) -> EdgeTuple {
        let (src, dst) = self.placement.ends(src, dst);
        (label, src, dst, rank)
    }

    fn apply(&mut self, op: &TxnOp, attributes: AttributesTable<'_>, create: bool) {
        match op.kind {
            OpKind::InsertVertex => {
                self.vertices.insert(op.src, true);
            }
            OpKind::RemoveVertex => self.remove_vertex(op.src),
            OpKind::Put | OpKind::Insert => {
                if create {
                    self.vertices.insert(op.src, true);
                    self.vertices.insert(op.dst, true);
                }
                self.write(op, attributes);
            }
            OpKind::Remove | OpKind::Update | OpKind::Merge => self.write(op, attributes),
        }
    }

    fn write(&mut self, op: &TxnOp, attributes: AttributesTable<'_>) {
        let item = self.item_key(op.label, op.src, op.dst, attributes.rank(op.attributes));
        let (label, src, dst, rank) = item;
        let before = self.item(label, src, dst, rank).unwrap_or(State::UNTOUCHED);
        self.edges.insert(item, before.after(op, attributes.given(op.attributes)));
        self.out.entry((label, src)).or_default().insert((dst, rank));
        self.into.entry((label, dst)).or_default().insert((src, rank));
        self.labels.insert(label);
    }

    fn remove_vertex(&mut self, key: TxnKey) {
        self.vertices.insert(key, false);
        self.wiped.insert(key);
        for &label in &self.labels {
            let out = self.out.get(&(label, key)).into_iter().flatten();
            let into = self.into.get(&(label, key)).into_iter().flatten();
            let items: Vec<EdgeTuple> = out
                .map(|&(dst, rank)| (label, key, dst, rank))
                .chain(into.map(|&(src, rank)| (label, src, key, rank)))
                .collect();
            for item in items {
                self.edges.insert(item, State::Is(None));
            }
        }
    }

    /// Returns true if the transaction's writes created the vertex, false if they removed it, and `None` if
    /// they did neither.
    pub(crate) fn vertex(&self, key: TxnKey) -> Option<bool> {
        self.vertices.get(&key).copied()
    }

    /// Returns the state of an edge after the transaction's writes; `None` if they do not touch it.
    pub(crate) fn item(&self, label: LabelId, src: TxnKey, dst: TxnKey, rank: u64) -> Option<State> {
        match self.edges.get(&self.item_key(label, src, dst, rank)) {
            Some(state) => Some(state.clone()),
            None => (self.hides(src) || self.hides(dst)).then_some(State::Is(None)),
        }
    }

    /// Returns the state of the edges of a label between two vertices, of any rank, after the transaction's
    /// writes.
    pub(crate) fn between(&self, label: LabelId, src: TxnKey, dst: TxnKey) -> Between {
        let (_, src, dst, _) = self.item_key(label, src, dst, 0);
        let others = self.out.get(&(label, src));
        let written = others.into_iter().flat_map(|others| others.range((dst, 0)..=(dst, u64::MAX)));
        let mut gone = BTreeSet::new();
        for &(_, rank) in written {
            match self.edges.get(&(label, src, dst, rank)) {
                Some(State::Is(Some(_)) | State::Based { otherwise: Some(_), .. }) => return Between::Exists,
                Some(State::Is(None)) => _ = gone.insert(rank),
                Some(State::Based { otherwise: None, .. }) | None => {}
            }
        }
        if self.hides(src) || self.hides(dst) { Between::Nothing } else { Between::AllBut(gone) }
    }

    /// Returns the ranks of the edges of a label between two vertices, ascending, if the snapshot has those
    /// in `found`.
    pub(crate) fn ranks(&self, label: LabelId, src: TxnKey, dst: TxnKey, found: Vec<u64>) -> Vec<u64> {
        let (_, src, dst, _) = self.item_key(label, src, dst, 0);
        let mut ranks: BTreeSet<u64> = match self.hides(src) || self.hides(dst) {
            true => BTreeSet::new(),
            false => found.into_iter().collect(),
        };
        let others = self.out.get(&(label, src));
        for &(_, rank) in others.into_iter().flat_map(|others| others.range((dst, 0)..=(dst, u64::MAX))) {
            match self.edges.get(&(label, src, dst, rank)) {
                Some(State::Is(Some(_)) | State::Based { otherwise: Some(_), .. }) => _ = ranks.insert(rank),
                Some(State::Is(None)) => _ = ranks.remove(&rank),
                Some(State::Based { otherwise: None, .. }) | None => {}
            }
        }
        ranks.into_iter().collect()
    }

    /// True if the snapshot's edges of the vertex are hidden.
    pub(crate) fn hides(&self, key: TxnKey) -> bool {
        self.wiped.contains(&key)
    }

    /// Returns the edges of a label at `key` that the transaction wrote: the other endpoint, the rank, and
    /// whether the edge exists afterwards. Leaves out edges whose existence the snapshot alone decides. In a
    /// directed graph `outgoing` chooses the direction; an undirected graph gives all.
    pub(crate) fn written(&self, label: LabelId, key: TxnKey, outgoing: bool) -> Vec<(TxnKey, u64, bool)> {
        let undirected = !self.placement.is_directed();
        let mut found = Vec::new();
        let mut add = |other, item: EdgeTuple| {
            let exists = match self.edges.get(&item) {
                Some(State::Is(edge)) => edge.is_some(),
                Some(State::Based { otherwise: Some(_), .. }) => true,
                Some(State::Based { otherwise: None, .. }) | None => return,
            };
            found.push((other, item.3, exists));
        };
        if outgoing || undirected {
            let others = self.out.get(&(label, key)).into_iter().flatten();
            others.for_each(|&(dst, rank)| add(dst, (label, key, dst, rank)));
        }
        if !outgoing || undirected {
            let others = self.into.get(&(label, key)).into_iter().flatten();
            let others = others.filter(|(src, _)| !undirected || *src != key);
            others.for_each(|&(src, rank)| add(src, (label, src, key, rank)));
        }
        found
    }
}

#[cfg(all(test, not(feature = "model-checking")))]
mod tests;
