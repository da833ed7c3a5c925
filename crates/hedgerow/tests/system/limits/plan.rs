//! The random stores of the test of the memory limit, and the model of their graphs.

use std::collections::HashMap;
use std::path::Path;

use hedgerow::{
    Durability, KeyKind, LEAST_MEMORY_LIMIT, LabelOptions, Options, PropertyType, Value, WriteTxn,
};
use hedgerow_testkit::is_deep;
use hedgerow_testkit::sim_fs::SplitMix64;

/// The bytes of an edge in the model.
pub(super) const MODEL_EDGE: u64 = 40;

/// The shape of a store and of its calls, from a seed.
pub(super) struct Plan {
    pub(super) directed: bool,
    pub(super) reverse: bool,
    pub(super) dense: bool,
    pub(super) limit: u64,
    pub(super) labels: u64,
    pub(super) vertices: u64,
    pub(super) edges: u64,
    /// The maximum length of a text.
    pub(super) text: u64,
    pub(super) hub: u64,
    /// The divisor of the numbers of edges.
    pub(super) share: u64,
    pub(super) rng: SplitMix64,
}

impl Plan {
    pub(super) fn new(seed: u64) -> Plan {
        let mut rng = SplitMix64::new(seed);
        let directed = rng.below(2) == 0;
        let (reverse, dense) = (rng.below(4) > 0, rng.below(2) == 0);
        let limit = LEAST_MEMORY_LIMIT + rng.below(3) * (4 << 20);
        let labels = [1, 3, 40][rng.below(3) as usize];
        let vertices = [2_000, 20_000, 60_000][rng.below(3) as usize];
        // Deep rounds have more edges, and more edges in each call.
        let share = if is_deep() { 1 } else { 5 };
        let edges = [20_000, 60_000, 150_000][rng.below(3) as usize] / share;
        let hub = [0, 0, 40_000][rng.below(3) as usize];
        // A checkpoint keeps one image in memory. With a hub of long values, this image is larger than the
        // limit.
        let text = [0, 40, if hub > 0 { 400 } else { 20_000 }][rng.below(3) as usize];
        Plan { directed, reverse, dense, limit, labels, vertices, edges, text, hub, share, rng }
    }

    pub(super) fn options(&self) -> Options {
        let keys = if self.dense { KeyKind::Dense } else { KeyKind::U64 };
        Options::new().keys(keys).directed(self.directed).reverse(self.reverse).durability(Durability::Manual)
    }

    /// Returns the key of a vertex. In graphs without dense keys, the keys have gaps.
    pub(super) fn key(&self, n: u64) -> u64 {
        if self.dense { n } else { n * 977 + 5 }
    }

    pub(super) fn label(n: u64) -> String {
        if n == 0 { String::new() } else { format!("l{n}") }
    }

    pub(super) fn random_edge(&mut self) -> (u64, u64, u64) {
        let (label, n) = (self.rng.below(self.labels), self.vertices);
        let skewed = self.rng.below(2) == 0;
        let src = if skewed { self.rng.below(n).min(self.rng.below(n)) } else { self.rng.below(n) };
        (label, self.key(src), {
            let dst = self.rng.below(n);
            self.key(dst)
        })
    }

    /// Returns the text of an edge. Its length and content come from the edge's number.
    pub(super) fn text(&self, number: i64) -> Option<String> {
        (self.text > 0 && number % 50 == 0).then(|| {
            let len = number as u64 * 7 % self.text;
            (number % 10).to_string().repeat(len as usize)
        })
    }

    pub(super) fn row(&self, number: i64) -> Vec<Value> {
        std::iter::once(Value::I64(number)).chain(self.text(number).map(Value::from)).collect()
    }

    /// Returns the initial edges of the store.
    pub(super) fn first_edges(&mut self) -> Vec<((u64, u64, u64), i64)> {
        let mut edges: Vec<_> = (0..self.edges as i64).map(|number| (self.random_edge(), number)).collect();
        let hub = self.key(1);
        edges.extend((0..self.hub).map(|n| ((0, hub, self.key(n + 2)), n as i64)));
        edges
    }

    /// Makes the store, without a limit.
    pub(super) fn make(&mut self, path: &Path) {
        let graph = self.options().open(path).expect("a new store");
        for label in 0..self.labels {
            let name = Plan::label(label);
            if label > 0 {
                graph.define_label(&name, LabelOptions::new()).expect("a new label");
            }
            graph.define_edge_property(name.as_str(), "n", PropertyType::I64).expect("new");
            graph.define_edge_property(name.as_str(), "note", PropertyType::Utf8).expect("new");
        }
        let edges = self.first_edges();
        for edges in edges.chunks(50_000) {
            let mut tx = graph.write().expect("open");
            for &(edge, number) in edges {
                self.put(&mut tx, edge, number).expect("no limit");
            }
            tx.commit().expect("no limit");
        }
        graph.checkpoint().expect("on the disk");
        graph.close().expect("written");
    }

    pub(super) fn put(
        &self,
        tx: &mut WriteTxn,
        (label, src, dst): (u64, u64, u64),
        number: i64,
    ) -> hedgerow::Result<()> {
        let name = Plan::label(label);
        tx.put_edges_with(name.as_str(), &["n", "note"], [(src, dst, self.row(number))])
    }
}

/// The edges of the graph, by label and endpoints, with their numbers.
#[derive(Default)]
pub(super) struct Model {
    pub(super) edges: HashMap<(u64, u64, u64), i64>,
    pub(super) directed: bool,
}

impl Model {
    /// Returns the memory of the map, plus the map that it replaced at its last growth.
    pub(super) fn bytes(&self) -> u64 {
        self.edges.capacity() as u64 * MODEL_EDGE * 3 / 2
    }

    pub(super) fn place(&self, (label, src, dst): (u64, u64, u64)) -> (u64, u64, u64) {
        if self.directed { (label, src, dst) } else { (label, src.min(dst), src.max(dst)) }
    }

    pub(super) fn put(&mut self, edge: (u64, u64, u64), number: i64) {
        let place = self.place(edge);
        self.edges.insert(place, number);
    }

    pub(super) fn count(&self, labels: &[u64], below: Option<i64>) -> u64 {
        let counts = |(place, number): &(&(u64, u64, u64), &i64)| {
            labels.contains(&place.0) && below.is_none_or(|below| **number < below)
        };
        self.edges.iter().filter(counts).count() as u64
    }
}
