//! Views of some of the vertices: the same lists, and fewer vertices that exist.

use std::sync::Arc;

use hedgerow_core::{SUBGRAPH_VERTICES, SubgraphId};

use super::View;
use super::mask::VertexMask;

impl View {
    /// The graph of the vertices in `mask` and all edges of a view of all vertices. The mask must hold vertices that exist alone, and the
    /// ends of all edges among them. Shares chunks and lists with the view that it is made of. O(1), and O(chunks) to copy that view.
    pub fn restricted(self, mask: Arc<VertexMask>) -> View {
        let subgraphs = self.shape.vertex_bound.div_ceil(SUBGRAPH_VERTICES) as u32;
        let exists = |id: SubgraphId| mask.of(id) & !self.present(id) == 0;
        debug_assert!((0..subgraphs).map(SubgraphId).all(exists), "a mask of vertices that do not exist");
        View { vertex_count: mask.count(), mask: Some(mask), ..self }
    }
}
