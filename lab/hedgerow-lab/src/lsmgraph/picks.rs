//! The choice of the next segments to compact (section 4.2.1): the segments of a level take turns.

use hedgerow_core::VertexId;

use super::options::LEVELS;

/// For each direction and level, the vertex after which the next segment is taken.
#[derive(Debug, Default)]
pub(super) struct Picks(pub(super) [[Option<VertexId>; LEVELS]; 2]);
