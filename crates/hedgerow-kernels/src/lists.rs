//! Whole lists of vertices, however they are stored.

use std::cell::Cell;
use std::ops::{ControlFlow, Range};
use std::sync::{Mutex, MutexGuard, PoisonError};

use hedgerow_core::{Direction, Topology, VertexId};
use rayon::prelude::*;

use crate::KernelError;
use crate::cancel::Cancel;

/// The least number of edges that threads share: for fewer, waking them would take longer.
const SEQUENTIAL_EDGES: usize = 1 << 14;

/// The most entries of a short list.
pub(crate) const LONG: usize = 1 << 14;

/// A reader of whole lists. A thread collects the runs of a list in a buffer of its own. A long list takes
/// the buffer that all threads share, so that the memory of many threads does not grow with the longest list.
pub(crate) struct Lists<'g, G> {
    g: &'g G,
    cancel: &'g Cancel,
    long: Mutex<Vec<VertexId>>,
    /// True if [`map`](Lists::map) shares work with other threads.
    is_shared: bool,
}

impl<'g, G: Topology> Lists<'g, G> {
    /// Makes a reader. `is_shared` is true if there are idle threads.
    pub(crate) fn new(g: &'g G, cancel: &'g Cancel, is_shared: bool) -> Self {
        let is_shared = is_shared && hedgerow_par::threads() > 1;
        Lists { g, cancel, long: Mutex::default(), is_shared }
    }

    /// Calls `f` with the neighbours of each vertex, ascending and each once, until `f` breaks. With a range
    /// `ids`, `f` gets only the neighbours in it. No vertex may be given twice, and `f` may read no list.
    pub(crate) fn each(
        &self,
        buffer: &mut Vec<VertexId>,
        vertices: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        ids: Option<&Range<u32>>,
        mut f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
    ) -> Result<(), KernelError<G::Error>> {
        let mut meter = self.cancel.meter().ok_or(KernelError::Cancelled)?;
        let (mut long, mut last, is_over) = (None, None, Cell::new(false));
        let mut end = |of: Option<VertexId>, list: &mut Vec<VertexId>| {
            let Some(of) = of.filter(|_| !is_over.get()) else { return };
            // Each run is in order, but the runs of a list are not in order among each other.
            if !is_ascending(list) {
                list.sort_unstable();
                list.dedup();
            }
            is_over.set(f(of, list).is_break());
        };
        buffer.clear();
        let frontier = vertices.into_iter().take_while(|_| !is_over.get());
        let visited = self.g.visit(frontier, direction, |v, run| {
            if last != Some(v) {
                end(last, long.as_deref_mut().unwrap_or(buffer));
                (last, long) = (Some(v), None);
                buffer.clear();
            }
            meter.parts(run, |part| {
                let part = ids.map_or(part, |ids| within(part, ids));
                if long.is_none() && buffer.len() + part.len() > LONG {
                    long = Some(self.take_long(buffer));
                }
                long.as_deref_mut().unwrap_or(buffer).extend_from_slice(part);
            });
            is_over.set(is_over.get() || meter.is_over());
        });
        visited.map_err(KernelError::Topology)?;
        self.cancel.check()?;
        end(last, long.as_deref_mut().unwrap_or(buffer));
        Ok(())
    }

    /// Returns the buffer that threads share, with what this list has so far.
    fn take_long(&self, list: &[VertexId]) -> MutexGuard<'_, Vec<VertexId>> {
        let mut long = self.long.lock().unwrap_or_else(PoisonError::into_inner);
        long.clear();
        long.extend_from_slice(list);
        long
    }

    /// True if there are threads that share work.
    pub(crate) fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// True if other threads should share the lists of these vertices.
    pub(crate) fn are_shared(&self, vertices: &[VertexId], direction: Direction) -> bool {
        let mut left = SEQUENTIAL_EDGES;
        self.is_shared
            && vertices.iter().any(|&v| {
                left = left.saturating_sub(1 + self.g.degree_estimate(v, direction));
                left == 0
            })
    }

    /// Returns the result of `f` for the list of each vertex, in parallel. The vertices are ascending, and
    /// `f` may read no list.
    pub(crate) fn map<T: Copy + Default + Send>(
        &self,
        vertices: &[VertexId],
        direction: Direction,
        f: impl Fn(VertexId, &[VertexId]) -> T + Sync,
    ) -> Result<Vec<T>, KernelError<G::Error>> {
        let mut made = vec![T::default(); vertices.len()];
        let some = |(made, vertices): (&mut [T], &[VertexId])| {
            self.each(&mut Vec::new(), vertices.iter().copied(), direction, None, |v, list| {
                made[vertices.binary_search(&v).unwrap_or_default()] = f(v, list);
                ControlFlow::Continue(())
            })
        };
        if self.are_shared(vertices, direction) {
            let together = G::VISITED_TOGETHER;
            let parts = made.par_chunks_mut(together).zip(vertices.par_chunks(together));
            hedgerow_par::try_for_each(parts, some)?;
        } else {
            some((&mut made, vertices))?;
        }
        Ok(made)
    }
}

/// True if each vertex is less than the next one. Compares all without a branch for each, since nearly all
/// lists are ascending.
fn is_ascending(list: &[VertexId]) -> bool {
    list.iter().zip(list.iter().skip(1)).fold(true, |ascends, (v, next)| ascends & (v < next))
}

/// Returns the part of an ascending list that has its ids in a range.
fn within<'a>(list: &'a [VertexId], ids: &Range<u32>) -> &'a [VertexId] {
    let list = &list[list.partition_point(|v| v.0 < ids.start)..];
    &list[..list.partition_point(|v| v.0 < ids.end)]
}

/// Calls `f` with the neighbours of every vertex of the graph, ascending and each once, until `f` breaks.
pub(crate) fn for_each_list_of_all<G: Topology>(
    g: &G,
    direction: Direction,
    cancel: &Cancel,
    f: impl FnMut(VertexId, &[VertexId]) -> ControlFlow<()>,
) -> Result<(), KernelError<G::Error>> {
    let all = (0..g.vertex_bound() as u32).map(VertexId);
    Lists::new(g, cancel, false).each(&mut Vec::new(), all, direction, None, f)
}
