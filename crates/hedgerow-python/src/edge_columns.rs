//! The columns of `Edges` while edges are gathered.

use hedgerow::LabelId;
use pyo3::prelude::*;

use crate::error::out_of_memory;

/// The choice of columns of `Edges`, besides the endpoints.
#[derive(Clone, Copy)]
pub(crate) struct EdgesShape {
    pub(crate) weights: bool,
    pub(crate) labels: bool,
    pub(crate) ranks: bool,
}

/// The columns of `Edges`. Endpoints are row numbers of vertices, labels are ids.
pub(crate) struct EdgeColumns {
    pub(crate) src: Vec<i64>,
    pub(crate) dst: Vec<i64>,
    pub(crate) weights: Vec<f64>,
    pub(crate) labels: Vec<i64>,
    pub(crate) ranks: Vec<u64>,
}

impl EdgeColumns {
    /// Appends an edge; its ends are given as row numbers.
    pub(crate) fn push(
        &mut self,
        shape: EdgesShape,
        label: LabelId,
        (src, dst): (i64, i64),
        rank: u64,
        weight: f64,
    ) {
        self.src.push(src);
        self.dst.push(dst);
        if shape.weights {
            self.weights.push(weight);
        }
        if shape.labels {
            self.labels.push(i64::from(label.0));
        }
        if shape.ranks {
            self.ranks.push(rank);
        }
    }

    /// Returns empty columns with room for `edges` edges, or an error if the memory for their arrays is not
    /// free.
    pub(crate) fn with_capacity(edges: usize, shape: EdgesShape) -> PyResult<EdgeColumns> {
        // This counts rows, ids of both ends and weights; numbers and names of labels; ranks.
        let bytes = 40 + if shape.labels { 16 } else { 0 } + if shape.ranks { 8 } else { 0 };
        Vec::<u8>::new()
            .try_reserve_exact(edges.saturating_mul(bytes))
            .map_err(|_| out_of_memory("edges", edges))?;
        let of = |wanted: bool| if wanted { edges } else { 0 };
        Ok(EdgeColumns {
            src: Vec::with_capacity(edges),
            dst: Vec::with_capacity(edges),
            weights: Vec::with_capacity(of(shape.weights)),
            labels: Vec::with_capacity(of(shape.labels)),
            ranks: Vec::with_capacity(of(shape.ranks)),
        })
    }
}
