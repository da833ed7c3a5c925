//! A graph that was loaded, and errors of loading.

use std::path::PathBuf;

use hedgerow_core::VertexKey;

use crate::csr::{Csr, CsrError, CsrOptions};
use crate::data::DataError;
use crate::read::{FormatError, ReadError};

/// An error of loading a graph.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoadError {
    /// A file is unreadable or malformed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The format is unknown.
    #[error(transparent)]
    Format(#[from] FormatError),
    /// The data set is absent and was required.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The data set is not one that this program can read.
    #[error("data set {name:?} is unknown; known are {known}")]
    UnknownData {
        /// The unknown name.
        name: String,
        /// The names that can be read.
        known: String,
    },
    /// The file has more vertices than there are 32-bit ids.
    #[error("{}: more than {} vertices", .path.display(), u32::MAX)]
    TooManyVertices {
        /// The file.
        path: PathBuf,
    },
    /// An edge names a vertex that the vertex file does not list.
    #[error("{}: edge {edge} names vertex {key}, which the vertex file does not list", .path.display())]
    UnlistedVertex {
        /// The edge file.
        path: PathBuf,
        /// The position of the edge in the file, from 1.
        edge: usize,
        /// The vertex.
        key: String,
    },
    /// A weighted file has a row without weight.
    #[error(
        "{}:{line}: either each row has a weight or none has; this row differs from the rows before it",
        .path.display()
    )]
    MixedWeights {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
    },
}

/// A graph in memory, its vertices numbered densely.
#[derive(Clone, Debug)]
pub struct LoadedGraph {
    /// The specification, as text.
    pub name: String,
    /// The bound of ids.
    pub vertices: usize,
    /// True if edges have a direction.
    pub directed: bool,
    /// The edges in file order, or ascending for generated graphs; an undirected edge once. Files may repeat
    /// edges.
    pub edges: Vec<(u32, u32)>,
    /// A weight for each edge, if the file has them.
    pub weights: Option<Vec<f64>>,
    /// The external id of each vertex, if it differs from its number.
    pub keys: Option<Vec<VertexKey>>,
    /// True if the edges are ordered by time, so that an experiment must not shuffle them.
    pub in_time_order: bool,
}

impl LoadedGraph {
    /// Returns the external id of vertex `v`.
    pub fn key(&self, v: u32) -> VertexKey {
        let key = self.keys.as_ref().and_then(|keys| keys.get(v as usize)).cloned();
        key.unwrap_or(VertexKey::U64(u64::from(v)))
    }

    /// Returns the graph as a CSR, repeated edges merged, with weights if the graph has them. Costs as much
    /// as [`Csr::from_edges`].
    ///
    /// # Errors
    /// The errors of [`Csr::from_edges`].
    pub fn csr(&self) -> Result<Csr, CsrError> {
        let options = CsrOptions { directed: self.directed, ..CsrOptions::default() };
        match &self.weights {
            None => Csr::from_edges(self.vertices, &self.edges, &options),
            Some(weights) => Csr::from_weighted_edges(self.vertices, &self.edges, weights, &options),
        }
    }
}
