//! In which directions edges are stored.

use hedgerow_core::{Direction, LabelId};

use crate::state::store::Core;

impl Core {
    /// The directions that are stored.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        let both = self.config.directed && self.config.reverse;
        if both { &[Direction::Out, Direction::In] } else { &[Direction::Out] }
    }

    /// The directions that are stored of a label.
    pub(crate) fn directions_of(&self, label: LabelId) -> &'static [Direction] {
        if label == LabelId::VERTICES { &[Direction::Out] } else { self.directions() }
    }
}
