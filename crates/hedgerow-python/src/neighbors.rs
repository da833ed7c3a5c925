//! Lists of neighbors as Python objects.

use hedgerow::{EdgeOf, LabelId, Properties, VertexKey};
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use crate::ending::calling;
use crate::key::{Key, Namer};
use crate::names::Kinds;
use crate::selection::Chosen;
use crate::value::to_dict;

/// An edge in the list of a vertex.
pub(crate) struct Neighbor {
    key: VertexKey,
    label: LabelId,
    rank: u64,
    properties: Properties,
}

impl From<(VertexKey, LabelId, u64)> for Neighbor {
    fn from((key, label, rank): (VertexKey, LabelId, u64)) -> Neighbor {
        Neighbor { key, label, rank, properties: Properties::new() }
    }
}

impl From<EdgeOf> for Neighbor {
    fn from(edge: EdgeOf) -> Neighbor {
        Neighbor { key: edge.key, label: edge.label, rank: edge.rank, properties: edge.properties }
    }
}

/// Returns the chosen edges at a vertex.
pub(crate) fn neighbors(
    snapshot: &hedgerow::Snapshot,
    chosen: &Chosen,
    key: &Key,
    properties: bool,
) -> hedgerow::Result<Option<Vec<Neighbor>>> {
    let key = key.as_ref();
    chosen.with(|edges| {
        Ok(if properties {
            snapshot.edges(key, edges)?.map(Neighbor::all)
        } else {
            snapshot.edge_list(key, edges)?.map(Neighbor::all)
        })
    })
}

impl Neighbor {
    pub(crate) fn all<T: Into<Neighbor>>(found: Vec<T>) -> Vec<Neighbor> {
        found.into_iter().map(T::into).collect()
    }
}

/// The attributes of an edge that are returned with the neighbor, as tuples in this order.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    pub(crate) labels: bool,
    pub(crate) ranks: bool,
    pub(crate) properties: bool,
}

impl Parts {
    /// True if neighbors are returned without attributes.
    pub(crate) fn none(self) -> bool {
        !(self.labels || self.ranks || self.properties)
    }

    /// Returns the edges as a Python list. `name` returns the name of a label; it is called once for
    /// consecutive edges of the same label.
    pub(crate) fn list(
        self,
        py: Python<'_>,
        kinds: &impl Kinds,
        found: &[Neighbor],
        name: impl Fn(LabelId) -> String,
    ) -> PyResult<Vec<Py<PyAny>>> {
        let _calling = calling(py);
        let namer = Namer::new(kinds);
        let mut named: Option<(LabelId, Py<PyString>)> = None;
        let mut list = Vec::with_capacity(found.len());
        for edge in found {
            let key = namer.object(py, edge.key.as_ref())?;
            if self.none() {
                list.push(key);
                continue;
            }
            let mut parts = vec![key];
            if self.labels {
                let known = named.take().filter(|(label, _)| *label == edge.label);
                let (label, text) =
                    known.unwrap_or_else(|| (edge.label, PyString::new(py, &name(edge.label)).unbind()));
                parts.push(text.clone_ref(py).into_any());
                named = Some((label, text));
            }
            if self.ranks {
                parts.push(edge.rank.into_pyobject(py)?.into_any().unbind());
            }
            if self.properties {
                parts.push(to_dict(py, &edge.properties)?.into_any().unbind());
            }
            list.push(PyTuple::new(py, parts)?.into_any().unbind());
        }
        Ok(list)
    }
}
