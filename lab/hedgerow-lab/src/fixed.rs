//! The CSR as a container that takes no updates.

use std::ops::Deref;
use std::sync::Arc;

use hedgerow_core::dynamic::{GraphGuard, Guarded};
use hedgerow_core::{Capability, Direction, DynamicGraph, Timestamp, Update, VertexId, Written};
use hedgerow_workload::Csr;

use crate::LabError;
use crate::planted::{Planted, is_on};

/// A [`Csr`] as a container: all its snapshots are the same, and it refuses updates.
#[derive(Clone, Debug)]
pub struct StaticCsr(Arc<Csr>);

impl StaticCsr {
    /// Makes a container of a finished graph.
    pub fn new(graph: Csr) -> StaticCsr {
        StaticCsr(Arc::new(graph))
    }
}

/// A counted reference to a [`Csr`].
#[derive(Clone, Debug)]
pub struct CsrGuard(Arc<Csr>);

impl Deref for CsrGuard {
    type Target = Csr;

    #[inline]
    fn deref(&self) -> &Csr {
        &self.0
    }
}

impl GraphGuard for CsrGuard {
    fn timestamp(&self) -> Timestamp {
        Timestamp::ZERO
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        let neighbors = self.weighted_neighbors(src, Direction::Out);
        if is_on(Planted::TargetNotCompared) {
            return (!neighbors.is_empty()).then_some(1.0);
        }
        neighbors.weight_of(dst)
    }
}

impl DynamicGraph for StaticCsr {
    type Error = LabError;
    type Snapshot = Guarded<CsrGuard>;

    const LACKS: &'static [Capability] =
        &[Capability::Updates, Capability::Versions, Capability::ParallelWriters];

    fn write(&self, _updates: &[Update]) -> Result<Written, LabError> {
        if is_on(Planted::UpdatesSwallowed) { Ok(Written::default()) } else { Err(LabError::Static) }
    }

    fn snapshot(&self) -> Result<Self::Snapshot, LabError> {
        Ok(Guarded(CsrGuard(self.0.clone())))
    }

    fn reclaim(&self) -> Result<(), LabError> {
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.0.bytes()
    }
}
