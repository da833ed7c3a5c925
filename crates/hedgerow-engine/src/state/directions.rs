//! In which directions edges are stored.

use hedgerow_core::{Direction, GraphConfig, LabelId};

/// The directions that are stored of a label of such a graph.
pub(crate) fn directions_of(config: &GraphConfig, label: LabelId) -> &'static [Direction] {
    let both = config.directed && config.reverse && label != LabelId::VERTICES;
    if both { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}
