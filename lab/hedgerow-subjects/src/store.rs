//! The store behind the trait of the containers.

use std::ops::Deref;

use hedgerow::{Direction, Error, Graph, KeyKind, Options, Snapshot, VertexId, View, WriteTxn};
use hedgerow_core::dynamic::{GraphGuard, Guarded};
use hedgerow_core::{
    DynamicGraph, InterpolationHint, Resident, Timestamp, Topology, Update, WeightedTopology, Written,
};

/// The number of retries after conflicts for a transaction that counts its changes.
const RETRIES: u32 = 10_000;

/// A store without files and with dense keys. The keys of the trait are internal ids too.
pub(crate) struct HedgerowEngine {
    graph: Graph,
    weighted: bool,
}

impl HedgerowEngine {
    /// Makes an empty store without background settling.
    pub(crate) fn new(directed: bool, weighted: bool) -> Result<HedgerowEngine, Error> {
        let options = Options::new().directed(directed).weighted(weighted).keys(KeyKind::Dense);
        Ok(HedgerowEngine { graph: options.background_settling(false).in_memory()?, weighted })
    }

    /// Makes one update in a transaction that reads the data it changes, and counts the change.
    fn make(&self, txn: &mut WriteTxn, update: Update, written: &mut Written) -> Result<(), Error> {
        match update {
            Update::InsertVertex(v) => written.vertices += i64::from(txn.insert_vertex(u64::from(v.0))?),
            Update::InsertEdge(src, dst, weight) => {
                let (src, dst) = (u64::from(src.0), u64::from(dst.0));
                written.vertices += i64::from(txn.insert_vertex(src)?) + i64::from(txn.insert_vertex(dst)?);
                written.edges += i64::from(!txn.contains_edge((src, dst))?);
                if self.weighted {
                    txn.put_edge((src, dst, weight))?;
                } else {
                    txn.put_edge((src, dst))?;
                }
            }
            Update::RemoveEdge(src, dst) => {
                written.edges -= i64::from(txn.remove_edge((u64::from(src.0), u64::from(dst.0)))?);
            }
            Update::RemoveVertex(v) => {
                let v = u64::from(v.0);
                let degree = |txn: &mut WriteTxn, direction| -> Result<i64, Error> {
                    Ok(txn.degree(v, direction)?.unwrap_or(0) as i64)
                };
                written.edges -= degree(txn, Direction::Out)?;
                if self.graph.config().directed {
                    let has_loop = txn.contains_edge((v, v))?;
                    written.edges -= degree(txn, Direction::In)? - i64::from(has_loop);
                }
                written.vertices -= i64::from(txn.remove_vertex(v)?);
            }
        }
        Ok(())
    }
}

/// A snapshot with its view.
pub(crate) struct EngineGuard {
    snapshot: Snapshot,
    /// The distribution of ids over lists.
    hint: InterpolationHint,
}

impl Deref for EngineGuard {
    type Target = View;

    #[inline]
    fn deref(&self) -> &View {
        self.snapshot.default_label().view().expect("the view was made when the snapshot was opened")
    }
}

impl GraphGuard for EngineGuard {
    fn timestamp(&self) -> Timestamp {
        self.snapshot.timestamp()
    }

    #[inline]
    fn search_edge(&self, src: VertexId, dst: VertexId) -> Option<f64> {
        let view: &View = self;
        if view.has_weights() {
            return view.weighted_neighbors(src, Direction::Out).weight_of(dst);
        }
        view.neighbors(src, Direction::Out).contains_near(dst, self.hint).then_some(1.0)
    }
}

impl DynamicGraph for HedgerowEngine {
    type Error = Error;
    type Snapshot = Guarded<EngineGuard>;

    fn write(&self, updates: &[Update]) -> Result<Written, Error> {
        let (written, timestamp) = self.graph.transact(RETRIES, |txn| {
            let mut written = Written::default();
            updates.iter().try_for_each(|&update| self.make(txn, update, &mut written))?;
            Ok(written)
        })?;
        Ok(Written { timestamp, ..written })
    }

    /// Opens a snapshot with its view, so that reads and kernels do not have to make the view.
    fn snapshot(&self) -> Result<Self::Snapshot, Error> {
        let snapshot = self.graph.snapshot()?;
        let hint = InterpolationHint::over(snapshot.default_label().view()?.vertex_bound() as u32);
        Ok(Guarded(EngineGuard { snapshot, hint }))
    }

    fn reclaim(&self) -> Result<(), Error> {
        self.graph.settle()
    }

    /// Returns the bytes without the view that the store keeps of the last read state: it belongs to
    /// snapshots.
    fn memory_bytes(&self) -> usize {
        let stats = self.graph.stats().expect("a store in memory tells what it has");
        (stats.memory_bytes() - stats.view_bytes) as usize
    }

    fn insert_edge(&self, src: VertexId, dst: VertexId, weight: f64) -> Result<bool, Error> {
        let (src, dst) = (u64::from(src.0), u64::from(dst.0));
        if self.weighted { self.graph.put_edge((src, dst, weight)) } else { self.graph.put_edge((src, dst)) }
    }

    fn insert_edges(&self, edges: &[(VertexId, VertexId, f64)]) -> Result<(), Error> {
        let mut txn = self.graph.write()?;
        let key = |v: VertexId| u64::from(v.0);
        if self.weighted {
            txn.put_edges(edges.iter().map(|&(src, dst, weight)| (key(src), key(dst), weight)))?;
        } else {
            txn.put_edges(edges.iter().map(|&(src, dst, _)| (key(src), key(dst))))?;
        }
        txn.commit().map(drop)
    }

    fn remove_edge(&self, src: VertexId, dst: VertexId) -> Result<bool, Error> {
        self.graph.remove_edge((u64::from(src.0), u64::from(dst.0)))
    }
}
