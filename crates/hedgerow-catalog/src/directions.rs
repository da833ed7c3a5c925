//! The directions in which edges are stored.

use hedgerow_core::{Direction, GraphConfig, LabelId};

/// Returns the directions in which a graph of this configuration stores a label.
pub fn directions_of(config: &GraphConfig, label: LabelId) -> &'static [Direction] {
    let both = config.directed && config.reverse && label != LabelId::VERTICES;
    if both { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}

/// True if edges of a label carry the weight of a weighted graph.
#[inline]
pub fn is_weighted(config: &GraphConfig, label: LabelId) -> bool {
    config.weighted && label == LabelId::DEFAULT
}
