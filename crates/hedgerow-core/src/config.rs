//! The properties of a graph that are fixed when it is created.

use crate::key::KeyKind;

/// The properties of a graph that are fixed when it is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GraphConfig {
    /// True if edges have a direction.
    pub directed: bool,
    /// The type of external vertex ids.
    pub keys: KeyKind,
    /// True if edges have an `f64` weight.
    pub weighted: bool,
    /// True if a directed graph stores the incoming edges of each vertex as well as the outgoing ones. It has
    /// no meaning in an undirected graph: there a store always returns true.
    pub reverse: bool,
}

impl GraphConfig {
    /// Returns the normal form of this configuration: with `reverse` set if it has no meaning.
    pub fn normalized(self) -> GraphConfig {
        GraphConfig { reverse: self.reverse || !self.directed, ..self }
    }

    /// True if edges are stored only in the lists of their sources.
    pub fn is_one_way(&self) -> bool {
        self.directed && !self.reverse
    }
}

impl Default for GraphConfig {
    /// Returns the configuration of a directed graph with incoming edges, `u64` ids, and no weights.
    fn default() -> Self {
        GraphConfig { directed: true, keys: KeyKind::U64, weighted: false, reverse: true }
    }
}
