//! Random changes to a store and to a plain graph, with snapshots that stay open meanwhile.

use hedgerow::{Graph, Snapshot, TieredView};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::conformance::{PlainGraph, check_runs};
use hedgerow_testkit::sim_fs::SplitMix64;

use super::{Kind, PAGE};

/// A graph on a few pages and a plain graph, with the means to change both.
pub(super) struct World {
    kind: Kind,
    graph: Graph,
    plain: PlainGraph,
    rng: SplitMix64,
}

impl World {
    const VERTICES: usize = 3 * PAGE as usize;

    pub(super) fn new(seed: u64, kind: Kind) -> World {
        let graph = kind.options().open_on(SimFs::new().handle()).unwrap();
        let Kind { directed, weighted, .. } = kind;
        let plain =
            PlainGraph { directed, weighted, live: vec![false; Self::VERTICES], ..PlainGraph::default() };
        World { kind, graph, plain, rng: SplitMix64::new(seed) }
    }

    fn vertex(&mut self) -> u64 {
        self.rng.below(3) * PAGE + self.rng.below(6) * 700 + self.rng.below(2)
    }

    fn change(&mut self) {
        let mut tx = self.graph.write().unwrap();
        for _ in 0..1 + self.rng.below(8) {
            let (a, b) = (self.vertex(), self.vertex());
            let (a, b) = if self.kind.directed { (a, b) } else { (a.min(b), a.max(b)) };
            let ends = (a as u32, b as u32);
            match self.rng.below(8) {
                0 | 1 => {
                    tx.remove_edge((a, b)).unwrap();
                    self.plain.edges.remove(&ends);
                }
                2 if self.rng.below(4) == 0 => {
                    tx.remove_vertex(a).unwrap();
                    self.plain.live[a as usize] = false;
                    self.plain.edges.retain(|&(src, dst), _| src != ends.0 && dst != ends.0);
                }
                _ => {
                    let weight = if self.kind.weighted { self.rng.below(9) as f64 } else { 1.0 };
                    match self.kind.weighted {
                        true => tx.put_edge((a, b, weight)).unwrap(),
                        false => tx.put_edge((a, b)).unwrap(),
                    }
                    self.plain.edges.insert(ends, weight);
                    [a, b].into_iter().for_each(|v| self.plain.live[v as usize] = true);
                }
            }
        }
        tx.commit().unwrap();
    }

    /// Checks that open snapshots keep their state after writes, checkpoints and evictions. Returns the
    /// number of evicted subgraphs.
    pub(super) fn run(mut self) -> usize {
        let (mut held, mut evicted): (Vec<(Snapshot, PlainGraph)>, usize) = (Vec::new(), 0);
        for step in 0..32 {
            (0..3).for_each(|_| self.change());
            held.push((self.graph.snapshot().unwrap(), self.plain.clone()));
            if self.rng.below(3) > 0 {
                self.graph.checkpoint().unwrap();
            }
            if self.rng.below(2) > 0 {
                self.graph.internals().write_page_versions().unwrap();
            }
            evicted += self.graph.internals().evict().unwrap();
            let at = self.rng.below(held.len() as u64) as usize;
            let (snapshot, plain) = if held.len() > 3 { held.swap_remove(at) } else { held[at].clone() };
            check_runs(&TieredView::new(&snapshot, "").unwrap(), &plain);
            // The store cannot evict the data of an older snapshot without a page version.
            if step % 4 == 3 {
                held.clear();
            }
        }
        evicted
    }
}
