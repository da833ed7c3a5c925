//! Which segments are compacted next (section 4.2.1): those of a level take turns.

use hedgerow_core::VertexId;

use super::options::LEVELS;

/// After which vertex the next segment of each level is taken, by direction.
#[derive(Debug, Default)]
pub(super) struct Picks(pub(super) [[Option<VertexId>; LEVELS]; 2]);
