//! A plain graph in memory with the semantics of the store, and seeded transactions for both.
//!
//! It shares no code with the engine. It uses ordered sets and maps, with a few lines for each operation. A
//! test applies the same operations to a [`Model`] and to a store, and compares them. A clone per commit
//! gives the expected states of old snapshots and of stores after a crash.

mod generate;
mod items;
mod op;
mod rich;

use std::collections::{BTreeMap, BTreeSet};

use hedgerow_core::{KeyKind, VertexKey};

pub use generate::{Generator, vertex_key};
pub use op::{BulkOp, ModelOp, RichOp};
pub use rich::{ItemKey, KINDS, LABELS, PROPERTIES, Props, WEIGHT};

/// The form of a model graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelConfig {
    /// True if edges have a direction.
    pub directed: bool,
    /// True if edges have a weight; otherwise every weight is 1.
    pub weighted: bool,
    /// The type of keys.
    pub keys: KeyKind,
    /// True if the graph has labels and properties.
    pub rich: bool,
}

impl ModelConfig {
    /// Returns all twelve forms of plain graphs.
    pub fn all() -> impl Iterator<Item = ModelConfig> {
        let kinds = [KeyKind::U64, KeyKind::Str, KeyKind::Dense];
        (0..12).map(move |i| ModelConfig {
            directed: i & 1 == 0,
            weighted: i & 2 == 0,
            keys: kinds[i / 4],
            rich: false,
        })
    }

    /// Returns the same form of graph with labels and properties.
    pub fn with_labels(self) -> ModelConfig {
        ModelConfig { rich: true, ..self }
    }
}

/// The neighbours of a vertex with their weights, in ascending order.
pub type NeighborList = Vec<(VertexKey, f64)>;

/// A graph. Two graphs are equal if their vertices, edges and weights are equal; weights compare bit by bit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Model {
    directed: bool,
    weighted: bool,
    vertices: BTreeSet<VertexKey>,
    edges: BTreeMap<(VertexKey, VertexKey), u64>,
    rich: rich::Rich,
}

impl Model {
    /// Makes an empty graph.
    pub fn new(config: ModelConfig) -> Model {
        Model {
            directed: config.directed,
            weighted: config.weighted,
            vertices: BTreeSet::new(),
            edges: BTreeMap::new(),
            rich: rich::Rich::default(),
        }
    }

    fn item(&self, src: &VertexKey, dst: &VertexKey) -> (VertexKey, VertexKey) {
        if self.directed || src <= dst { (src.clone(), dst.clone()) } else { (dst.clone(), src.clone()) }
    }

    /// Applies one operation, and creates missing endpoints. Returns the result of the store's method: true
    /// if a vertex or edge was new, or existed before its removal. The result is always true for
    /// [`ModelOp::PutEdge`] and [`ModelOp::Bulk`].
    pub fn apply(&mut self, op: &ModelOp) -> bool {
        match op {
            ModelOp::InsertVertex(v) => self.vertices.insert(v.clone()),
            ModelOp::RemoveVertex(v) => {
                self.edges.retain(|(src, dst), _| src != v && dst != v);
                self.rich.items.retain(|item, _| item.src != *v && item.dst != *v);
                self.rich.vertices.remove(v);
                self.vertices.remove(v)
            }
            ModelOp::PutEdge(src, dst, weight) => {
                self.put(src, dst, *weight);
                true
            }
            ModelOp::InsertEdge(src, dst, weight) => {
                let new = !self.edges.contains_key(&self.item(src, dst));
                if new {
                    self.put(src, dst, *weight);
                }
                new
            }
            ModelOp::RemoveEdge(src, dst) => {
                self.forget_props(src, dst);
                self.edges.remove(&self.item(src, dst)).is_some()
            }
            ModelOp::Rich(op) => self.apply_rich(op),
            ModelOp::Bulk(op) => self.apply_bulk(op),
        }
    }

    fn apply_bulk(&mut self, op: &BulkOp) -> bool {
        for op in op.each() {
            self.apply(&op);
        }
        true
    }

    /// True if the vertices that `op` needs exist.
    pub fn has_endpoints(&self, op: &ModelOp) -> bool {
        match op {
            ModelOp::PutEdge(src, dst, _) | ModelOp::InsertEdge(src, dst, _) => {
                self.vertices.contains(src) && self.vertices.contains(dst)
            }
            ModelOp::Rich(RichOp::Put(item, _) | RichOp::Insert(item, _)) => {
                self.vertices.contains(&item.src) && self.vertices.contains(&item.dst)
            }
            ModelOp::Bulk(op) => op.each().iter().all(|op| self.has_endpoints(op)),
            _ => true,
        }
    }

    fn put(&mut self, src: &VertexKey, dst: &VertexKey, weight: f64) {
        self.vertices.insert(src.clone());
        self.vertices.insert(dst.clone());
        let weight = if self.weighted { weight } else { 1.0 };
        self.forget_props(src, dst);
        self.edges.insert(self.item(src, dst), weight.to_bits());
    }

    /// Removes the properties of an edge, because a plain write replaces the whole edge.
    fn forget_props(&mut self, src: &VertexKey, dst: &VertexKey) {
        let (src, dst) = self.item(src, dst);
        self.rich.items.remove(&ItemKey { label: "", src, dst, rank: 0 });
    }

    /// Adds the whole content of `other`.
    pub fn merge(&mut self, other: &Model) {
        self.vertices.extend(other.vertices.iter().cloned());
        self.edges.extend(other.edges.iter().map(|(item, weight)| (item.clone(), *weight)));
        let (items, vertices) = (&other.rich.items, &other.rich.vertices);
        self.rich.items.extend(items.iter().map(|(item, props)| (item.clone(), props.clone())));
        self.rich.vertices.extend(vertices.iter().map(|(v, props)| (v.clone(), props.clone())));
    }

    /// Returns the number of vertices.
    pub fn vertex_count(&self) -> u64 {
        self.vertices.len() as u64
    }

    /// Returns the number of edges of all labels; an undirected edge counts once.
    pub fn edge_count(&self) -> u64 {
        let named = self.rich.items.keys().filter(|item| !item.label.is_empty()).count();
        (self.edges.len() + named) as u64
    }

    /// Returns the number of edges of the default label.
    pub fn plain_edge_count(&self) -> u64 {
        self.edges.len() as u64
    }

    /// True if the vertex exists.
    pub fn contains_vertex(&self, key: &VertexKey) -> bool {
        self.vertices.contains(key)
    }

    /// Returns the weight of the edge, if it exists.
    pub fn weight(&self, src: &VertexKey, dst: &VertexKey) -> Option<f64> {
        self.edges.get(&self.item(src, dst)).map(|bits| f64::from_bits(*bits))
    }

    /// Returns the vertices, in ascending order.
    pub fn vertices(&self) -> impl Iterator<Item = &VertexKey> {
        self.vertices.iter()
    }

    /// Returns the edges with their weights, in ascending order.
    pub fn edges(&self) -> impl Iterator<Item = (&VertexKey, &VertexKey, f64)> {
        self.edges.iter().map(|((src, dst), bits)| (src, dst, f64::from_bits(*bits)))
    }

    /// Returns the outgoing and incoming neighbours of a vertex; in an undirected graph, the same list twice.
    /// Returns `None` if the vertex does not exist. O(edges).
    pub fn neighbors(&self, key: &VertexKey) -> Option<[NeighborList; 2]> {
        if !self.vertices.contains(key) {
            return None;
        }
        let (mut out, mut into) = (NeighborList::new(), NeighborList::new());
        for (src, dst, weight) in self.edges() {
            if src == key {
                out.push((dst.clone(), weight));
            }
            if dst == key {
                into.push((src.clone(), weight));
            }
        }
        Some(self.both_lists(key, out, into))
    }

    /// Returns the [`neighbors`](Self::neighbors) of each vertex, in one pass over the edges. O((vertices +
    /// edges) log vertices).
    pub fn all_neighbors(&self) -> BTreeMap<&VertexKey, [NeighborList; 2]> {
        let mut all: BTreeMap<_, [NeighborList; 2]> =
            self.vertices.iter().map(|key| (key, Default::default())).collect();
        for (src, dst, weight) in self.edges() {
            let ends = [(src, dst), (dst, src)];
            for (list, (key, other)) in ends.into_iter().enumerate() {
                if let Some(lists) = all.get_mut(key) {
                    lists[list].push((other.clone(), weight));
                }
            }
        }
        for (key, lists) in &mut all {
            let [out, into] = std::mem::take(lists);
            *lists = self.both_lists(key, out, into);
        }
        all
    }

    /// Returns both lists of a vertex, sorted. `out` contains the endpoints of outgoing edges, `into` the
    /// endpoints of incoming edges.
    fn both_lists(
        &self,
        key: &VertexKey,
        mut out: NeighborList,
        mut into: NeighborList,
    ) -> [NeighborList; 2] {
        if !self.directed {
            into.retain(|(v, _)| v != key);
            out.append(&mut into);
            into = out.clone();
        }
        out.sort_by(|a, b| a.0.cmp(&b.0));
        into.sort_by(|a, b| a.0.cmp(&b.0));
        [out, into]
    }

    /// Describes the differences between this graph and `found` in a few words.
    pub fn difference(&self, found: &Model) -> String {
        let missing = self.vertices.difference(&found.vertices).take(3);
        let extra = found.vertices.difference(&self.vertices).take(3);
        let lost = self.edges.iter().filter(|(item, w)| found.edges.get(*item) != Some(w)).take(3);
        let gained = found.edges.iter().filter(|(item, w)| self.edges.get(*item) != Some(w)).take(3);
        let rich = |a: &Model, b: &Model| {
            let items = a.rich.items.iter().filter(|(k, v)| b.rich.items.get(*k) != Some(v)).take(3);
            let props = a.rich.vertices.iter().filter(|(k, v)| b.rich.vertices.get(*k) != Some(v)).take(3);
            format!("{:?} {:?}", items.collect::<Vec<_>>(), props.collect::<Vec<_>>())
        };
        let (more, less) = (rich(self, found), rich(found, self));
        format!(
            "lacks {more}, has {less}, missing vertices {:?}, extra vertices {:?}, missing edges {:?}, extra edges {:?}",
            missing.collect::<Vec<_>>(),
            extra.collect::<Vec<_>>(),
            lost.collect::<Vec<_>>(),
            gained.collect::<Vec<_>>()
        )
    }
}

#[cfg(test)]
mod tests;
