//! The steps of the walks of one work item.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SubgraphId, Topology, VertexId};

use super::config::WalkConfig;
use crate::cancel::Meter;
use crate::random::Random;

/// No vertex: a walk has ended.
pub(super) const NONE: u32 = u32::MAX;

/// Walks that take each step together.
pub(super) struct Together<'a, G> {
    g: &'a G,
    config: &'a WalkConfig,
    /// A row for each walk.
    steps: &'a mut [u32],
    /// What each walk draws from.
    random: Vec<Random>,
    /// What each walk drew, before it is known whether it may go there.
    drawn: Vec<u32>,
    meter: Meter<'a>,
}

/// A vertex, and the walk that asks for it.
type Asked = (VertexId, usize);

impl<'a, G: Topology> Together<'a, G> {
    /// The walks of these rows, the first of which has the number `first`.
    pub(super) fn new(
        g: &'a G,
        config: &'a WalkConfig,
        steps: &'a mut [u32],
        first: u64,
        meter: Meter<'a>,
    ) -> Self {
        let walks = steps.len() / (config.steps as usize + 1);
        let random = (0..walks as u64).map(|walk| Random::new(config.seed, first + walk)).collect();
        Together { g, config, steps, random, drawn: vec![NONE; walks], meter }
    }

    /// Takes all steps.
    pub(super) fn walk(mut self) -> Result<(), G::Error> {
        let width = self.config.steps as usize + 1;
        for step in 1..width {
            let at = |walk: usize| VertexId(self.steps[walk * width + step - 1]);
            let under_way = (0..self.random.len()).map(|walk| (at(walk), walk)).filter(|(v, _)| v.0 != NONE);
            let mut asked: Vec<Asked> = under_way.collect();
            while !asked.is_empty() && !self.meter.is_over() {
                self.draw(&mut asked)?;
                asked.retain(|&(_, walk)| self.drawn[walk] != NONE);
                let refused = if step == 1 || self.config.is_uniform() {
                    Vec::new()
                } else {
                    self.refused(&asked, step)?
                };
                let mut refused = refused.into_iter().peekable();
                asked.retain(|&(_, walk)| {
                    let is_refused = refused.next_if_eq(&walk).is_some();
                    if !is_refused {
                        self.steps[walk * width + step] = self.drawn[walk];
                    }
                    is_refused
                });
            }
        }
        Ok(())
    }

    /// Draws a neighbour for each walk that asks, and sorts them.
    fn draw(&mut self, asked: &mut [Asked]) -> Result<(), G::Error> {
        asked.sort_unstable();
        let (random, drawn) = (&mut self.random, &mut self.drawn);
        let mut list = Vec::new();
        for_each_block(self.g, self.config.direction, asked, &mut self.meter, |block, local, walk| {
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

    /// The walks that may not go where they drew, in the order in which they asked.
    fn refused(&mut self, asked: &[Asked], step: usize) -> Result<Vec<usize>, G::Error> {
        let width = self.config.steps as usize + 1;
        let (back, far) = (1.0 / self.config.p, 1.0 / self.config.q);
        let most = back.max(far).max(1.0);
        // What was drawn for the chance, of those for which one edge has to be known.
        let mut chance = vec![0.0; self.drawn.len()];
        let (mut refused, mut open) = (vec![false; self.drawn.len()], Vec::new());
        for &(_, walk) in asked {
            let came_from = VertexId(self.steps[walk * width + step - 2]);
            chance[walk] = self.random[walk].unit() * most;
            if self.drawn[walk] == came_from.0 {
                refused[walk] = chance[walk] >= back;
            } else {
                open.push((came_from, walk));
            }
        }
        open.sort_unstable();
        let drawn = &self.drawn;
        for_each_block(self.g, self.config.direction, &open, &mut self.meter, |block, local, walk| {
            let is_near = has_neighbor(block, local, VertexId(drawn[walk]));
            refused[walk] = chance[walk] >= if is_near { 1.0 } else { far };
        })?;
        Ok(asked.iter().map(|&(_, walk)| walk).filter(|&walk| refused[walk]).collect())
    }
}

/// Whether a list holds a vertex. Each run is in order.
fn has_neighbor<B: Block>(block: &B, local: LocalVertex, v: VertexId) -> bool {
    let ended = block.for_each_run(local, |run| match run.binary_search(&v) {
        Ok(_) => ControlFlow::Break(()),
        Err(_) => ControlFlow::Continue(()),
    });
    ended.is_break()
}

/// Calls `f` with the block of each vertex that is asked for, which are sorted, until the flag is raised.
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
