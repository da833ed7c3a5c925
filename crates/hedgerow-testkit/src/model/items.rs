//! Labels, ranks and properties of the model.

use std::collections::BTreeMap;

use hedgerow_core::{Value, VertexKey};

use super::Model;
use super::op::RichOp;
use super::rich::{ItemKey, Props, WEIGHT};

fn lay(props: &mut Props, changes: &[(String, Value)]) {
    for (name, value) in changes {
        if value.is_null() {
            props.remove(name);
        } else {
            props.insert(name.clone(), value.clone());
        }
    }
}

impl Model {
    fn stored(&self, key: &ItemKey) -> ItemKey {
        let (src, dst) = self.item(&key.src, &key.dst);
        ItemKey { src, dst, ..key.clone() }
    }

    /// Returns the properties of an edge, if it exists.
    pub fn item_props(&self, key: &ItemKey) -> Option<Props> {
        let stored = self.stored(key);
        let found = self.rich.items.get(&stored).cloned();
        if key.label.is_empty() {
            return self.weight(&key.src, &key.dst).map(|_| found.unwrap_or_default());
        }
        found
    }

    /// Returns the properties of a vertex, if it exists.
    pub fn vertex_props(&self, key: &VertexKey) -> Option<Props> {
        self.contains_vertex(key).then(|| self.rich.vertices.get(key).cloned().unwrap_or_default())
    }

    /// Returns the edges that are not plain, in ascending order: edges of named labels, and edges of the
    /// default label with properties.
    pub fn items(&self) -> impl Iterator<Item = (&ItemKey, &Props)> {
        self.rich.items.iter()
    }

    /// Returns the other endpoints and the ranks of the edges of a named label at a vertex, in ascending
    /// order. In a directed graph `incoming` selects the direction.
    pub fn neighbors_of(&self, label: &str, key: &VertexKey, incoming: bool) -> Vec<(VertexKey, u64)> {
        let of_label = self.rich.items.keys().filter(|item| item.label == label);
        let other = |item: &ItemKey| match (&item.src == key, &item.dst == key) {
            (true, _) if !self.directed || !incoming => Some(item.dst.clone()),
            (_, true) if !self.directed || incoming => Some(item.src.clone()),
            _ => None,
        };
        let mut found: Vec<_> = of_label.filter_map(|item| Some((other(item)?, item.rank))).collect();
        found.sort();
        found
    }

    /// Returns the [`neighbors_of`](Self::neighbors_of) of each vertex, in one pass over the edges.
    pub fn all_neighbors_of(
        &self,
        label: &str,
        incoming: bool,
    ) -> BTreeMap<&VertexKey, Vec<(VertexKey, u64)>> {
        let mut all: BTreeMap<_, Vec<_>> = self.vertices.iter().map(|key| (key, Vec::new())).collect();
        let mut add = |key, other: &VertexKey, rank| {
            if let Some(list) = all.get_mut(key) {
                list.push((other.clone(), rank));
            }
        };
        for item in self.rich.items.keys().filter(|item| item.label == label) {
            if !self.directed || !incoming {
                add(&item.src, &item.dst, item.rank);
            }
            // The list contains an undirected loop once.
            let second = if self.directed { incoming } else { item.src != item.dst };
            if second {
                add(&item.dst, &item.src, item.rank);
            }
        }
        all.values_mut().for_each(|list| list.sort());
        all
    }

    /// Sets an edge without use of its earlier state, for tests that copy a store into a model.
    pub fn set_item(&mut self, key: ItemKey, props: Props) {
        let key = self.stored(&key);
        self.rich.items.insert(key, props);
    }

    /// Sets the properties of a vertex.
    pub fn set_vertex_props(&mut self, key: VertexKey, props: Props) {
        if props.is_empty() {
            self.rich.vertices.remove(&key);
        } else {
            self.rich.vertices.insert(key, props);
        }
    }

    pub(super) fn apply_rich(&mut self, op: &RichOp) -> bool {
        match op {
            RichOp::Put(key, props) => {
                self.put_item(key, props);
                true
            }
            RichOp::Insert(key, props) => {
                let new = self.item_props(key).is_none();
                if new {
                    self.put_item(key, props);
                }
                new
            }
            RichOp::Update(key, changes) => {
                let Some(mut props) = self.item_props(key) else { return false };
                lay(&mut props, changes);
                self.keep(key, props);
                true
            }
            RichOp::Remove(key) => {
                let existed = self.item_props(key).is_some();
                self.rich.items.remove(&self.stored(key));
                if key.label.is_empty() {
                    self.edges.remove(&self.item(&key.src, &key.dst));
                }
                existed
            }
            RichOp::PutVertex(key, props) => {
                self.vertices.insert(key.clone());
                let mut kept = Props::new();
                lay(&mut kept, props);
                self.set_vertex_props(key.clone(), kept);
                true
            }
            RichOp::UpdateVertex(key, changes) => {
                let Some(mut props) = self.vertex_props(key) else { return false };
                lay(&mut props, changes);
                self.set_vertex_props(key.clone(), props);
                true
            }
        }
    }

    fn put_item(&mut self, key: &ItemKey, props: &[(String, Value)]) {
        let mut kept = Props::new();
        lay(&mut kept, props);
        if key.label.is_empty() {
            let given = if self.weighted { kept.remove(WEIGHT) } else { None };
            let weight = if let Some(Value::F64(weight)) = given { weight } else { 1.0 };
            self.put(&key.src, &key.dst, weight);
        }
        self.vertices.insert(key.src.clone());
        self.vertices.insert(key.dst.clone());
        self.keep(key, kept);
    }

    fn keep(&mut self, key: &ItemKey, props: Props) {
        let stored = self.stored(key);
        if key.label.is_empty() && props.is_empty() {
            self.rich.items.remove(&stored);
        } else {
            self.rich.items.insert(stored, props);
        }
    }
}
