//! The graph as a trivial model. A transaction of the model reads one state and is applied to another.

use std::collections::{BTreeMap, BTreeSet};

use hedgerow::{Direction, EdgeKey, Snapshot, Value};

/// The labels of all scripts. Edges of the last label have ranks.
pub(crate) const LABELS: [&str; 3] = ["knows", "likes", "list"];

/// The bound of a script's keys. A store serves many runs, and each run has its own range of keys.
pub(crate) const KEYS: u64 = 32;

/// The bound of the keys of a test with threads.
pub(crate) const MANY_KEYS: u64 = 128;

/// Properties by name, without nulls.
pub(crate) type Props = BTreeMap<String, Value>;

/// An edge: label, source, destination, rank.
pub(crate) type Edge = (&'static str, u64, u64, u64);

/// A graph: the model, or the content of a snapshot of the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) vertices: BTreeMap<u64, Props>,
    pub(crate) edges: BTreeMap<Edge, Props>,
}

/// A unit of conflict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Item {
    /// The existence of a vertex.
    Vertex(u64),
    /// The properties of a vertex.
    Row(u64),
    Edge(Edge),
}

impl Item {
    pub(crate) fn vertices(self) -> [u64; 2] {
        match self {
            Item::Vertex(v) | Item::Row(v) => [v, v],
            Item::Edge((_, src, dst, _)) => [src, dst],
        }
    }
}

/// One write.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    InsertVertex(u64),
    RemoveVertex(u64),
    Set(u64, &'static str, Value),
    Put(Edge),
    Insert(Edge),
    Remove(Edge),
    SetEdge(Edge, &'static str, Value),
}

impl Op {
    pub(crate) fn item(&self) -> Item {
        match self {
            Op::InsertVertex(v) | Op::RemoveVertex(v) => Item::Vertex(*v),
            Op::Set(v, ..) => Item::Row(*v),
            Op::Put(e) | Op::Insert(e) | Op::Remove(e) | Op::SetEdge(e, ..) => Item::Edge(*e),
        }
    }
}

impl State {
    pub(crate) fn apply(&mut self, op: &Op) {
        match op {
            Op::InsertVertex(v) => drop(self.vertices.entry(*v).or_default()),
            Op::RemoveVertex(v) => {
                self.vertices.remove(v);
                self.edges.retain(|&(_, src, dst, _), _| src != *v && dst != *v);
            }
            Op::Set(v, name, value) => {
                self.vertices.get_mut(v).map(|row| row.insert((*name).to_owned(), value.clone()));
            }
            Op::Put(edge) => {
                self.vertices.entry(edge.1).or_default();
                self.vertices.entry(edge.2).or_default();
                self.edges.insert(*edge, Props::new());
            }
            Op::Insert(edge) => {
                self.vertices.entry(edge.1).or_default();
                self.vertices.entry(edge.2).or_default();
                self.edges.entry(*edge).or_default();
            }
            Op::Remove(edge) => drop(self.edges.remove(edge)),
            Op::SetEdge(edge, name, value) => {
                self.edges.get_mut(edge).map(|row| row.insert((*name).to_owned(), value.clone()));
            }
        }
    }

    /// Returns the items in which two states differ.
    pub(crate) fn changed(&self, other: &State) -> BTreeSet<Item> {
        let mut changed = BTreeSet::new();
        for v in self.vertices.keys().chain(other.vertices.keys()) {
            let (before, after) = (self.vertices.get(v), other.vertices.get(v));
            if before.is_some() != after.is_some() {
                changed.insert(Item::Vertex(*v));
            }
            if before.cloned().unwrap_or_default() != after.cloned().unwrap_or_default() {
                changed.insert(Item::Row(*v));
            }
        }
        let edges = self.edges.keys().chain(other.edges.keys());
        changed.extend(edges.filter(|&e| self.edges.get(e) != other.edges.get(e)).map(|&e| Item::Edge(e)));
        changed
    }

    /// Returns the other endpoints and the ranks of the edges of a label at a vertex. Returns `None` if the
    /// vertex does not exist.
    pub(crate) fn list(&self, label: &str, v: u64, direction: Direction) -> Option<Vec<(u64, u64)>> {
        self.vertices.get(&v)?;
        let other = |&(l, src, dst, rank): &Edge| match direction {
            Direction::Out => (l == label && src == v).then_some((dst, rank)),
            Direction::In => (l == label && dst == v).then_some((src, rank)),
        };
        let mut list: Vec<_> = self.edges.keys().filter_map(other).collect();
        list.sort_unstable();
        Some(list)
    }

    /// Returns the content of `count` keys from `offset` in a snapshot, by look-ups of each key. Compares the
    /// lists of both directions, the degrees and the existence of the edges.
    /// [`agrees_with_scans`](Self::agrees_with_scans) compares the result with scans.
    pub(crate) fn of(snapshot: &Snapshot, offset: u64, count: u64) -> State {
        let props =
            |found: hedgerow::Properties| found.into_iter().map(|(n, v)| (n.to_string(), v)).collect();
        let mut state = State::default();
        for v in 0..count {
            let Some(found) = snapshot.vertex_properties(offset + v).unwrap() else { continue };
            state.vertices.insert(v, props(found));
            for label in LABELS {
                let edges = snapshot.edges(offset + v, (label, Direction::Out)).unwrap().unwrap();
                let degree = snapshot.degree(offset + v, (label, Direction::Out)).unwrap();
                assert_eq!(degree, Some(edges.len()), "degree of {v}");
                for edge in edges {
                    let dst = raw(&edge.key, offset);
                    state.edges.insert((label, v, dst, edge.rank), props(edge.properties));
                }
            }
        }
        for (label, v) in LABELS.into_iter().flat_map(|l| state.vertices.keys().map(move |&v| (l, v))) {
            let into = snapshot.edge_list(offset + v, (label, Direction::In)).unwrap().unwrap();
            let into: Vec<_> = into.iter().map(|(key, _, rank)| (raw(key, offset), *rank)).collect();
            assert_eq!(Some(into), state.list(label, v, Direction::In), "the two sides of {label} at {v}");
        }
        for &(label, src, dst, rank) in state.edges.keys() {
            assert!(state.vertices.contains_key(&dst), "an edge without an endpoint");
            let key = EdgeKey::new(label, offset + src, offset + dst).rank(rank);
            assert!(snapshot.contains_edge(key).unwrap());
        }
        state
    }

    /// Compares the look-ups of [`of`](Self::of) with scans of all vertices and of all edges of each label.
    /// O(graph).
    pub(crate) fn agrees_with_scans(&self, snapshot: &Snapshot, offset: u64, count: u64) {
        let mut found: Vec<u64> =
            snapshot.vertices().unwrap().map(|vertex| raw(&vertex.unwrap().1, offset)).collect();
        assert_eq!(found.len() as u64, snapshot.vertex_count());
        found.retain(|&v| v < count);
        found.sort_unstable();
        assert!(
            found.iter().eq(self.vertices.keys()),
            "a scan finds {found:?}, look-ups {:?}",
            self.vertices
        );
        let name = |id| raw(&snapshot.vertex_key(id).unwrap().expect("an edge has its endpoints"), offset);
        for label in LABELS {
            let (mut edges, mut all) = (BTreeSet::new(), 0);
            let each = |edge: hedgerow::EdgeRow<'_>| {
                all += 1;
                if name(edge.src()) < count {
                    edges.insert((label, name(edge.src()), name(edge.dst()), edge.rank()));
                }
            };
            snapshot.for_each_edge(label, each).unwrap();
            assert_eq!(all, snapshot.edge_count_of(label).unwrap());
            let looked_up = self.edges.keys().filter(|e| e.0 == label);
            assert!(edges.iter().eq(looked_up), "a scan finds {edges:?}, look-ups {:?}", self.edges);
        }
    }
}

/// Returns the key without the offset of the run.
pub(crate) fn raw(key: &hedgerow::VertexKey, offset: u64) -> u64 {
    match key {
        hedgerow::VertexKey::U64(key) => key.wrapping_sub(offset),
        key => panic!("not a number of the default kind: {key}"),
    }
}

/// A transaction of the model. Its reads see `state`: one state plus the transaction's own writes.
#[derive(Clone, Debug)]
pub(crate) struct ModelTxn {
    pub(crate) base: State,
    pub(crate) state: State,
    pub(crate) ops: Vec<Op>,
}

impl ModelTxn {
    pub(crate) fn new(base: &State) -> ModelTxn {
        ModelTxn { base: base.clone(), state: base.clone(), ops: Vec::new() }
    }

    pub(crate) fn push(&mut self, op: Op) {
        self.state.apply(&op);
        self.ops.push(op);
    }
}
