//! Views of some of the vertices: the same lists, with fewer existing vertices.

use std::sync::Arc;

use hedgerow_core::{SUBGRAPH_VERTICES, SubgraphId};

use super::View;
use super::mask::VertexMask;

impl View {
    /// Makes a view of the vertices in `mask` and all edges from a view of all vertices. The mask must hold
    /// only existing vertices, and both ends of each edge. Shares chunks and lists with the original view.
    /// O(1), and O(chunks) to copy that view.
    pub fn restricted(self, mask: Arc<VertexMask>) -> View {
        let subgraphs = self.shape.vertex_bound.div_ceil(SUBGRAPH_VERTICES) as u32;
        let exists = |id: SubgraphId| mask.of(id) & !self.present(id) == 0;
        debug_assert!((0..subgraphs).map(SubgraphId).all(exists), "a mask of vertices that do not exist");
        View { vertex_count: mask.count(), mask: Some(mask), ..self }
    }
}
