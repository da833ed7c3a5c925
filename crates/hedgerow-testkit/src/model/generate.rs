//! Seeded transactions.

use std::sync::Arc;

use hedgerow_core::{KeyKind, PropertyType, Value, VertexKey};

use super::rich::PROPERTIES;
use super::{ItemKey, LABELS, Model, ModelConfig, ModelOp, RichOp};
use crate::sim_fs::SplitMix64;

/// The `n`-th key of a kind: dense keys are the number itself, the others are scattered.
pub fn vertex_key(keys: KeyKind, n: u64) -> VertexKey {
    match keys {
        KeyKind::Dense => VertexKey::U64(n),
        // An odd factor keeps the keys different.
        KeyKind::U64 => VertexKey::U64(n.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
        KeyKind::Str => {
            let padding = "-".repeat((n % 23) as usize);
            VertexKey::Str(Arc::from(format!("v{padding}{n}")))
        }
    }
}

/// Draws operations from a seed.
#[derive(Clone, Debug)]
pub struct Generator {
    config: ModelConfig,
    rng: SplitMix64,
    first: u64,
    universe: u64,
}

impl Generator {
    /// Operations on the keys number `first` to `first + universe - 1`; the first of them are drawn more often, so that
    /// some vertices have many neighbours.
    pub fn new(config: ModelConfig, seed: u64, first: u64, universe: u64) -> Generator {
        Generator { config, rng: SplitMix64::new(seed), first, universe: universe.max(1) }
    }

    /// The source of randomness, for decisions of the test.
    pub fn rng(&mut self) -> &mut SplitMix64 {
        &mut self.rng
    }

    /// A key of the universe.
    pub fn key(&mut self) -> VertexKey {
        let bound = if self.rng.eighths(3) { self.universe.div_ceil(8) } else { self.universe };
        vertex_key(self.config.keys, self.first + self.rng.below(bound))
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

    /// An operation. Where `model` is given, most removals of edges hit an existing one.
    pub fn op(&mut self, model: Option<&Model>) -> ModelOp {
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

    fn rich_op(&mut self, model: Option<&Model>) -> RichOp {
        match self.rng.below(16) {
            0 | 1 => RichOp::PutVertex(self.key(), self.props(false)),
            2 | 3 => RichOp::UpdateVertex(self.key(), self.props(true)),
            4..7 => RichOp::Remove(self.existing(model)),
            7..10 => RichOp::Update(self.existing(model), self.props(true)),
            10 | 11 => RichOp::Insert(self.item(), self.props(false)),
            _ => RichOp::Put(self.item(), self.props(false)),
        }
    }

    /// An edge of any label.
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

    /// Some properties of all types, with nulls if asked for.
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

    /// One to `most` operations; small numbers are drawn more often.
    pub fn transaction(&mut self, model: Option<&Model>, most: u64) -> Vec<ModelOp> {
        let bound = if self.rng.eighths(4) { most.div_ceil(8) } else { most };
        let n = 1 + self.rng.below(bound.max(1));
        (0..n).map(|_| self.op(model)).collect()
    }
}
