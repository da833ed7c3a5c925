//! Seeded transactions.

use std::sync::Arc;

use hedgerow_core::{KeyKind, KindId, PropertyType, Value, VertexKey};

use super::rich::{PROPERTIES, WEIGHT};
use super::{BulkOp, ItemKey, LABELS, Model, ModelConfig, ModelOp, RichOp};
use crate::sim_fs::SplitMix64;

/// Returns the `n`-th key of a graph. A dense key is the number itself; other keys are scattered. In a rich
/// graph without dense keys, keys of three kinds take turns ([`KINDS`](super::KINDS)). Some of them differ
/// only in their kind.
pub fn vertex_key(config: ModelConfig, n: u64) -> VertexKey {
    let text = |n: u64| VertexKey::Str(Arc::from(format!("v{}{n}", "-".repeat((n % 23) as usize))));
    // An odd factor keeps the keys different.
    let scattered = |n: u64| VertexKey::U64(n.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    match (config.keys, n % 4) {
        (KeyKind::Dense, _) => VertexKey::U64(n),
        (_, 2) if config.rich => scattered(n - 1).with_kind(KindId(1)),
        (_, 3) if config.rich => text(n - 3).with_kind(KindId(2)),
        (KeyKind::U64, _) => scattered(n),
        (KeyKind::Str, _) => text(n),
    }
}

/// A generator of operations from a seed.
#[derive(Clone, Debug)]
pub struct Generator {
    config: ModelConfig,
    rng: SplitMix64,
    first: u64,
    universe: u64,
    /// True if the generator also draws operations on many edges, and weights given as properties.
    bulk: bool,
    /// The difference between the numbers of two adjacent keys.
    stride: u64,
}

/// A stride that puts any two dense ids into different pages of subgraphs.
const FAR: u64 = 5_003;

impl Generator {
    /// Makes a generator for the keys number `first` to `first + universe - 1`. It draws the first keys more
    /// often, so that some vertices have many neighbours.
    pub fn new(config: ModelConfig, seed: u64, first: u64, universe: u64) -> Generator {
        let rng = SplitMix64::new(seed);
        Generator { config, rng, first, universe: universe.max(1), bulk: false, stride: 1 }
    }

    /// Returns this generator with every writing method, including methods for many edges, and weights given
    /// as properties.
    pub fn with_bulk(self) -> Generator {
        Generator { bulk: true, ..self }
    }

    /// Returns this generator with keys far apart: each dense id is in a different page of subgraphs.
    pub fn far_apart(self) -> Generator {
        Generator { stride: FAR, ..self }
    }

    /// Returns the source of randomness, for decisions of the test.
    pub fn rng(&mut self) -> &mut SplitMix64 {
        &mut self.rng
    }

    /// Draws a key of the universe.
    pub fn key(&mut self) -> VertexKey {
        let bound = if self.rng.eighths(3) { self.universe.div_ceil(8) } else { self.universe };
        vertex_key(self.config, (self.first + self.rng.below(bound)) * self.stride)
    }

    fn weight(&mut self) -> f64 {
        if !self.config.weighted {
            return 1.0;
        }
        match self.rng.below(12) {
            0 => -0.0,
            1 => f64::INFINITY,
            2 => f64::MIN_POSITIVE / 4.0,
            3 => 1.0,
            _ => self.rng.below(1 << 20) as f64 / 64.0 - 1000.0,
        }
    }

    /// Draws an operation. With `model`, most removals of edges select an existing edge.
    pub fn op(&mut self, model: Option<&Model>) -> ModelOp {
        if self.bulk && self.rng.eighths(2) {
            return ModelOp::Bulk(self.bulk_op(model));
        }
        if self.config.rich && self.rng.eighths(5) {
            return ModelOp::Rich(self.rich_op(model));
        }
        match self.rng.below(32) {
            0 | 1 => ModelOp::InsertVertex(self.key()),
            2 | 3 => ModelOp::RemoveVertex(self.key()),
            4..10 => self.removal(model),
            10..14 => ModelOp::InsertEdge(self.key(), self.key(), self.weight()),
            14 => {
                let v = self.key();
                ModelOp::PutEdge(v.clone(), v, self.weight())
            }
            _ => ModelOp::PutEdge(self.key(), self.key(), self.weight()),
        }
    }

    fn bulk_op(&mut self, model: Option<&Model>) -> BulkOp {
        let count = [0, 1, 2, 5][self.rng.below(4) as usize];
        let pairs = |this: &mut Self| (0..count).map(|_| this.pair(model)).collect();
        match self.rng.below(8) {
            0 | 1 if self.config.weighted => {
                let weighted = |this: &mut Self| {
                    let (src, dst) = this.pair(model);
                    (src, dst, this.weight())
                };
                BulkOp::PutWeighted((0..count).map(|_| weighted(self)).collect())
            }
            0..3 => BulkOp::Put(pairs(self)),
            3..6 => BulkOp::Insert(pairs(self)),
            _ => BulkOp::Remove(pairs(self)),
        }
    }

    /// Draws the endpoints of an edge. Half of the draws take an existing edge.
    fn pair(&mut self, model: Option<&Model>) -> (VertexKey, VertexKey) {
        let existing = model.filter(|model| model.plain_edge_count() > 0 && self.rng.eighths(4));
        let found = existing.and_then(|model| {
            let at = self.rng.below(model.plain_edge_count()) as usize;
            model.edges().nth(at).map(|(src, dst, _)| (src.clone(), dst.clone()))
        });
        found.unwrap_or_else(|| (self.key(), self.key()))
    }

    fn rich_op(&mut self, model: Option<&Model>) -> RichOp {
        match self.rng.below(16) {
            0 | 1 => RichOp::PutVertex(self.key(), self.props(false)),
            2 | 3 => RichOp::UpdateVertex(self.key(), self.props(true)),
            4..7 => RichOp::Remove(self.existing(model)),
            7..10 => RichOp::Update(self.existing(model), self.props(true)),
            10 | 11 => {
                let item = self.item();
                RichOp::Insert(item.clone(), self.props_of_new(&item))
            }
            _ => {
                let item = self.item();
                RichOp::Put(item.clone(), self.props_of_new(&item))
            }
        }
    }

    /// Draws an edge of any label.
    pub fn item(&mut self) -> ItemKey {
        let (label, multi) = LABELS[self.rng.below(LABELS.len() as u64) as usize];
        let rank = if multi && !self.rng.eighths(2) { self.rng.below(4) * (u64::MAX / 3) } else { 0 };
        let src = self.key();
        let dst = if self.rng.eighths(1) { src.clone() } else { self.key() };
        ItemKey { label, src, dst, rank }
    }

    fn existing(&mut self, model: Option<&Model>) -> ItemKey {
        let found = model.map_or(0, |model| model.items().count() as u64);
        if found > 0 && self.rng.eighths(6) {
            let at = self.rng.below(found) as usize;
            if let Some((item, _)) = model.and_then(|model| model.items().nth(at)) {
                return item.clone();
            }
        }
        self.item()
    }

    /// Draws the properties of a new edge; some draws include its weight.
    fn props_of_new(&mut self, item: &ItemKey) -> Vec<(String, Value)> {
        let mut props = self.props(false);
        if self.bulk && self.config.weighted && item.label.is_empty() && self.rng.eighths(4) {
            props.push((WEIGHT.to_owned(), Value::F64(self.weight())));
        }
        props
    }

    /// Draws some properties of all types, with nulls if `nulls` is true.
    fn props(&mut self, nulls: bool) -> Vec<(String, Value)> {
        let count = [0, 1, 1, 2, 6][self.rng.below(5) as usize];
        (0..count)
            .map(|_| {
                let (name, kind) = PROPERTIES[self.rng.below(6) as usize];
                let value = if nulls && self.rng.eighths(2) { Value::Null } else { self.value(kind) };
                (name.to_owned(), value)
            })
            .collect()
    }

    fn value(&mut self, kind: PropertyType) -> Value {
        let size = [0, 1, 7, 300][self.rng.below(4) as usize];
        match kind {
            PropertyType::Bool => Value::Bool(self.rng.eighths(4)),
            PropertyType::I64 => Value::I64(self.rng.next_u64() as i64),
            PropertyType::F64 => Value::F64(f64::from_bits(self.rng.next_u64())),
            PropertyType::Utf8 => Value::Utf8(Arc::from("é".repeat(size))),
            PropertyType::Bytes => Value::Bytes(Arc::from(vec![self.rng.below(256) as u8; size])),
            PropertyType::Timestamp => Value::Timestamp(self.rng.next_u64() as i64),
        }
    }

    fn removal(&mut self, model: Option<&Model>) -> ModelOp {
        if let Some(model) = model.filter(|m| m.plain_edge_count() > 0)
            && self.rng.eighths(6)
        {
            let at = self.rng.below(model.plain_edge_count()) as usize;
            if let Some((src, dst, _)) = model.edges().nth(at) {
                return ModelOp::RemoveEdge(src.clone(), dst.clone());
            }
        }
        ModelOp::RemoveEdge(self.key(), self.key())
    }

    /// Draws one to `most` operations; small counts are more frequent.
    pub fn transaction(&mut self, model: Option<&Model>, most: u64) -> Vec<ModelOp> {
        let bound = if self.rng.eighths(4) { most.div_ceil(8) } else { most };
        let n = 1 + self.rng.below(bound.max(1));
        (0..n).map(|_| self.op(model)).collect()
    }
}
