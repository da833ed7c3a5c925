//! Writers whose transactions follow only from a seed. So another process can find out which of the
//! transactions a store has.

use hedgerow::{KeyKind, Snapshot};
use hedgerow_testkit::model::vertex_key;
use hedgerow_testkit::{Generator, Model, ModelConfig, ModelOp};

/// The configuration of the graphs of scripted writers.
pub(crate) const CONFIG: ModelConfig =
    ModelConfig { directed: true, weighted: true, keys: KeyKind::U64, rich: true };

/// The number of vertices of a writer; the last of them is the marker.
const VERTICES: u64 = 64;

/// A writer.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    seed: u64,
    writer: u64,
}

impl Script {
    pub(crate) fn new(seed: u64, writer: u64) -> Script {
        Script { seed, writer }
    }

    fn first(&self) -> u64 {
        1 + self.writer * VERTICES
    }

    fn marker(&self) -> hedgerow::VertexKey {
        vertex_key(CONFIG, self.first() + VERTICES - 1)
    }

    /// Returns transaction `i`, counted from 1: operations on the vertices of the writer, and the marker set
    /// to `i`.
    pub(crate) fn transaction(&self, i: u64) -> Vec<ModelOp> {
        let seed = self.seed ^ (self.writer << 48) ^ i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut generator = Generator::new(CONFIG, seed, self.first(), VERTICES - 1);
        let mut ops = generator.transaction(None, 40);
        let at = generator.rng().below(ops.len() as u64 + 1) as usize;
        ops.insert(at, ModelOp::PutEdge(self.marker(), self.marker(), i as f64));
        ops
    }

    /// Returns the number of transactions in a snapshot, from the marker.
    pub(crate) fn mark_in(&self, snapshot: &Snapshot) -> u64 {
        snapshot
            .default_label()
            .weight_between(&self.marker(), &self.marker())
            .unwrap()
            .map_or(0, |w| w as u64)
    }

    /// Returns the part of the graph that the writer has written after `k` transactions.
    pub(crate) fn state_after(&self, k: u64) -> Model {
        let mut state = Model::new(CONFIG);
        self.advance(&mut state, 0, k);
        state
    }

    /// Applies the transactions after `from`, up to `to`.
    pub(crate) fn advance(&self, state: &mut Model, from: u64, to: u64) {
        for i in from + 1..=to {
            for op in &self.transaction(i) {
                state.apply(op);
            }
        }
    }
}
