//! Communities by Louvain's method as its first paper has it: what Leiden's is at least about as good as.

use hedgerow_core::{Resident, WeightedTopology};

use crate::grouping::Communities;
use crate::louvain::verify::louvain;

/// Communities and their modularity.
pub fn leiden<G: WeightedTopology + Resident>(g: &G, resolution: f64) -> Communities {
    louvain(g, resolution)
}
