//! The cycles through a vertex that are no longer than a bound.
//!
//! **Result.** The first cycles through the vertex with at most `length` edges. A cycle is given by its
//! vertices in order, from that vertex on and without repeating it at the end, and by the number of its
//! edges. A cycle visits no vertex twice. Cycles are in lexicographic order of the ids of their vertices: a
//! cycle precedes longer ones that begin with all its vertices. At its limit the search ends, and the result
//! has a flag for further cycles; on request the search continues and counts all.
//!
//! **Input.** Any graph; weights are not read, repeated edges count once. In a directed graph cycles follow
//! the edges, and two opposite edges between two vertices are a cycle. In an undirected graph a cycle has
//! three edges or more and counts once, not once each way round. An edge from the vertex to itself is a cycle
//! of one edge.
//!
//! **Trick.** First a search against the edges finds the vertices from which the vertex can be reached within
//! the bound, and their distances. Then ways are extended depth first, but only by vertices that are near
//! enough to close the cycle with the edges left. So nearly every way that is begun ends in a cycle. Ways
//! that begin with different neighbours of the vertex are extended in parallel.
//!
//! **Cited.** D. B. Johnson, *Finding All the Elementary Circuits of a Directed Graph*, SIAM Journal on
//! Computing 4(1), 1975; A. Gupta, T. Suzumura, *Finding All Bounded-Length Simple Cycles in a Directed
//! Graph*, 2021, for the pruning by a bound.
//!
//! **Cost.** O(vertices + edges) and the edges of the ways that are extended: at most degree^(length - 1), a
//! large number for long cycles through hubs. Without a count the search extends ways until it has found at
//! most 64 * (limit + 1) cycles. 4 bytes per id of the domain, 21 more for the search.

use hedgerow_core::{Direction, Topology, VertexId};
use rayon::prelude::*;

use crate::bfs::{BfsConfig, depths};
use crate::error::{check_source, checked_bound};
use crate::par::reverse;
use crate::paths::Paths;
use crate::registry::prelude::*;

mod extend;
pub mod verify;

use extend::{Bounds, Ways};

/// The greatest length.
const LENGTH: Parameter = Parameter::count(
    "length",
    "The most edges of a cycle",
    CountRange { least: 1, most: 255, text: "1 to 255" },
    4,
);

/// The number of neighbours of the vertex that are searched in parallel. Each search may find one cycle more
/// than are left up to the limit.
const BRANCHES_TOGETHER: usize = 64;

/// The configuration of a search for cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CycleConfig {
    /// The most edges of a cycle, 1 to 255.
    pub length: u32,
    /// The most cycles to return.
    pub limit: usize,
    /// True to count all cycles; else the search ends when it has found one more than the limit.
    pub count: bool,
    /// The direction in which edges are followed. The cycles against the edges are the cycles along them,
    /// reversed.
    pub direction: Direction,
}

impl Default for CycleConfig {
    fn default() -> Self {
        CycleConfig { length: 4, limit: 100, count: false, direction: Direction::Out }
    }
}

/// The most cycles to return.
const LIMIT: Parameter = Parameter::count(
    "limit",
    "The most cycles that are given; the result says whether there are more",
    CountRange::ANY,
    100,
)
.unreported();

/// The parameter that makes the search continue past the limit.
const COUNT: Parameter = Parameter::new(
    "count",
    "Count all cycles, also past the limit, which may take very long at a vertex with many edges",
    ParameterKind::Flag,
    Absent::Is(Value::Flag(false)),
)
.unreported();

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "The first cycles through a vertex that are no longer than a bound, and on request how many there are",
    input: "any graph; weights are not looked at, repeated edges count once",
    parameters: &[Parameter::SOURCE, LENGTH, LIMIT, COUNT, Parameter::DIRECTION],
    result: ResultColumn { name: "cycles", kind: ResultKind::Paths },
    steps: "first edges",
    cost: "O(vertices + edges), and for each way that can become a cycle, until the limit is reached, the edges of its last vertex",
    // A search; lists of the vertices that can follow on a way, including the list of the source.
    memory: Memory {
        fixed: 256 << 10,
        provided: "the call requests at most 100 cycles of 8 vertices",
        ..Memory::per_id(25)
    },
    cited: "D. B. Johnson, *Finding All the Elementary Circuits of a Directed Graph*, SIAM Journal on Computing 4(1), 1975; \
            A. Gupta, T. Suzumura, *Finding All Bounded-Length Simple Cycles in a Directed Graph*, 2021",
    ..Kernel::named("cycles", "cycles_through")
};

fn read(arguments: &Arguments) -> Result<(VertexId, CycleConfig), KernelError> {
    let config = CycleConfig {
        length: arguments.count(&LENGTH)?,
        limit: arguments.count(&LIMIT)? as usize,
        count: arguments.flag(&COUNT)?,
        direction: arguments.direction(&Parameter::DIRECTION)?,
    };
    Ok((arguments.vertex(&Parameter::SOURCE)?, config))
}

functions!(
    Outcome::Paths,
    read,
    |g, (source, config), cancel| cycles_through_until(g, source, &config, cancel),
    {
        let all = verify::cycles_through(g, source, config.length, config.limit, config.direction);
        if config.count { all } else { all.stopped() }
    }
);

kernel! {
    /// Returns the cycles through `source` within the bounds of `config`.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::OutOfRange`] for a length outside its range;
    /// [`KernelError::TooManyVertices`];
    /// [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self); blocks the caller until all tasks are done.
    pub fn cycles_through, cycles_through_until<G: Topology>(
        g, source: VertexId, config: &CycleConfig; cancel
    ) -> Paths {
        cycles(g, source, config, cancel)
    }
}

fn cycles<G: Topology>(
    g: &G,
    source: VertexId,
    config: &CycleConfig,
    cancel: &Cancel,
) -> Result<Paths, KernelError<G::Error>> {
    checked_bound(g.vertex_bound())?;
    LENGTH.check_count(config.length)?;
    check_source(g, source)?;
    let near =
        BfsConfig { direction: reverse(config.direction), hops: config.length - 1, ..BfsConfig::default() };
    let hops = depths(g, source, &near, cancel)?;
    let bounds =
        Bounds { g, source, hops: &hops, length: config.length, direction: config.direction, cancel };
    hedgerow_par::run(|| {
        let mut first = Ways::new(&bounds, vec![source], config.limit, config.count)?;
        let branches = first.next().map_err(KernelError::Topology)?;
        let mut found = first.found;
        // The search is the first step; then each vertex that can follow the source is a step.
        cancel.begin(1 + branches.len() as u64);
        cancel.step(1);
        for some in branches.chunks(BRANCHES_TOGETHER) {
            if found.more() && !config.count {
                break;
            }
            let left = config.limit.saturating_sub(found.len());
            let extend = |&v: &VertexId| -> Result<Paths, KernelError<G::Error>> {
                let mut ways = Ways::new(&bounds, vec![source, v], left, config.count)?;
                ways.extend().map_err(KernelError::Topology)?;
                cancel.step(1);
                Ok(ways.found)
            };
            for more in hedgerow_par::map(some.par_iter().with_max_len(1), extend) {
                found.append(&more?, config.limit);
            }
            cancel.check()?;
        }
        cancel.check()?;
        Ok(if config.count { found } else { found.stopped() })
    })
}
