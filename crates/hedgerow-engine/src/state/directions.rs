//! In which directions edges are stored.

use hedgerow_core::{Direction, GraphConfig, LabelId};

use crate::state::store::Core;

/// The directions that are stored of a label of such a graph.
pub(crate) fn directions_of(config: &GraphConfig, label: LabelId) -> &'static [Direction] {
    let both = config.directed && config.reverse && label != LabelId::VERTICES;
    if both { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
}

impl Core {
    /// The directions that are stored.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        directions_of(&self.config, LabelId::DEFAULT)
    }

    /// The directions that are stored of a label.
    pub(crate) fn directions_of(&self, label: LabelId) -> &'static [Direction] {
        directions_of(&self.config, label)
    }
}
