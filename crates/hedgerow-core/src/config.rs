//! What is fixed when a graph is created.

use crate::key::KeyKind;

/// What is fixed when a graph is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphConfig {
    /// Whether edges have a direction.
    pub directed: bool,
    /// The type of external vertex ids.
    pub keys: KeyKind,
    /// Whether edges carry an `f64` weight.
    pub weighted: bool,
    /// Whether a directed graph keeps the incoming edges of each vertex beside the outgoing ones; of no meaning in an
    /// undirected one, where a store always says yes.
    pub reverse: bool,
}

impl GraphConfig {
    /// The one value that stands for this graph: with `reverse` set where it has no meaning.
    pub fn normalized(self) -> GraphConfig {
        GraphConfig { reverse: self.reverse || !self.directed, ..self }
    }

    /// Whether edges are found from their sources alone.
    pub fn is_one_way(&self) -> bool {
        self.directed && !self.reverse
    }
}

impl Default for GraphConfig {
    /// Directed with incoming edges, `u64` ids, no weights.
    fn default() -> Self {
        GraphConfig { directed: true, keys: KeyKind::U64, weighted: false, reverse: true }
    }
}
