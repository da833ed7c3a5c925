//! Operations on one vertex or edge, with labels, ranks or properties, and on many edges at once.

use hedgerow_core::{Value, VertexKey};

use super::rich::ItemKey;

/// One operation.
#[derive(Clone, Debug, PartialEq)]
pub enum ModelOp {
    /// Makes sure that the vertex exists.
    InsertVertex(VertexKey),
    /// Removes the vertex with its edges.
    RemoveVertex(VertexKey),
    /// Makes sure that the edge exists with this weight.
    PutEdge(VertexKey, VertexKey, f64),
    /// Inserts the edge unless it exists.
    InsertEdge(VertexKey, VertexKey, f64),
    /// Removes the edge.
    RemoveEdge(VertexKey, VertexKey),
    /// An operation with labels, ranks or properties.
    Rich(RichOp),
    /// An operation on many edges.
    Bulk(BulkOp),
}

/// An operation with labels, ranks or properties.
#[derive(Clone, Debug, PartialEq)]
pub enum RichOp {
    /// Makes sure that the edge exists with exactly these properties.
    Put(ItemKey, Vec<(String, Value)>),
    /// Inserts the edge unless it exists.
    Insert(ItemKey, Vec<(String, Value)>),
    /// Sets properties of an existing edge, and keeps its other properties.
    Update(ItemKey, Vec<(String, Value)>),
    /// Removes the edge.
    Remove(ItemKey),
    /// Makes sure that the vertex exists with exactly these properties.
    PutVertex(VertexKey, Vec<(String, Value)>),
    /// Sets properties of an existing vertex, and keeps its other properties.
    UpdateVertex(VertexKey, Vec<(String, Value)>),
}

/// Source and destination of an edge.
type Pair = (VertexKey, VertexKey);

/// An operation on many edges of the default label. It reads nothing, and its result contains nothing about
/// the earlier edges.
#[derive(Clone, Debug, PartialEq)]
pub enum BulkOp {
    /// Makes sure that the edges exist with weight 1.
    Put(Vec<Pair>),
    /// Makes sure that the edges exist with these weights.
    PutWeighted(Vec<(VertexKey, VertexKey, f64)>),
    /// Inserts the missing edges with weight 1, and leaves existing edges unchanged.
    Insert(Vec<Pair>),
    /// Removes the edges.
    Remove(Vec<Pair>),
}

impl BulkOp {
    /// Returns the operation as single operations on each edge, in order.
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
