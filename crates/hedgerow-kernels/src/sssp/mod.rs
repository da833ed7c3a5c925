//! Shortest paths from one source.
//!
//! **Result.** For every vertex the least sum of weights along a path from the source, [`f64::INFINITY`]
//! where there is no path or no vertex. Sums are added up from the source on, in 64 bits. Rounding never
//! swaps the order of two sums, so the least sum does not depend on which path is found first. The result is
//! the same to the last bit for any number of threads and any bucket width.
//!
//! **Input.** Any graph whose reachable edges have weights of 0 or more. An edge of infinite weight is never
//! crossed. A weight that is negative or not a number is refused at the end of the search. Without weights
//! every edge weighs 1, and [`bfs()`](crate::bfs()) gives the same answer faster. Directed graphs are
//! followed along or against their edges.
//!
//! **Trick.** Vertices wait in buckets by distance, each bucket `delta` wide, and the nearest bucket is
//! emptied in parallel until it stays empty. Vertices within a bucket may be settled in the wrong order, and
//! are then visited again, which costs less than a priority queue's strict order would (delta-stepping). Each
//! task fills buckets of its own. A task empties its additions to the present bucket itself while they are
//! few (bucket fusion), so long paths need no round of all threads for every few vertices. Only a window of
//! buckets exists at a time; vertices beyond it wait unsorted until the window moves. If most of them are far
//! beyond, the buckets are widened, so there are few buckets for any weights. The vertices of a bucket are
//! anywhere in memory, so the data of the next ones is prefetched in three steps: the places of lists, the
//! lists and weights, and the additions to them.
//!
//! **Cited.** U. Meyer, P. Sanders, *Δ-stepping: a parallelizable shortest path algorithm*, Journal of
//! Algorithms 49(1), 2003; Y. Zhang, A. Brahmakshatriya, X. Chen, L. Dhulipala, S. Kamil, S. Amarasinghe, J.
//! Shun, *Optimizing Ordered Graph Algorithms with GraphIt*, CGO 2020, for bucket fusion.
//!
//! **Cost.** O((vertices + edges) · visits of a vertex), near 1 to 2 for random weights; 8 bytes per id of
//! the domain, and 4 per edge that improves a distance.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};

use hedgerow_core::{Direction, VertexId, WeightedTopology, simd};
use rayon::prelude::*;

use crate::cancel::Meter;
use crate::error::{check_source, checked_bound};
use crate::par::{LISTS_AHEAD, PLACES_AHEAD, sort_if_read_together};
use crate::registry::prelude::*;
use crate::watch::Watch;

mod buckets;
pub mod verify;
mod weights;

use buckets::{Buckets, Task, WINDOW};
use weights::choose_width;
pub(crate) use weights::{for_each_neighbor, visit_edges};

/// The width of a bucket.
const DELTA: Parameter = Parameter::new(
    "delta",
    "The width of a bucket of distances: changes the time, not the result",
    ParameterKind::Number(NumberRange::POSITIVE),
    Absent::Without("by a sample of the weights"),
)
.unreported();

/// The number of vertices ahead for which the additions to lists are prefetched.
const ADDED_AHEAD: usize = 3;

/// The least size of a bucket that threads share; the calling thread empties smaller ones.
const SEQUENTIAL: usize = 256;

/// The most vertices that a task adds to the present bucket and empties itself.
const FUSED: usize = 1024;

/// The configuration of a search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SsspConfig {
    /// The direction in which edges are followed; without effect on undirected graphs.
    pub direction: Direction,
    /// The width of a bucket, above 0 and finite; if none is given it is chosen by a sample of the weights.
    /// Changes the time, never the result.
    pub delta: Option<f64>,
}

impl Default for SsspConfig {
    fn default() -> Self {
        SsspConfig { direction: Direction::Out, delta: None }
    }
}

pub(crate) static KERNEL: Kernel = Kernel {
    summary: "Least sums of weights along paths from a source vertex to every other vertex",
    input: "any graph; weights that a path from the source reaches are 0 or more",
    reads_weights: true,
    parameters: &[Parameter::SOURCE, Parameter::DIRECTION, DELTA],
    result: ResultColumn { name: "distance", kind: ResultKind::Distances },
    steps: "vertices",
    cost: "O(vertices + edges) times a small factor",
    // A distance per vertex; one place in a bucket, and one for sorting when the window moves, in lists that
    // grow.
    memory: Memory {
        provided: "vertices wait once at a time; one whose distance improves while it waits, waits once more",
        ..Memory::per_id(64)
    },
    cited: "U. Meyer, P. Sanders, *Δ-stepping: a parallelizable shortest path algorithm*, Journal of Algorithms 49(1), \
            2003; Y. Zhang et al., *Optimizing Ordered Graph Algorithms with GraphIt*, CGO 2020",
    ..Kernel::named("sssp", "sssp")
};

fn read(arguments: &Arguments) -> Result<(VertexId, SsspConfig), KernelError> {
    let direction = arguments.direction(&Parameter::DIRECTION)?;
    let config = SsspConfig { direction, delta: arguments.optional_number(&DELTA) };
    Ok((arguments.vertex(&Parameter::SOURCE)?, config))
}

functions!(
    Outcome::Distances,
    read,
    |g, (source, config), cancel| sssp_until(g, source, &config, cancel),
    verify::sssp(g, source, config.direction)
);

kernel! {
    /// Returns the distance of every vertex from `source`, indexed by vertex id; [`f64::INFINITY`] where
    /// there is no path.
    ///
    /// # Errors
    /// [`KernelError::SourceNotLive`]; [`KernelError::Weight`] if an edge that a path reaches has a weight
    /// below 0 or not a number; [`KernelError::OutOfRange`] for a width of buckets;
    /// [`KernelError::TooManyVertices`]; [`KernelError::Topology`] if the graph cannot be read.
    ///
    /// # Cost
    /// See the [module](self). Blocks the caller until all tasks are done.
    pub fn sssp, sssp_until<G: WeightedTopology>(
        g, source: VertexId, config: &SsspConfig; cancel
    ) -> Vec<f64> {
        checked_bound::<G::Error>(g.vertex_bound())?;
        if let Some(delta) = config.delta {
            DELTA.check_number(delta)?;
        }
        check_source(g, source)?;
        cancel.begin(g.vertex_count() as u64);
        distances(g, source, config, cancel)
    }
}

/// Searches as a part of a kernel: counts the vertices that it reaches as steps of the kernel. The source is
/// live.
pub(crate) fn distances<G: WeightedTopology>(
    g: &G,
    source: VertexId,
    config: &SsspConfig,
    cancel: &Cancel,
) -> Result<Vec<f64>, KernelError<G::Error>> {
    hedgerow_par::run(|| {
        let width = match config.delta {
            Some(width) => width,
            None => choose_width(g, config.direction, cancel).map_err(KernelError::Topology)?,
        };
        let vertices = (0..g.vertex_bound()).into_par_iter().with_min_len(1 << 14);
        let distance = hedgerow_par::fine::map(vertices, |_| AtomicU64::new(UNREACHED_BITS));
        let refused = AtomicBool::new(false);
        let mut search =
            Search { g, direction: config.direction, distance, refused, watch: Watch::new(cancel) };
        search.run(source, Buckets::new(width));
        search.watch.check()?;
        search.finish()
    })
}

/// Searches from live vertices, one after another, and calls `f` with each and the distances from it. Its
/// steps are the searches.
pub(crate) fn for_each_source<G: WeightedTopology>(
    g: &G,
    sources: &[VertexId],
    direction: Direction,
    cancel: &Cancel,
    mut f: impl FnMut(VertexId, &[f64]) -> Result<(), KernelError<G::Error>>,
) -> Result<(), KernelError<G::Error>> {
    // All searches have one width of buckets, since finding it reads lists.
    let delta = choose_width(g, direction, cancel).map_err(KernelError::Topology)?;
    let (config, of_search) = (SsspConfig { direction, delta: Some(delta) }, cancel.of_part());
    cancel.begin(sources.len() as u64);
    for &source in sources {
        f(source, &distances(g, source, &config, &of_search)?)?;
        cancel.step(1);
    }
    Ok(())
}

/// The bits of the distance of a vertex that was not reached.
const UNREACHED_BITS: u64 = f64::INFINITY.to_bits();

struct Search<'g, G: WeightedTopology> {
    g: &'g G,
    direction: Direction,
    /// Distances as bits: the bits of numbers from 0 on have the same order as the numbers. Accesses are
    /// relaxed: the value is the whole message, a stale one is only too high, and the joins between buckets
    /// order the rest.
    distance: Vec<AtomicU64>,
    /// True if the search met a weight that is not allowed.
    refused: AtomicBool,
    watch: Watch<'g, G::Error>,
}

impl<G: WeightedTopology> Search<'_, G> {
    fn run(&self, source: VertexId, mut buckets: Buckets) {
        self.distance[source.index()].store(0f64.to_bits(), Relaxed);
        self.watch.cancel.step(1);
        let mut tasks: Vec<Task> = (0..hedgerow_par::threads()).map(|_| Task::new()).collect();
        let mut frontier = vec![source.0];
        let mut place = 0;
        loop {
            let taken = AtomicUsize::new(0);
            if frontier.len() < SEQUENTIAL || tasks.len() == 1 {
                self.work::<false>(&mut tasks[0], &frontier, &taken, buckets, place);
            } else {
                let work = |task: &mut Task| self.work::<true>(task, &frontier, &taken, buckets, place);
                hedgerow_par::for_each(tasks.par_iter_mut().with_max_len(1), work);
            }
            self.watch.cancel.step(tasks.iter_mut().map(|task| std::mem::take(&mut task.reached)).sum());
            if self.watch.is_over() {
                return;
            }
            frontier.clear();
            place = match tasks.iter().filter_map(|task| task.next(place)).min() {
                Some(place) => place,
                None => match self.move_window(&mut tasks, &mut buckets) {
                    true => 0,
                    false => return,
                },
            };
            tasks.iter_mut().for_each(|task| task.take(place, &mut frontier));
            sort_if_read_together::<G, _>(&mut frontier);
        }
    }

    /// Empties a share of the frontier, then its own additions to the same bucket while they are few.
    /// `SHARED`: other threads do so at the same time. If not, distances are lowered without locked
    /// instructions.
    fn work<const SHARED: bool>(
        &self,
        task: &mut Task,
        frontier: &[u32],
        taken: &AtomicUsize,
        buckets: Buckets,
        place: usize,
    ) {
        let Some(mut meter) = self.watch.meter() else { return };
        loop {
            let from = taken.fetch_add(G::VISITED_TOGETHER, Relaxed);
            let Some(rest) = frontier.get(from..).filter(|rest| !rest.is_empty()) else { break };
            self.relax_all::<SHARED>(
                &rest[..rest.len().min(G::VISITED_TOGETHER)],
                task,
                (buckets, place),
                &mut meter,
            );
        }
        let mut mine = std::mem::take(&mut task.scratch);
        while (1..FUSED).contains(&task.window[place].len()) && !self.watch.has_failed() {
            mine.clear();
            task.take(place, &mut mine);
            self.relax_all::<SHARED>(&mine, task, (buckets, place), &mut meter);
        }
        task.scratch = mine;
    }

    /// Offers the neighbours of `vertices` the paths through them, except for vertices that were settled in
    /// an earlier bucket after they were put into this one. The vertices are anywhere in memory, so the data
    /// of the next ones is prefetched.
    fn relax_all<const SHARED: bool>(
        &self,
        vertices: &[u32],
        task: &mut Task,
        (buckets, place): (Buckets, usize),
        meter: &mut Meter<'_>,
    ) {
        let (g, direction) = (self.g, self.direction);
        let is_over = Cell::new(meter.is_over());
        let frontier = vertices.iter().enumerate().take_while(|_| !is_over.get()).filter_map(|(i, &u)| {
            if let Some(&far) = vertices.get(i + PLACES_AHEAD) {
                g.prefetch_place(VertexId(far), direction);
                simd::prefetch(&raw const self.distance[far as usize]);
            }
            if let Some(&near) = vertices.get(i + LISTS_AHEAD) {
                g.prefetch_list(VertexId(near), direction);
                g.prefetch_weights(VertexId(near), direction);
            }
            if let Some(&nearest) = vertices.get(i + ADDED_AHEAD) {
                g.prefetch_added(VertexId(nearest), direction);
            }
            (buckets.place(self.distance_of(VertexId(u))) >= place).then_some(VertexId(u))
        });
        let visited = g.visit_weighted(frontier, direction, |u, run, weights| {
            self.relax::<SHARED>((u, run, weights), task, buckets, meter);
            is_over.set(meter.is_over());
        });
        self.watch.note(visited);
    }

    /// Offers neighbours of `u` the paths through `u`.
    #[inline]
    fn relax<const SHARED: bool>(
        &self,
        (u, run, weights): (VertexId, &[VertexId], &[f64]),
        task: &mut Task,
        buckets: Buckets,
        meter: &mut Meter<'_>,
    ) {
        let reached = self.distance_of(u);
        let mut sound = true;
        for_each_neighbor(run, weights, meter, |v, weight| {
            // An edge that is refused is not crossed either. Along a path distances never shrink, so the
            // search ends with any weights, and it reaches the same vertices whichever thread meets the edge
            // first.
            if weight.is_nan() || weight < 0.0 {
                sound = false;
                return;
            }
            let through_u = reached + weight;
            let slot = &self.distance[v.index()];
            let mut known = slot.load(Relaxed);
            while through_u.to_bits() < known {
                let lowered = if SHARED {
                    slot.compare_exchange_weak(known, through_u.to_bits(), Relaxed, Relaxed)
                } else {
                    slot.store(through_u.to_bits(), Relaxed);
                    Ok(known)
                };
                match lowered {
                    Ok(_) => {
                        task.reached += u64::from(known == UNREACHED_BITS);
                        task.push(buckets.place(through_u), v.0);
                        break;
                    }
                    Err(now) => known = now,
                }
            }
        });
        if !sound {
            self.refused.store(true, Relaxed);
        }
    }

    #[inline]
    fn distance_of(&self, v: VertexId) -> f64 {
        f64::from_bits(self.distance[v.index()].load(Relaxed))
    }

    /// Moves the window to the nearest of the vertices that wait beyond it, and widens the buckets if most of
    /// them would remain beyond. `false` if there are none.
    fn move_window(&self, tasks: &mut [Task], buckets: &mut Buckets) -> bool {
        let distance = |v: u32| self.distance_of(VertexId(v));
        let mut waiting: Vec<(f64, u32)> = Vec::new();
        for task in tasks.iter_mut() {
            let beyond = task.beyond.drain(..).map(|v| (distance(v), v));
            waiting.extend(beyond.filter(|&(d, _)| buckets.place(d) == WINDOW));
        }
        if waiting.is_empty() {
            return false;
        }
        let middle = waiting.len() / 2;
        let median = waiting.select_nth_unstable_by(middle, |a, b| a.0.total_cmp(&b.0)).1.0;
        let nearest = waiting[..=middle].iter().fold(median, |least, &(d, _)| least.min(d));
        if (median - nearest) * buckets.per_unit >= WINDOW as f64 {
            *buckets = Buckets::new((median - nearest) / (WINDOW / 2) as f64);
        }
        buckets.first = buckets.number(nearest);
        for (d, v) in waiting {
            tasks[0].push(buckets.place(d), v);
        }
        true
    }

    fn finish(self) -> Result<Vec<f64>, KernelError<G::Error>> {
        let refused = self.refused.into_inner();
        let distance: Vec<f64> =
            self.distance.into_iter().map(|bits| f64::from_bits(bits.into_inner())).collect();
        if !refused {
            return Ok(distance);
        }
        // The search crossed only edges with valid weights, so it reached the same vertices in every run, and
        // the first refused edge is the same too.
        let mut meter = self.watch.cancel.meter().ok_or(KernelError::Cancelled)?;
        let reached = (0..).map(VertexId).zip(&distance).filter(|(_, d)| d.is_finite()).map(|(u, _)| u);
        let mut first: Option<(VertexId, VertexId, f64)> = None;
        let visited = visit_edges(self.g, reached, self.direction, &mut meter, |from, to, weight| {
            let is_bad = weight.is_nan() || weight < 0.0;
            if is_bad && first.is_none_or(|first| (from, to) < (first.0, first.1)) {
                first = Some((from, to, weight));
            }
        });
        visited.map_err(KernelError::Topology)?;
        self.watch.cancel.check()?;
        first.map_or(Ok(distance), |(from, to, weight)| Err(KernelError::Weight { from, to, weight }))
    }
}
