//! Moving nodes between communities.

use std::collections::VecDeque;

use crate::KernelError;
use crate::cancel::Cancel;
use crate::random::Random;

use super::graph::Weighted;

/// The least gain of a move, as a share of the degree: a smaller one may be rounding.
const LEAST_GAIN: f64 = 1e-12;

/// A mover of nodes, and the sums over the communities around a node, whose arrays are used again for the
/// next node.
pub(super) struct Mover<'a> {
    graph: &'a Weighted,
    resolution: f64,
    cancel: &'a Cancel,
    /// The weights from a node to each community; 0 between nodes.
    to: Vec<f64>,
    /// The communities with a weight in `to`.
    met: Vec<u32>,
}

impl<'a> Mover<'a> {
    pub(super) fn new(graph: &'a Weighted, resolution: f64, cancel: &'a Cancel) -> Self {
        Mover { graph, resolution, cancel, to: vec![0.0; graph.len()], met: Vec::new() }
    }

    /// Returns the nodes in the order that the seed gives.
    fn order(&self, seed: u64) -> Vec<u32> {
        let mut order: Vec<u32> = (0..self.graph.len() as u32).collect();
        let mut random = Random::new(seed, self.graph.len() as u64);
        for at in (1..order.len()).rev() {
            order.swap(at, random.below(at + 1));
        }
        order
    }

    /// Sums up the weights to the communities of the neighbours that `counts` accepts.
    fn weigh(&mut self, u: usize, community: &[u32], counts: impl Fn(usize) -> bool) {
        for (v, weight) in self.graph.row(u) {
            if weight > 0.0 && counts(v) {
                let slot = &mut self.to[community[v] as usize];
                if *slot == 0.0 {
                    self.met.push(community[v]);
                }
                *slot += weight;
            }
        }
    }

    /// Returns the gain of modularity, in units of 2 / total², if a node of this `degree` joins a group with
    /// these `degrees`. The edges between node and group have the sum `weight`.
    fn worth(&self, weight: f64, degree: f64, degrees: f64) -> f64 {
        weight * self.graph.total - self.resolution * degree * degrees
    }

    fn forget(&mut self) {
        self.met.drain(..).for_each(|community| self.to[community as usize] = 0.0);
    }

    /// Moves each node to the neighbouring community with the highest gain, or to a community of its own,
    /// until no move gains. Nodes wait in a queue; a node waits again when a neighbour has moved away.
    pub(super) fn improve<E>(&mut self, community: &mut [u32], seed: u64) -> Result<(), KernelError<E>> {
        let mut meter = self.cancel.meter().ok_or(KernelError::Cancelled)?;
        let nodes = self.graph.len();
        let (mut degrees, mut sizes) = (vec![0.0; nodes], vec![0u32; nodes]);
        for (u, &c) in community.iter().enumerate() {
            degrees[c as usize] += self.graph.degree[u];
            sizes[c as usize] += 1;
        }
        let mut empty: Vec<u32> = (0..nodes as u32).rev().filter(|&c| sizes[c as usize] == 0).collect();
        let mut queue: VecDeque<u32> = self.order(seed).into();
        let mut waits = vec![true; nodes];
        while let Some(u) = queue.pop_front() {
            let (u, own) = (u as usize, community[u as usize]);
            waits[u] = false;
            if !meter.spend(self.graph.row_len(u).min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
                return Err(KernelError::Cancelled);
            }
            let degree = self.graph.degree[u];
            self.weigh(u, community, |_| true);
            degrees[own as usize] -= degree;
            let mut best = (own, self.worth(self.to[own as usize], degree, degrees[own as usize]));
            let least = LEAST_GAIN * degree * self.graph.total;
            for &c in &self.met {
                let worth = self.worth(self.to[c as usize], degree, degrees[c as usize]);
                if worth > best.1 + least {
                    best = (c, worth);
                }
            }
            if best.1 < -least
                && let Some(&alone) = empty.last()
            {
                best = (alone, 0.0);
                empty.pop();
            }
            self.forget();
            degrees[best.0 as usize] += degree;
            if best.0 == own {
                continue;
            }
            community[u] = best.0;
            sizes[best.0 as usize] += 1;
            sizes[own as usize] -= 1;
            if sizes[own as usize] == 0 {
                degrees[own as usize] = 0.0;
                empty.push(own);
            }
            for (v, _) in self.graph.row(u) {
                if community[v] != best.0 && !waits[v] {
                    waits[v] = true;
                    queue.push_back(v as u32);
                }
            }
        }
        Ok(())
    }

    /// Divides communities into connected parts. Each node that is still alone joins the neighbouring part of
    /// its community with the highest gain, if both are well connected with the rest of the community.
    pub(super) fn refine<E>(&mut self, community: &[u32], seed: u64) -> Result<Vec<u32>, KernelError<E>> {
        let mut meter = self.cancel.meter().ok_or(KernelError::Cancelled)?;
        let graph = self.graph;
        let mut part: Vec<u32> = (0..graph.len() as u32).collect();
        let (mut degrees, mut sizes) = (graph.degree.clone(), vec![1u32; graph.len()]);
        let mut of_community = vec![0.0; graph.len()];
        for (u, &c) in community.iter().enumerate() {
            of_community[c as usize] += graph.degree[u];
        }
        let inside = |u: usize| -> f64 {
            graph.row(u).filter(|&(v, _)| community[v] == community[u]).map(|(_, weight)| weight).sum()
        };
        // The weights from each part to the other parts of its community.
        let mut cut: Vec<f64> = (0..graph.len()).map(inside).collect();
        for u in self.order(seed ^ 1) {
            let u = u as usize;
            if !meter.spend(graph.row_len(u).min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
                return Err(KernelError::Cancelled);
            }
            let whole = of_community[community[u] as usize];
            let is_well_connected = |weight: f64, degree: f64| {
                weight * graph.total >= self.resolution * degree * (whole - degree)
            };
            if sizes[part[u] as usize] != 1 || part[u] != u as u32 || !is_well_connected(cut[u], degrees[u]) {
                continue;
            }
            self.weigh(u, &part, |v| community[v] == community[u]);
            let degree = graph.degree[u];
            let mut best = (u as u32, LEAST_GAIN * degree * graph.total);
            for &p in &self.met {
                let p = p as usize;
                let fits = cut[p] * graph.total >= self.resolution * degrees[p] * (whole - degrees[p]);
                let worth = self.worth(self.to[p], degree, degrees[p]);
                if fits && worth > best.1 {
                    best = (p as u32, worth);
                }
            }
            let joined = best.0 as usize;
            if joined != u {
                cut[joined] += cut[u] - 2.0 * self.to[joined];
                degrees[joined] += degree;
                sizes[joined] += 1;
                sizes[u] -= 1;
                part[u] = best.0;
            }
            self.forget();
        }
        Ok(part)
    }
}

/// Numbers groups from 0 on, in the order in which nodes meet them; returns their number.
pub(super) fn renumber(group: &mut [u32]) -> usize {
    let mut number = vec![u32::MAX; group.len()];
    let mut count = 0;
    for group in group {
        let slot = &mut number[*group as usize];
        if *slot == u32::MAX {
            *slot = count;
            count += 1;
        }
        *group = *slot;
    }
    count as usize
}
