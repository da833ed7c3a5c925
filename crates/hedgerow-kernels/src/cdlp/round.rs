//! One iteration: the labels that all vertices take from their neighbours at once.

use std::ops::{ControlFlow, Range};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};
use rayon::prelude::*;

use super::frequent::most_frequent;
use crate::cancel::Meter;
use crate::frontier::{Rounds, all_ways};
use crate::par::{CHUNK_SUBGRAPHS, CHUNK_VERTICES, ones};
use crate::watch::Watch;

// A word of bits for each subgraph.
const _: () = assert!(SUBGRAPH_VERTICES == 64);

/// The limit of a partial iteration: if the vertices whose labels changed have more than 1 / `FEW_CHANGES` of
/// the edges, the next iteration computes all vertices.
const FEW_CHANGES: u64 = 8;

/// The labels before and after an iteration.
pub(super) struct Round<'g, G: Topology> {
    pub(super) g: &'g G,
    pub(super) watch: Watch<'g, G::Error>,
    pub(super) labels: Vec<u32>,
    pub(super) next: Vec<u32>,
}

/// The labels of the out-neighbours of the vertices of some subgraphs; the labels of in-neighbours are added
/// to them.
#[derive(Default)]
struct Gathered {
    labels: Vec<u32>,
    /// The place where the labels of each vertex end.
    ends: Vec<usize>,
    /// All labels around one vertex.
    around: Vec<u32>,
}

/// The output of one work item.
struct Written<'a> {
    first: u32,
    next: &'a mut [u32],
    changed: &'a mut [u64],
}

impl<G: Topology> Round<'_, G> {
    /// Takes labels for the `open` vertices; the other vertices keep their labels. Marks the vertices with
    /// another label in `changed`.
    pub(super) fn run(&mut self, open: &[u64], changed: &mut [u64]) {
        let mut next = std::mem::take(&mut self.next);
        let outputs = next.par_chunks_mut(CHUNK_VERTICES).zip(changed.par_chunks_mut(CHUNK_SUBGRAPHS));
        let this = &*self;
        hedgerow_par::for_each(outputs.zip(open.par_chunks(CHUNK_SUBGRAPHS)).enumerate(), |(chunk, item)| {
            let ((next, changed), open) = item;
            let first = chunk * CHUNK_VERTICES;
            next.copy_from_slice(&this.labels[first..first + next.len()]);
            changed.fill(0);
            let Some(mut meter) = this.watch.meter() else { return };
            let mut written = Written { first: first as u32, next, changed };
            this.watch.note(this.take_chunk(open, &mut written, &mut meter));
        });
        self.next = next;
    }

    /// Takes labels in the subgraphs of a work item that have open vertices, some subgraphs at a time.
    fn take_chunk(
        &self,
        open: &[u64],
        written: &mut Written<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        let mut gathered = Gathered::default();
        // A graph that reads pages is read a whole work item at a time. In other graphs, few lists wait in
        // memory until the lists against the edges are read.
        let together = if G::VISITED_TOGETHER > SUBGRAPH_VERTICES { CHUNK_SUBGRAPHS } else { 1 };
        let base = written.first / SUBGRAPH_VERTICES as u32;
        for from in (0..open.len()).step_by(together) {
            let to = (from + together).min(open.len());
            if open[from..to].iter().all(|&word| word == 0) {
                continue;
            }
            let subgraphs = SubgraphId(base + from as u32)..SubgraphId(base + to as u32);
            if self.g.is_directed() {
                self.gather(subgraphs.clone(), open, base, &mut gathered, meter)?;
            }
            self.take(subgraphs, (open, base), &mut gathered, written, meter)?;
            if meter.is_over() {
                break;
            }
        }
        Ok(())
    }

    /// Gathers the labels along the edges of a directed graph.
    fn gather(
        &self,
        subgraphs: Range<SubgraphId>,
        open: &[u64],
        base: u32,
        gathered: &mut Gathered,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        gathered.labels.clear();
        gathered.ends.clear();
        self.g.scan(subgraphs, Direction::Out, |subgraph, block| {
            let word = open[(subgraph.0 - base) as usize];
            for local in 0..SUBGRAPH_VERTICES as u8 {
                if word >> local & 1 != 0 {
                    self.push_labels(&block, LocalVertex(local), &mut gathered.labels, meter);
                }
                gathered.ends.push(gathered.labels.len());
            }
            ControlFlow::Continue(())
        })
    }

    #[inline]
    fn push_labels<B: Block>(&self, block: &B, local: LocalVertex, to: &mut Vec<u32>, meter: &mut Meter<'_>) {
        to.reserve_exact(block.degree(local));
        let _goes_on = block.for_each_run(local, |run| {
            meter.parts(run, |part| to.extend(part.iter().map(|u| self.labels[u.index()])));
            ControlFlow::Continue(())
        });
    }

    /// Takes the label of each open vertex.
    fn take(
        &self,
        subgraphs: Range<SubgraphId>,
        (open, base): (&[u64], u32),
        gathered: &mut Gathered,
        written: &mut Written<'_>,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        let directed = self.g.is_directed();
        let direction = if directed { Direction::In } else { Direction::Out };
        let (mut at, mut begin) = (0, 0);
        self.g.scan(subgraphs, direction, |subgraph, block| {
            let word = open[(subgraph.0 - base) as usize];
            for local in 0..SUBGRAPH_VERTICES as u8 {
                let end = if directed { gathered.ends[at] } else { 0 };
                let along = begin..end;
                (at, begin) = (at + 1, end);
                if word >> local & 1 == 0 {
                    continue;
                }
                let Gathered { labels, around, .. } = gathered;
                around.clear();
                if directed {
                    around.reserve_exact(along.len() + block.degree(LocalVertex(local)));
                    around.extend_from_slice(&labels[along]);
                }
                self.push_labels(&block, LocalVertex(local), around, meter);
                let v = subgraph.vertex(LocalVertex(local)).0;
                if let Some(label) = most_frequent(around) {
                    written.write(v, label);
                }
            }
            if meter.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }

    /// Marks as `open` the vertices that may take another label in the next iteration: the neighbours of
    /// changed vertices, or all vertices.
    pub(super) fn open_next(&mut self, changed: &[u64], open: &mut Vec<u64>) {
        let ways = all_ways(self.g);
        let mut frontier = Vec::new();
        let mut edges = 0u64;
        for (word, &bits) in changed.iter().enumerate() {
            for v in ones(bits).map(|at| VertexId(word as u32 * 64 + at)) {
                frontier.push(v);
                edges += ways.iter().map(|&way| self.g.degree_estimate(v, way) as u64).sum::<u64>();
            }
            if edges > self.g.edge_count() / FEW_CHANGES {
                open.fill(u64::MAX);
                return;
            }
        }
        let marks: Vec<AtomicU64> = open.iter().map(|_| AtomicU64::new(0)).collect();
        let mut rounds = Rounds { g: self.g, watch: Watch::new(self.watch.cancel) };
        // Relaxed: no thread reads before all threads are joined.
        rounds.next(&mut frontier, ways, |_, run, _| {
            for u in run {
                marks[u.index() / 64].fetch_or(1 << (u.0 % 64), Relaxed);
            }
        });
        std::mem::swap(&mut self.watch, &mut rounds.watch);
        *open = marks.into_iter().map(AtomicU64::into_inner).collect();
    }
}

impl Written<'_> {
    #[inline]
    fn write(&mut self, v: u32, label: u32) {
        let at = (v - self.first) as usize;
        if let Some(slot) = self.next.get_mut(at)
            && *slot != label
        {
            *slot = label;
            self.changed[at / 64] |= 1 << (at % 64);
        }
    }
}
