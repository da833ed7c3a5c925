//! What a transaction sees of its own writes.

use std::collections::{BTreeSet, HashMap, HashSet};

use hedgerow_core::{LabelId, PropertyId, Row, Value};

use super::{Ask, RichTable, TxnKey, TxnOp};

/// An edge: label, endpoints, rank.
type Item = (LabelId, TxnKey, TxnKey, u64);

/// Other endpoints and ranks of the edges of a label at a vertex.
type Others = HashMap<(LabelId, TxnKey), BTreeSet<(TxnKey, u64)>>;

/// What a transaction's writes make of an edge.
#[derive(Clone, Debug)]
pub(crate) enum State {
    /// Weight and properties, whatever it was before; `None` for removed.
    Is(Option<(f64, Option<Row>)>),
    /// What the snapshot says, with properties laid over it.
    Patched(Vec<(PropertyId, Value)>),
}

/// The state that the operations of a transaction leave, laid over its snapshot.
///
/// Built at the first read after a write, so that transactions which only write do not pay for it.
#[derive(Default)]
pub(crate) struct Overlay {
    applied: usize,
    directed: bool,
    edges: HashMap<Item, State>,
    out: Others,
    into: Others,
    vertices: HashMap<TxnKey, bool>,
    /// Labels written to: what a removed vertex may have edges of.
    labels: BTreeSet<LabelId>,
    /// Vertices removed at some point: what the snapshot says about their edges no longer holds.
    wiped: HashSet<TxnKey>,
}

impl Overlay {
    pub(crate) fn new(directed: bool) -> Overlay {
        Overlay { directed, ..Overlay::default() }
    }

    /// Takes in the operations that are new since the last call. `create` says whether edges create endpoints.
    pub(crate) fn catch_up(&mut self, ops: &[TxnOp], rich: RichTable<'_>, create: bool) {
        for op in &ops[self.applied..] {
            self.apply(op, rich, create);
        }
        self.applied = ops.len();
    }

    fn item_key(&self, label: LabelId, src: TxnKey, dst: TxnKey, rank: u64) -> Item {
        if self.directed { (label, src, dst, rank) } else { (label, src.min(dst), src.max(dst), rank) }
    }

    fn apply(&mut self, op: &TxnOp, rich: RichTable<'_>, create: bool) {
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
                self.set(op, rich, State::Is(Some((op.weight, rich.row(op.rich)))));
            }
            Ask::Remove => self.set(op, rich, State::Is(None)),
            Ask::Update | Ask::Merge => {
                let state = self.patched(op, rich);
                self.set(op, rich, state);
            }
        }
    }

    /// The state of the edge of `op` with the operation's properties laid over it.
    fn patched(&self, op: &TxnOp, rich: RichTable<'_>) -> State {
        let cells = rich.cells(op.rich);
        match self.item(op.label, op.src, op.dst, rich.rank(op.rich)) {
            Some(State::Is(Some((weight, row)))) => {
                State::Is(Some((weight, Row::merged(row.as_ref(), cells))))
            }
            Some(State::Is(None)) if op.ask == Ask::Merge => State::Is(Some((1.0, Row::merged(None, cells)))),
            Some(State::Is(None)) => State::Is(None),
            Some(State::Patched(mut patch)) => {
                patch.extend_from_slice(cells);
                State::Patched(patch)
            }
            None => State::Patched(cells.to_vec()),
        }
    }

    fn set(&mut self, op: &TxnOp, rich: RichTable<'_>, state: State) {
        let item = self.item_key(op.label, op.src, op.dst, rich.rank(op.rich));
        let (label, src, dst, rank) = item;
        self.edges.insert(item, state);
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
            let items: Vec<Item> = out
                .map(|&(dst, rank)| (label, key, dst, rank))
                .chain(into.map(|&(src, rank)| (label, src, key, rank)))
                .collect();
            for item in items {
                self.edges.insert(item, State::Is(None));
            }
        }
    }

    /// Whether the transaction inserted or removed the vertex; `None` if it did neither.
    pub(crate) fn vertex(&self, key: TxnKey) -> Option<bool> {
        self.vertices.get(&key).copied()
    }

    /// What the transaction says about an edge; `None` for nothing.
    pub(crate) fn item(&self, label: LabelId, src: TxnKey, dst: TxnKey, rank: u64) -> Option<State> {
        match self.edges.get(&self.item_key(label, src, dst, rank)) {
            Some(state) => Some(state.clone()),
            None => (self.hides(src) || self.hides(dst)).then_some(State::Is(None)),
        }
    }

    /// What the transaction says about a plain edge of the default label: `Some(None)` for removed, `None` for nothing.
    pub(crate) fn edge(&self, src: TxnKey, dst: TxnKey) -> Option<Option<f64>> {
        match self.item(LabelId::DEFAULT, src, dst, 0)? {
            State::Is(state) => Some(state.map(|(weight, _)| weight)),
            // Properties leave the weight as it was.
            State::Patched(_) => None,
        }
    }

    /// Whether what the snapshot says about edges of the vertex no longer holds.
    pub(crate) fn hides(&self, key: TxnKey) -> bool {
        self.wiped.contains(&key)
    }

    /// The edges of a label at `key` that the transaction wrote: other endpoint, rank, and weight unless removed; those
    /// it only gave properties are left out. `outgoing` chooses the direction in a directed graph; an undirected one
    /// gives all.
    fn written_states(&self, label: LabelId, key: TxnKey, outgoing: bool) -> Vec<(TxnKey, u64, Option<f64>)> {
        let mut found = Vec::new();
        let mut add = |other, item: Item| {
            if let Some(State::Is(state)) = self.edges.get(&item) {
                found.push((other, item.3, state.as_ref().map(|(weight, _)| *weight)));
            }
        };
        if outgoing || !self.directed {
            let others = self.out.get(&(label, key)).into_iter().flatten();
            others.for_each(|&(dst, rank)| add(dst, (label, key, dst, rank)));
        }
        if !outgoing || !self.directed {
            let others = self.into.get(&(label, key)).into_iter().flatten();
            let others = others.filter(|(src, _)| self.directed || *src != key);
            others.for_each(|&(src, rank)| add(src, (label, src, key, rank)));
        }
        found
    }

    /// The other endpoints of plain edges of `key` that the transaction wrote, with their state.
    pub(crate) fn written(&self, key: TxnKey, outgoing: bool) -> Vec<(TxnKey, Option<f64>)> {
        let found = self.written_states(LabelId::DEFAULT, key, outgoing).into_iter();
        found.map(|(other, _, weight)| (other, weight)).collect()
    }

    /// The edges of a label at `key` that the transaction wrote: other endpoint, rank, and whether it exists.
    pub(crate) fn written_of(&self, label: LabelId, key: TxnKey, outgoing: bool) -> Vec<(TxnKey, u64, bool)> {
        let found = self.written_states(label, key, outgoing).into_iter();
        found.map(|(other, rank, weight)| (other, rank, weight.is_some())).collect()
    }
}
