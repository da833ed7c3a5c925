//! The steps of the walks of one work item.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SubgraphId, Topology, VertexId};

use super::config::WalkConfig;
use crate::KernelError;
use crate::cancel::Meter;
use crate::random::Random;

/// The mark of no vertex: a walk has ended.
pub(crate) const NONE: u32 = u32::MAX;

/// The number of walks of a work item.
pub(crate) const WALKS_TOGETHER: usize = 2048;

/// Walks that take each step together.
pub(super) struct Together<'a, G, D> {
    g: &'a G,
    config: &'a WalkConfig,
    drawing: D,
    /// A row for each walk.
    steps: &'a mut [u32],
    draws: Draws,
    meter: Meter<'a>,
}

/// The draws of the walks of one work item, by their places in it.
pub(crate) struct Draws {
    /// The random numbers of each walk.
    pub(crate) random: Vec<Random>,
    /// The vertex that each walk drew, before its refusal is decided; [`NONE`] if the walk ends.
    pub(crate) drawn: Vec<u32>,
}

/// A vertex, and the walk that reads its list.
pub(crate) type Asked = (VertexId, usize);

/// A rule by which a neighbour is drawn.
pub(crate) trait Drawing<G: Topology> {
    /// Returns the best number of walks in one work item, if there are `walks` in all.
    fn walks_together(walks: usize) -> usize;

    /// Draws one of the neighbours for each walk of `asked`, which is in order.
    fn draw(
        &mut self,
        g: &G,
        direction: Direction,
        asked: &[Asked],
        draws: &mut Draws,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error>;

    /// Returns the error of the first walk that could not continue, if there is one.
    fn refused(self) -> Option<KernelError>;
}

/// A rule by which every neighbour has the same chance.
pub(super) struct Alike;

impl<G: Topology> Drawing<G> for Alike {
    fn walks_together(_walks: usize) -> usize {
        WALKS_TOGETHER
    }

    fn draw(
        &mut self,
        g: &G,
        direction: Direction,
        asked: &[Asked],
        Draws { random, drawn }: &mut Draws,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        let mut list = Vec::new();
        for_each_block(g, direction, asked, meter, |block, local, walk| {
            let degree = block.degree(local);
            let place = random[walk].below(degree);
            let main = block.main(local).filter(|main| main.len() == degree);
            drawn[walk] = match main {
                _ if degree == 0 => NONE,
                Some(main) => main[place].0,
                None => {
                    list.clear();
                    let _goes_on = block.for_each_run(local, |run| {
                        list.extend_from_slice(run);
                        ControlFlow::Continue(())
                    });
                    list.sort_unstable();
                    list.get(place).map_or(NONE, |v| v.0)
                }
            };
        })
    }

    fn refused(self) -> Option<KernelError> {
        None
    }
}

impl<'a, G: Topology, D: Drawing<G>> Together<'a, G, D> {
    /// Returns the walks of these rows; `first` is the number of the first walk.
    pub(super) fn new(
        g: &'a G,
        config: &'a WalkConfig,
        drawing: D,
        steps: &'a mut [u32],
        first: u64,
        meter: Meter<'a>,
    ) -> Self {
        let walks = steps.len() / (config.steps as usize + 1);
        let random = (0..walks as u64).map(|walk| Random::new(config.seed, first + walk)).collect();
        Together { g, config, drawing, steps, draws: Draws { random, drawn: vec![NONE; walks] }, meter }
    }

    /// Takes all steps; returns the error of the first walk that could not continue, if there is one.
    pub(super) fn walk(mut self) -> Result<Option<KernelError>, G::Error> {
        let width = self.config.steps as usize + 1;
        for step in 1..width {
            let at = |walk: usize| VertexId(self.steps[walk * width + step - 1]);
            let under_way =
                (0..self.draws.random.len()).map(|walk| (at(walk), walk)).filter(|(v, _)| v.0 != NONE);
            let mut asked: Vec<Asked> = under_way.collect();
            while !asked.is_empty() && !self.meter.is_over() {
                asked.sort_unstable();
                self.drawing.draw(self.g, self.config.direction, &asked, &mut self.draws, &mut self.meter)?;
                asked.retain(|&(_, walk)| self.draws.drawn[walk] != NONE);
                let refused = if step == 1 || self.config.is_uniform() {
                    Vec::new()
                } else {
                    self.refused(&asked, step)?
                };
                let mut refused = refused.into_iter().peekable();
                asked.retain(|&(_, walk)| {
                    let is_refused = refused.next_if_eq(&walk).is_some();
                    if !is_refused {
                        self.steps[walk * width + step] = self.draws.drawn[walk];
                    }
                    is_refused
                });
            }
        }
        Ok(self.drawing.refused())
    }

    /// Returns the walks whose draw is refused, in the order of `asked`.
    fn refused(&mut self, asked: &[Asked], step: usize) -> Result<Vec<usize>, G::Error> {
        let width = self.config.steps as usize + 1;
        let (back, far) = (1.0 / self.config.p, 1.0 / self.config.q);
        let most = back.max(far).max(1.0);
        // The random number of each walk whose refusal depends on an edge.
        let Draws { random, drawn } = &mut self.draws;
        let mut chance = vec![0.0; drawn.len()];
        let (mut refused, mut open) = (vec![false; drawn.len()], Vec::new());
        for &(_, walk) in asked {
            let came_from = VertexId(self.steps[walk * width + step - 2]);
            chance[walk] = random[walk].unit() * most;
            if drawn[walk] == came_from.0 {
                refused[walk] = chance[walk] >= back;
            } else {
                open.push((came_from, walk));
            }
        }
        open.sort_unstable();
        for_each_block(self.g, self.config.direction, &open, &mut self.meter, |block, local, walk| {
            let is_near = has_neighbor(block, local, VertexId(drawn[walk]));
            refused[walk] = chance[walk] >= if is_near { 1.0 } else { far };
        })?;
        Ok(asked.iter().map(|&(_, walk)| walk).filter(|&walk| refused[walk]).collect())
    }
}

/// True if a list contains a vertex. Each run is in order.
fn has_neighbor<B: Block>(block: &B, local: LocalVertex, v: VertexId) -> bool {
    let ended = block.for_each_run(local, |run| match run.binary_search(&v) {
        Ok(_) => ControlFlow::Break(()),
        Err(_) => ControlFlow::Continue(()),
    });
    ended.is_break()
}

/// Calls `f` with the list block of each vertex of `asked`, which is sorted, until the flag is raised.
fn for_each_block<G: Topology>(
    g: &G,
    direction: Direction,
    asked: &[Asked],
    meter: &mut Meter<'_>,
    mut f: impl FnMut(&G::Block<'_>, LocalVertex, usize),
) -> Result<(), G::Error> {
    for group in asked.chunk_by(|a, b| a.0.subgraph() == b.0.subgraph()) {
        let Some(&(first, _)) = group.first().filter(|_| meter.spend(group.len())) else { break };
        let subgraph = first.subgraph();
        g.scan(subgraph..SubgraphId(subgraph.0 + 1), direction, |_, block| {
            group.iter().for_each(|&(v, walk)| f(&block, v.local(), walk));
            ControlFlow::Continue(())
        })?;
    }
    Ok(())
}
