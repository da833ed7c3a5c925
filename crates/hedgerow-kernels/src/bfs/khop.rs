//! The vertices within some hops of a source, with their distances.
//!
//! **Result.** For every id of the domain its hops from the source, if these are at most `hops`;
//! [`UNREACHED`](crate::UNREACHED) for all others and for holes.
//!
//! **Input.** Any graph, like [`bfs()`](crate::bfs()), along the edges or against them.
//!
//! **Trick.** That of [`bfs()`](crate::bfs()); the search ends after `hops` levels, also if the last one is
//! found bottom-up. For few vertices around a source of a large graph use `Snapshot::k_hop` of the store: it
//! reads only the vertices that it reaches, and needs no array over all vertices. This kernel is for
//! neighborhoods that are a large part of the graph.
//!
//! **Cited.** S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012.
//!
//! **Cost.** At most O(vertices + edges of the vertices within `hops - 1` hops); memory like
//! [`bfs()`](crate::bfs()).

use hedgerow_core::{Direction, Topology, VertexId};

use super::{BfsConfig, bfs_until, verify};
use crate::registry::prelude::*;

/// The number of hops.
const HOPS: Parameter = Parameter::count("hops", "The most hops from the source", CountRange::ANY, 2);

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The vertices within some hops of a source, and how many hops",
    parameters: &[Parameter::SOURCE, HOPS, Parameter::DIRECTION],
    result: ResultColumn { name: "hops", kind: ResultKind::Hops },
    steps: "vertices",
    cost: "O(vertices + edges) at worst, usually what is reached",
    // Like `bfs`.
    memory: Memory::per_id(25),
    cited: "S. Beamer, K. Asanović, D. Patterson, *Direction-Optimizing Breadth-First Search*, SC 2012",
    ..Kernel::named("khop", "k_hop_neighborhood")
};

fn read(arguments: &Arguments) -> Result<(VertexId, u32, Direction), KernelError> {
    let (source, hops) = (arguments.vertex(&Parameter::SOURCE)?, arguments.count(&HOPS)?);
    Ok((source, hops, arguments.direction(&Parameter::DIRECTION)?))
}

functions!(
    Outcome::Hops,
    read,
    |g, (source, hops, direction), cancel| k_hop_neighborhood_until(g, source, hops, direction, cancel),
    verify::k_hop_neighborhood(g, source, hops, direction)
);

kernel! {
    /// Returns the hops from `source` to each vertex that is at most `hops` away, indexed by vertex id;
    /// [`UNREACHED`](crate::UNREACHED) elsewhere.
    ///
    /// # Errors
    /// The errors of [`bfs`](crate::bfs()).
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn k_hop_neighborhood, k_hop_neighborhood_until<G: Topology>(
        g, source: VertexId, hops: u32, direction: Direction; cancel
    ) -> Vec<u32> {
        bfs_until(g, source, &BfsConfig { direction, hops, ..BfsConfig::default() }, cancel)
    }
}
