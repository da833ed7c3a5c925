//! Drawing neighbours by the weights of the edges to them.

use std::cell::Cell;
use std::sync::{Mutex, PoisonError};

use hedgerow_core::{Direction, VertexId, WeightedTopology};

use crate::KernelError;
use crate::cancel::Meter;
use crate::error::weight_error;
use crate::random::Random;
use crate::sssp::{for_each_neighbor, visit_edges};
use crate::walks::draw::{Asked, Drawing, Draws, NONE, WALKS_TOGETHER};

/// The most edges of a list that each thread reads in a buffer of its own: longer ones share one, so that
/// memory does not grow with the number of threads.
const LONG: usize = 1 << 16;

/// The most walks of a work item, so that progress is reported from time to time.
const MOST_TOGETHER: usize = 1 << 17;

/// The neighbours of one vertex with their weights, which are replaced by prefix sums.
type List = Vec<(VertexId, f64)>;

/// The buffer for a list of any length.
#[derive(Default)]
pub(super) struct Long(Mutex<List>);

/// A rule that draws by weight.
pub(super) struct ByWeight<'a> {
    list: List,
    long: &'a Long,
    /// The first walk that could not continue, and its error.
    refused: Option<(usize, KernelError)>,
}

impl<'a> ByWeight<'a> {
    pub(super) fn new(long: &'a Long) -> Self {
        ByWeight { list: Vec::new(), long, refused: None }
    }

    /// Draws a neighbour of `v` for each of `walks`, which are at `v`. The list may be in any order.
    fn draw_of(v: VertexId, list: &mut List, walks: &[Asked], draws: &mut Draws) -> Result<(), KernelError> {
        let order = |a: &(VertexId, f64), b: &(VertexId, f64)| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1));
        if !list.is_sorted_by(|a, b| order(a, b).is_le()) {
            list.sort_unstable_by(order);
        }
        let total = summed_up(v, list)?;
        for &(_, walk) in walks {
            draws.drawn[walk] = if total > 0.0 { drawn(list, total, &mut draws.random[walk]) } else { NONE };
        }
        Ok(())
    }

    /// Ends walks at a vertex whose weights are not allowed.
    fn end(&mut self, error: KernelError, walks: &[Asked], draws: &mut Draws) {
        walks.iter().for_each(|&(_, walk)| draws.drawn[walk] = NONE);
        let Some(&(_, first)) = walks.first() else { return };
        if self.refused.as_ref().is_none_or(|&(walk, _)| first < walk) {
            self.refused = Some((first, error));
        }
    }

    /// Draws at a vertex with a list of `length` edges, while no other thread draws at such a vertex.
    fn draw_at_long<G: WeightedTopology>(
        &mut self,
        g: &G,
        (v, length): (VertexId, usize),
        direction: Direction,
        (walks, draws): (&[Asked], &mut Draws),
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        let mut list = self.long.0.lock().unwrap_or_else(PoisonError::into_inner);
        if list.capacity() < length {
            // The old buffer is freed first.
            *list = Vec::new();
            list.reserve_exact(length);
        }
        list.clear();
        visit_edges(g, [v], direction, meter, |_, u, weight| list.push((u, weight)))?;
        let outcome = Self::draw_of(v, &mut list, walks, draws);
        drop(list);
        if let Err(error) = outcome {
            self.end(error, walks, draws);
        }
        Ok(())
    }
}

impl<G: WeightedTopology> Drawing<G> for ByWeight<'_> {
    /// Returns a large number: a list is read once for all walks that are at its vertex.
    fn walks_together(walks: usize) -> usize {
        walks.div_ceil(hedgerow_par::threads()).clamp(WALKS_TOGETHER, MOST_TOGETHER)
    }

    fn draw(
        &mut self,
        g: &G,
        direction: Direction,
        asked: &[Asked],
        draws: &mut Draws,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        let mut list = std::mem::take(&mut self.list);
        list.clear();
        let (mut at, mut length, mut long, mut behind) = (None, 0usize, Vec::new(), 0);
        let mut finish = |v: VertexId, list: &mut List, length: usize| {
            let walks = walks_at(v, asked, &mut behind);
            if length > LONG {
                long.push((v, length, walks));
            } else if let Err(error) = Self::draw_of(v, list, walks, draws) {
                self.end(error, walks, draws);
            }
        };
        let is_over = Cell::new(meter.is_over());
        let groups = asked.chunk_by(|a, b| a.0 == b.0).filter_map(|group| group.first());
        let vertices = groups.map(|&(v, _)| v).take_while(|_| !is_over.get());
        g.visit_weighted(vertices, direction, |v, run, weights| {
            if let Some(before) = at.replace(v).filter(|&before| before != v) {
                finish(before, &mut list, length);
                list.clear();
                length = 0;
            }
            length += run.len();
            match length <= LONG {
                true => for_each_neighbor(run, weights, meter, |u, weight| list.push((u, weight))),
                false => meter.parts(run, drop),
            }
            is_over.set(meter.is_over());
        })?;
        if let Some(last) = at {
            finish(last, &mut list, length);
        }
        self.list = list;
        for (v, length, walks) in long.into_iter().take_while(|_| !is_over.get()) {
            self.draw_at_long(g, (v, length), direction, (walks, draws), meter)?;
            is_over.set(meter.is_over());
        }
        Ok(())
    }

    fn refused(self) -> Option<KernelError> {
        self.refused.map(|(_, error)| error)
    }
}

/// Returns the walks that are at a vertex. It first looks `behind` the walks of the last vertex, since
/// vertices usually ascend.
fn walks_at<'a>(v: VertexId, asked: &'a [Asked], behind: &mut usize) -> &'a [Asked] {
    if asked.get(*behind).is_none_or(|&(at, _)| at != v) {
        *behind = asked.partition_point(|&(at, _)| at < v);
    }
    let from = *behind;
    *behind += asked[from..].iter().take_while(|&&(at, _)| at == v).count();
    &asked[from..*behind]
}

/// Replaces weights by prefix sums; returns the total.
fn summed_up(v: VertexId, list: &mut List) -> Result<f64, KernelError> {
    let mut total = 0.0;
    for (to, weight) in list {
        if !(0.0..f64::INFINITY).contains(weight) {
            return Err(weight_error(v, *to, *weight));
        }
        total += *weight;
        *weight = total;
    }
    match total == 0.0 || total.is_normal() {
        true => Ok(total),
        false => Err(KernelError::WeightSum { vertex: v, sum: total }),
    }
}

/// Draws a number below `total`; returns the first neighbour whose prefix sum exceeds it.
fn drawn(list: &List, total: f64, random: &mut Random) -> u32 {
    let part = random.unit() * total;
    let place = list.partition_point(|&(_, sum)| sum <= part);
    list.get(place).map_or(NONE, |&(v, _)| v.0)
}
