//! Reads of many lists of one version: the entries of the delta are grouped by vertex only once.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, Timestamp, VertexId};

use super::{Read, Version};
use crate::op::EdgeOp;

/// A version as a snapshot sees it, kept alive, with the insertions of its delta grouped by vertex.
pub(crate) struct GroupedVersion {
    version: Option<Arc<Version>>,
    /// The number of visible entries of the delta.
    n: usize,
    /// The end of the insertions of each vertex.
    ends: [u32; SUBGRAPH_VERTICES],
    /// Inserted neighbours by vertex and commit.
    inserted: Vec<VertexId>,
    /// Their weights, in a weighted graph.
    weights: Vec<f64>,
    /// The vertices that are read one by one, because their delta entries are not only insertions, or their
    /// edges have ranks.
    by_itself: u64,
}

impl Default for GroupedVersion {
    /// Returns the state of a subgraph without a version.
    fn default() -> Self {
        GroupedVersion {
            version: None,
            n: 0,
            ends: [0; SUBGRAPH_VERTICES],
            inserted: Vec::new(),
            weights: Vec::new(),
            by_itself: 0,
        }
    }
}

impl GroupedVersion {
    /// Replaces the version by `version` as of `t`. O(delta), and O(64).
    pub(crate) fn set(&mut self, version: Option<Arc<Version>>, t: Timestamp) {
        self.inserted.clear();
        self.weights.clear();
        (self.by_itself, self.ends) = (0, [0; SUBGRAPH_VERTICES]);
        self.n = version.as_ref().map_or(0, |version| version.at(t).n);
        if let Some(version) = version.as_ref().filter(|_| self.n > 0) {
            self.group(version);
        }
        self.version = version;
    }

    fn group(&mut self, version: &Version) {
        if version.is_ranked() {
            self.by_itself = u64::MAX;
            return;
        }
        let delta = &version.delta;
        for at in 0..self.n {
            match delta.source(at) {
                (local, EdgeOp::Insert) => self.ends[local.index()] += 1,
                (_, EdgeOp::Vertex) => {}
                (local, EdgeOp::Remove | EdgeOp::Update) => self.by_itself |= local.bit(),
            }
        }
        let mut before = 0;
        // `ends` has the begin of each group until the entries are written.
        for end in &mut self.ends {
            before += std::mem::replace(end, before);
        }
        self.inserted.resize(before as usize, VertexId(0));
        self.weights.resize(if delta.is_weighted() { before as usize } else { 0 }, 0.0);
        for (at, entry) in delta.entries(self.n).enumerate() {
            if delta.source(at).1 != EdgeOp::Insert {
                continue;
            }
            let end = &mut self.ends[entry.local.index()];
            self.inserted[*end as usize] = entry.dst;
            if let Some(weight) = self.weights.get_mut(*end as usize) {
                *weight = entry.weight;
            }
            *end += 1;
        }
    }

    /// Calls `f` with the neighbours of `local`, like [`Read::visit`].
    #[inline]
    pub(crate) fn visit(&self, local: LocalVertex, mut f: impl FnMut(&[VertexId], &[f64])) {
        let Some(version) = &self.version else { return };
        let read = Read { version, n: self.n };
        if self.by_itself & local.bit() != 0 {
            return read.visit(local, f);
        }
        read.visit_merged(local, &mut f);
        let from = local.index().checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        let of_local = from..self.ends[local.index()] as usize;
        if let Some(inserted) = self.inserted.get(of_local.clone()).filter(|inserted| !inserted.is_empty()) {
            f(inserted, self.weights.get(of_local).unwrap_or(&[]));
        }
    }
}
