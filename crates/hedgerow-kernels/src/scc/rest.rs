//! The components of the remaining vertices, by one depth-first pass over a copy.

use std::ops::ControlFlow;

use hedgerow_core::{Block, Direction, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Topology, VertexId};
use rayon::prelude::*;

use super::{Parts, Sets};
use crate::cancel::{Cancel, Meter};
use crate::par::{CHUNK_SUBGRAPHS, CHUNK_VERTICES};
use crate::{KernelError, NO_COMPONENT};

/// The edges between remaining vertices in the same sets.
struct Copied {
    /// The destinations of the copied edges, for each work item.
    targets: Vec<Vec<u32>>,
    /// The place in the list of its work item where the edges of each vertex end. They begin where the edges
    /// of the vertex before end.
    ends: Vec<u64>,
}

impl Copied {
    #[inline]
    fn begin(&self, v: u32) -> u64 {
        // The first vertex of a work item begins its list.
        if (v as usize).is_multiple_of(CHUNK_VERTICES) { 0 } else { self.ends[v as usize - 1] }
    }
}

impl<G: Topology> Parts<'_, G> {
    /// Finds the components of all open vertices.
    pub(super) fn rest(&mut self, sets: &Sets) -> Result<(), KernelError<G::Error>> {
        if self.open.vertices().next().is_none() {
            return Ok(());
        }
        let copied = self.copy(sets);
        self.rounds.watch.check()?;
        let mut search = Search::new(copied, self.open.vertices().count(), self.rounds.watch.cancel);
        for v in self.open.vertices() {
            search.visit(v.0)?;
        }
        let Search { number, mut next, .. } = search;
        // The least vertex of each component, by its number.
        next.fill(NO_COMPONENT);
        for v in self.open.vertices() {
            let least = &mut next[number[v.index()] as usize - 1];
            *least = (*least).min(v.0);
            self.put(v, *least);
        }
        self.rounds.watch.check()
    }

    fn copy(&self, sets: &Sets) -> Copied {
        let mut ends = vec![0; self.components.len()];
        let chunks = ends.par_chunks_mut(CHUNK_VERTICES).enumerate();
        let targets = hedgerow_par::map(chunks, |(chunk, ends)| {
            let mut targets = Vec::new();
            let watch = &self.rounds.watch;
            let Some(mut meter) = watch.meter() else { return targets };
            let first = (chunk * CHUNK_SUBGRAPHS) as u32;
            watch.note(self.copy_chunk(first, sets, ends, &mut targets, &mut meter));
            targets.shrink_to_fit();
            targets
        });
        Copied { targets, ends }
    }

    fn copy_chunk(
        &self,
        first: u32,
        sets: &Sets,
        ends: &mut [u64],
        targets: &mut Vec<u32>,
        meter: &mut Meter<'_>,
    ) -> Result<(), G::Error> {
        let count = ends.len().div_ceil(SUBGRAPH_VERTICES) as u32;
        let mut parts = ends.chunks_mut(SUBGRAPH_VERTICES);
        let has_open = |at: u32| self.open.0[at as usize].load(std::sync::atomic::Ordering::Relaxed) != 0;
        if !(first..first + count).any(has_open) {
            return Ok(());
        }
        self.rounds.g.scan(SubgraphId(first)..SubgraphId(first + count), Direction::Out, |subgraph, block| {
            for (local, end) in parts.next().unwrap_or_default().iter_mut().enumerate() {
                let v = subgraph.vertex(LocalVertex(local as u8));
                if self.open.has(v) {
                    let stays = |u: &VertexId| *u != v && self.open.has(*u) && sets.are_together(v, *u);
                    let _goes_on = block.for_each_run(LocalVertex(local as u8), |run| {
                        meter.parts(run, |part| {
                            targets.extend(part.iter().copied().filter(stays).map(|u| u.0))
                        });
                        ControlFlow::Continue(())
                    });
                }
                *end = targets.len() as u64;
            }
            if meter.is_over() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })
    }
}

/// Pearce's algorithm (PEA_FIND_SCC2), with a stack of its own in place of recursion.
struct Search<'c> {
    copied: Copied,
    /// The state of each vertex: 0 before a visit; during it, the number of the first visited vertex that it
    /// is known to reach; after it, the number of its component, which is larger than the numbers of all
    /// later visits.
    number: Vec<u32>,
    /// The next edge to read of each vertex on the path, from the beginning of its edges.
    next: Vec<u32>,
    /// The vertices from the first one to the present one, each with the number of its visit.
    path: Vec<(u32, u32)>,
    /// The vertices that the search has left, but whose component is not known yet.
    waiting: Vec<u32>,
    /// The number of the next vertex.
    visited: u32,
    /// The number of the next component.
    component: u32,
    meter: Option<Meter<'c>>,
}

impl<'c> Search<'c> {
    /// Makes a search of `vertices` vertices.
    fn new(copied: Copied, vertices: usize, cancel: &'c Cancel) -> Search<'c> {
        let count = copied.ends.len();
        Search {
            number: vec![0; count],
            next: vec![0; count],
            // Allocated at once: lists that grow would take thrice as much for a moment.
            path: Vec::with_capacity(vertices),
            waiting: Vec::with_capacity(vertices),
            visited: 1,
            component: count as u32,
            meter: cancel.meter(),
            copied,
        }
    }

    /// Finds the components of all vertices that a vertex reaches, unless it was visited.
    fn visit<E>(&mut self, source: u32) -> Result<(), KernelError<E>> {
        if self.number[source as usize] != 0 {
            return Ok(());
        }
        self.enter(source)?;
        while let Some(&(v, visited)) = self.path.last() {
            match self.next_unvisited(v) {
                Some(u) => self.enter(u)?,
                None => self.leave(v, visited),
            }
        }
        Ok(())
    }

    fn enter<E>(&mut self, v: u32) -> Result<(), KernelError<E>> {
        let edges = (self.copied.ends[v as usize] - self.copied.begin(v)) as usize;
        let meter = self.meter.as_mut().ok_or(KernelError::Cancelled)?;
        if !meter.spend(edges.min(Cancel::EDGES_BETWEEN_POLLS - 1)) {
            return Err(KernelError::Cancelled);
        }
        self.number[v as usize] = self.visited;
        self.path.push((v, self.visited));
        self.visited += 1;
        Ok(())
    }

    /// Reads the edges of a vertex until one leads to an unvisited vertex. This edge is read again after the
    /// search has left that vertex.
    fn next_unvisited(&mut self, v: u32) -> Option<u32> {
        let begin = self.copied.begin(v) as usize;
        let list =
            &self.copied.targets[v as usize / CHUNK_VERTICES][begin..self.copied.ends[v as usize] as usize];
        let from = self.next[v as usize] as usize;
        let mut least = self.number[v as usize];
        for (&u, at) in list[from..].iter().zip(from as u32..) {
            let number = self.number[u as usize];
            if number == 0 {
                (self.next[v as usize], self.number[v as usize]) = (at, least);
                return Some(u);
            }
            least = least.min(number);
        }
        self.number[v as usize] = least;
        None
    }

    /// Leaves a vertex whose edges were all read. If it reaches no vertex that was visited before it, it
    /// completes a component: itself and the waiting vertices that were visited after it.
    fn leave(&mut self, v: u32, visited: u32) {
        self.path.pop();
        if self.number[v as usize] < visited {
            self.waiting.push(v);
            return;
        }
        while let Some(u) = self.waiting.pop_if(|u| self.number[*u as usize] >= visited) {
            self.number[u as usize] = self.component;
            self.visited -= 1;
        }
        self.number[v as usize] = self.component;
        self.visited -= 1;
        self.component -= 1;
    }
}
