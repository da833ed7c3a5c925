//! Engines of any type behind one trait. Each method makes many operations, which are compiled for the
//! engine. A call through the trait therefore costs nothing compared with them, and the measuring code is
//! compiled once.

use std::hint::black_box;
use std::ops::ControlFlow;

use hedgerow_core::{
    Block, Capability, Direction, DynamicGraph, GraphSnapshot, LocalVertex, SubgraphId, Update, VertexId,
};

use crate::Result;
use crate::kernel::{Answer, Kernel};

/// An edge with its weight, which is 1 if the work has no weights.
pub type Edge = (VertexId, VertexId, f64);

/// The number of neighbours that a read met, and the sum of their ids. Both are the same on each engine.
pub type Sum = (usize, u64);

/// The number of vertices that one transaction inserts.
const VERTEX_BATCH: usize = 1 << 16;

/// The edges of one of several threads: every `step`-th edge, from `first` on.
#[derive(Clone, Copy)]
pub struct Share<'a> {
    edges: &'a [Edge],
    first: usize,
    step: usize,
}

impl<'a> Share<'a> {
    /// Returns a share with all edges.
    pub fn all(edges: &'a [Edge]) -> Share<'a> {
        Share { edges, first: 0, step: 1 }
    }

    /// Returns the edges of thread `nth` of `threads`; `threads` counts as at least 1.
    pub fn of(edges: &'a [Edge], nth: usize, threads: usize) -> Share<'a> {
        Share { edges, first: nth, step: threads.max(1) }
    }

    fn iter(self) -> impl Iterator<Item = &'a Edge> {
        self.edges.iter().skip(self.first).step_by(self.step)
    }
}

/// A graph of any type that can change.
pub trait Subject: Sync {
    /// True if the engine lacks this capability.
    fn lacks(&self, capability: Capability) -> bool;
    /// Inserts the vertices `0..count`, many to a transaction.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn insert_vertices(&self, count: usize) -> Result<()>;
    /// Inserts edges, each in a transaction of its own.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn insert(&self, edges: Share<'_>) -> Result<()>;
    /// Removes edges, each in a transaction of its own.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn remove(&self, edges: Share<'_>) -> Result<()>;
    /// Inserts edges in one transaction.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn insert_batch(&self, edges: &[Edge]) -> Result<()>;
    /// Returns the same as [`DynamicGraph::memory_bytes`].
    fn memory_bytes(&self) -> usize;
    /// Opens a snapshot.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn snapshot(&self) -> Result<Box<dyn Reader>>;
}

/// A snapshot of any type.
pub trait Reader: Sync {
    /// Returns the number of edges.
    fn edge_count(&self) -> u64;
    /// Returns the number of `edges` that exist.
    fn search(&self, edges: &[(VertexId, VertexId)]) -> usize;
    /// Returns the weight of an edge, if the edge exists.
    fn weight(&self, edge: (VertexId, VertexId)) -> Option<f64>;
    /// Returns the number of ids that are vertices.
    fn contains(&self, vertices: &[VertexId]) -> usize;
    /// Returns the sum of the degrees.
    fn degrees(&self, vertices: &[VertexId]) -> usize;
    /// Reads all lists in order, block by block.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn scan(&self) -> Result<Sum>;
    /// Reads the lists of these vertices.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn visit(&self, vertices: &[VertexId]) -> Result<Sum>;
    /// Reads the lists of these vertices, and the lists of the first `followed` neighbours of each.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn two_hops(&self, vertices: &[VertexId], followed: usize) -> Result<Sum>;
    /// Runs a kernel.
    ///
    /// # Errors
    /// Returns the errors of the engine.
    fn run(&self, kernel: Kernel, sources: &[VertexId]) -> Result<Answer>;
}

/// Makes a subject of a graph.
pub(crate) fn subject<G: DynamicGraph + 'static>(graph: G) -> Box<dyn Subject> {
    Box::new(Held(graph))
}

struct Held<G>(G);

impl<G: DynamicGraph> Subject for Held<G> {
    fn lacks(&self, capability: Capability) -> bool {
        G::LACKS.contains(&capability)
    }

    fn insert_vertices(&self, count: usize) -> Result<()> {
        let vertices: Vec<Update> = (0..count as u32).map(|v| Update::InsertVertex(VertexId(v))).collect();
        for batch in vertices.chunks(VERTEX_BATCH) {
            self.0.write(batch)?;
        }
        Ok(())
    }

    fn insert(&self, edges: Share<'_>) -> Result<()> {
        for &(src, dst, weight) in edges.iter() {
            self.0.insert_edge(src, dst, weight)?;
        }
        Ok(())
    }

    fn remove(&self, edges: Share<'_>) -> Result<()> {
        for &(src, dst, _) in edges.iter() {
            self.0.remove_edge(src, dst)?;
        }
        Ok(())
    }

    fn insert_batch(&self, edges: &[Edge]) -> Result<()> {
        Ok(self.0.insert_edges(edges)?)
    }

    fn memory_bytes(&self) -> usize {
        self.0.memory_bytes()
    }

    fn snapshot(&self) -> Result<Box<dyn Reader>> {
        Ok(Box::new(Opened(self.0.snapshot()?)))
    }
}

struct Opened<S>(S);

impl<S: GraphSnapshot> Reader for Opened<S> {
    fn edge_count(&self) -> u64 {
        self.0.edge_count()
    }

    fn search(&self, edges: &[(VertexId, VertexId)]) -> usize {
        edges.iter().filter(|edge| self.0.search_edge(edge.0, edge.1).is_some()).count()
    }

    fn weight(&self, (src, dst): (VertexId, VertexId)) -> Option<f64> {
        self.0.search_edge(src, dst)
    }

    fn contains(&self, vertices: &[VertexId]) -> usize {
        vertices.iter().filter(|&&v| self.0.contains(v)).count()
    }

    fn degrees(&self, vertices: &[VertexId]) -> usize {
        vertices.iter().map(|&v| self.0.degree(v, Direction::Out)).sum()
    }

    fn scan(&self) -> Result<Sum> {
        let (mut read, mut total) = (0, 0u64);
        let end = SubgraphId(self.0.vertex_bound().div_ceil(64) as u32);
        self.0.scan(SubgraphId(0)..end, Direction::Out, |_, block| {
            for local in (0..64).map(LocalVertex) {
                let _ = block.for_each_run(local, |run| {
                    read += run.len();
                    total = total.wrapping_add(ids(run));
                    ControlFlow::Continue(())
                });
            }
            ControlFlow::Continue(())
        })?;
        Ok((read, black_box(total)))
    }

    fn visit(&self, vertices: &[VertexId]) -> Result<Sum> {
        visit(&self.0, vertices.iter().copied())
    }

    fn two_hops(&self, vertices: &[VertexId], followed: usize) -> Result<Sum> {
        let (mut read, mut total) = (0, 0u64);
        let mut first = Vec::new();
        for &v in vertices {
            first.clear();
            self.0.visit([v], Direction::Out, |_, run| first.extend_from_slice(run))?;
            // The neighbours are sorted, so that every engine follows the same ones.
            first.sort_unstable();
            let (further, sum) = visit(&self.0, first.iter().copied().take(followed))?;
            read += first.len() + further;
            total = total.wrapping_add(sum);
        }
        Ok((read, total))
    }

    fn run(&self, kernel: Kernel, sources: &[VertexId]) -> Result<Answer> {
        kernel.run(&self.0, sources)
    }
}

/// Sums the neighbours, so that a read really reads them. All engines share this one function. Inlined into
/// the code of each engine, the same loop was half as fast again for one engine in one build, and for another
/// in the next.
#[inline(never)]
fn ids(run: &[VertexId]) -> u64 {
    run.iter().map(|v| u64::from(v.0)).sum()
}

fn visit<S: GraphSnapshot>(snapshot: &S, vertices: impl IntoIterator<Item = VertexId>) -> Result<Sum> {
    let (mut read, mut total) = (0, 0u64);
    snapshot.visit(vertices, Direction::Out, |_, run| {
        read += run.len();
        total = total.wrapping_add(ids(run));
    })?;
    Ok((read, black_box(total)))
}
