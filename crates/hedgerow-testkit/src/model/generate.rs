//! Seeded transactions.

use std::sync::Arc;

use hedgerow_core::{KeyKind, VertexKey};

use super::{Model, ModelConfig, ModelOp};
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

    fn removal(&mut self, model: Option<&Model>) -> ModelOp {
        if let Some(model) = model.filter(|m| m.edge_count() > 0)
            && self.rng.eighths(6)
        {
            let at = self.rng.below(model.edge_count()) as usize;
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
