//! Operations of the model on many edges of the default label at once.

use hedgerow_core::VertexKey;

use super::{Model, ModelOp};

/// Source and destination of an edge.
type Pair = (VertexKey, VertexKey);

/// An operation on many edges of the default label. It reads nothing and says nothing about what it found.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkOp {
    /// Makes sure that the edges exist with weight 1.
    Put(Vec<Pair>),
    /// Makes sure that the edges exist with these weights.
    PutWeighted(Vec<(VertexKey, VertexKey, f64)>),
    /// Inserts the edges that do not exist, with weight 1, and leaves the others as they are.
    Insert(Vec<Pair>),
    /// Removes the edges.
    Remove(Vec<Pair>),
}

impl BulkOp {
    /// The operation edge by edge, in order.
    pub fn each(&self) -> Vec<ModelOp> {
        let pairs = |pairs: &[Pair], op: fn(VertexKey, VertexKey) -> ModelOp| {
            pairs.iter().map(|(src, dst)| op(src.clone(), dst.clone())).collect()
        };
        match self {
            BulkOp::Put(edges) => pairs(edges, |src, dst| ModelOp::PutEdge(src, dst, 1.0)),
            BulkOp::Insert(edges) => pairs(edges, |src, dst| ModelOp::InsertEdge(src, dst, 1.0)),
            BulkOp::Remove(edges) => pairs(edges, ModelOp::RemoveEdge),
            BulkOp::PutWeighted(edges) => {
                edges.iter().map(|(src, dst, w)| ModelOp::PutEdge(src.clone(), dst.clone(), *w)).collect()
            }
        }
    }
}

impl Model {
    pub(super) fn apply_bulk(&mut self, op: &BulkOp) -> bool {
        for op in op.each() {
            self.apply(&op);
        }
        true
    }
}
