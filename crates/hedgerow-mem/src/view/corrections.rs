//! The visible delta of a subgraph as sorted corrections of its main part.

use std::sync::Arc;

use hedgerow_core::{LocalVertex, Neighbors, SUBGRAPH_VERTICES, VertexId, WeightedNeighbors};
use smallvec::SmallVec;

use crate::delta::EdgeOp;
use crate::version::Version;

/// Corrections by vertex. What every access needs comes first.
///
/// A few are kept in place: each further allocation costs a refresh a cache miss that it cannot load ahead, that of the
/// allocator's list of free blocks.
#[repr(C)]
pub(super) struct Corrections {
    /// Vertices with corrections of their neighbours.
    pub(super) touched: u64,
    pub(super) added: SmallVec<[VertexId; FEW]>,
    pub(super) removed: SmallVec<[VertexId; FEW / 4]>,
    /// Vertices with edges whose weight differs from the main part's.
    reweighted: u64,
    /// Vertices from whose lists something is taken away.
    pub(super) reduced: u64,
    added_at: [u16; SUBGRAPH_VERTICES + 1],
    removed_at: [u16; SUBGRAPH_VERTICES + 1],
    /// The source of each of `added`.
    pub(super) added_from: SmallVec<[LocalVertex; FEW]>,
    /// Parallel to `added`; empty in a graph without weights.
    added_weights: Box<[f64]>,
    /// (position in the main part, weight), ascending.
    updated: Box<[(u32, f64)]>,
}

/// So many added neighbours of a subgraph are few, and a fourth of it removed ones.
const FEW: usize = 16;

/// What the log says about one edge, reduced to its first and its last word.
struct Reduced {
    local: LocalVertex,
    dst: VertexId,
    first: EdgeOp,
    last: EdgeOp,
    /// The entry of the last word.
    entry: usize,
}

impl Corrections {
    /// The first `n` entries of the delta, and the mask of the vertices that exist. `None` if no neighbour or weight
    /// differs from the main part. O(n log n).
    ///
    /// Only effective operations are logged. So the first word about an edge tells whether the main part has it, and
    /// nothing is looked up there except the place of a new weight.
    pub(super) fn new(version: &Version, n: usize, scratch: &mut Scratch) -> (Option<Arc<Corrections>>, u64) {
        if version.is_ranked() {
            return ranked(version, n, scratch);
        }
        if version.patch.is_some() {
            return patched(version, n, scratch);
        }
        let present = scratch.sort(version, n);
        let Scratch { sorted, build, .. } = scratch;
        build.clear();
        let weighted = version.main().weights().is_some();
        let mut rest = &sorted[..];
        while let Some((edge, others)) = first_edge(rest) {
            rest = others;
            build.add(version, &edge, weighted);
        }
        (build.finish(), present)
    }

    #[inline]
    pub(super) fn correct<'a>(&'a self, main: &'a [VertexId], local: LocalVertex) -> Neighbors<'a> {
        let i = local.index();
        let added = self.added_at[i] as usize..self.added_at[i + 1] as usize;
        let added = self.added.get(added).unwrap_or(&[]);
        if self.removed.is_empty() {
            return Neighbors { main, added, removed: &[] };
        }
        let removed = self.removed_at[i] as usize..self.removed_at[i + 1] as usize;
        Neighbors { main, added, removed: self.removed.get(removed).unwrap_or(&[]) }
    }

    /// Whether anything about the neighbours or weights of `local` differs from the main part.
    #[inline]
    pub(super) fn concerns(&self, local: LocalVertex) -> bool {
        (self.touched | self.reweighted) & local.bit() != 0
    }

    /// The weights for corrected neighbours, whose list in the main part is at `list`.
    pub(super) fn correct_weights<'a>(
        &'a self,
        plain: WeightedNeighbors<'a>,
        list: std::ops::Range<u32>,
        local: LocalVertex,
    ) -> WeightedNeighbors<'a> {
        let i = local.index();
        let added = self.added_at[i] as usize..self.added_at[i + 1] as usize;
        let position = |end: u32| self.updated.partition_point(|u| u.0 < end);
        WeightedNeighbors {
            added: self.added_weights.get(added).unwrap_or(&[]),
            updated: self.updated.get(position(list.start)..position(list.end)).unwrap_or(&[]),
            first: list.start,
            ..plain
        }
    }

    pub(super) fn bytes(&self) -> usize {
        size_of::<Corrections>()
            + spilled(&self.added)
            + spilled(&self.removed)
            + spilled(&self.added_from)
            + size_of_val(&*self.added_weights)
            + size_of_val(&*self.updated)
    }
}

/// The bytes that are not kept in place.
fn spilled<A: smallvec::Array>(values: &SmallVec<A>) -> usize {
    if values.spilled() { values.capacity() * size_of::<A::Item>() } else { 0 }
}

/// As [`Corrections::new`] where an edge is told from others by its rank too: a neighbour comes once for each edge.
fn ranked(version: &Version, n: usize, scratch: &mut Scratch) -> (Option<Arc<Corrections>>, u64) {
    let (changes, vertices) = crate::items::reduce(version.delta().items(n));
    let build = &mut scratch.build;
    build.clear();
    for change in &changes {
        let found = version.main().find_item(change.local, change.dst, change.rank).is_some();
        match (found, &change.state) {
            // Ranked edges have no weights.
            (false, Some(_)) => build.add_neighbor(change.local, change.dst, None),
            (true, None) => build.remove_neighbor(change.local, change.dst),
            _ => {}
        }
    }
    let present = vertices.iter().fold(version.main().present(), |mask, &(local, inserted)| {
        if inserted { mask | local.bit() } else { mask & !local.bit() }
    });
    (build.finish(), present)
}

/// As [`Corrections::new`] where the main part has a patch, which comes under the delta.
fn patched(version: &Version, n: usize, scratch: &mut Scratch) -> (Option<Arc<Corrections>>, u64) {
    let weighted = version.main().weights().is_some();
    let build = &mut scratch.build;
    build.clear();
    for change in &version.changes(n, None) {
        match (version.main().find(change.local, change.dst), change.weight) {
            (None, Some(weight)) => build.add_neighbor(change.local, change.dst, weighted.then_some(weight)),
            (Some(_), None) => build.remove_neighbor(change.local, change.dst),
            (Some(at), Some(weight)) if weighted => build.reweight(change.local, at, weight),
            _ => {}
        }
    }
    (build.finish(), version.at_delta(n).present())
}

/// Buffers, so that reading many subgraphs allocates for what is kept only.
#[derive(Default)]
pub(super) struct Scratch {
    /// Edge entries by source, destination and order: 6 bits source, 32 destination, 24 position, 2 operation.
    sorted: Vec<u64>,
    /// The same in the order of the log.
    logged: Vec<u64>,
    build: Builder,
    /// How many delta entries were read with it.
    pub(super) entries: usize,
}

/// From so many entries on they are sorted by source first, and then among those of a source.
const MANY: usize = 48;

impl Scratch {
    /// Sorts the first `n` entries about edges; returns the mask of the vertices that exist.
    fn sort(&mut self, version: &Version, n: usize) -> u64 {
        let delta = version.delta();
        let mut present = version.main().present();
        self.logged.clear();
        for i in 0..n {
            let (local, op) = delta.source(i);
            let dst = delta.destination(i);
            if op == EdgeOp::Vertex {
                present = if dst.0 != 0 { present | local.bit() } else { present & !local.bit() };
            } else {
                let edge = (local.index() as u64) << 32 | u64::from(dst.0);
                self.logged.push(edge << 26 | (i as u64) << 2 | op as u64);
            }
        }
        match self.logged.len() {
            0..=FEW => self.sort_few(),
            n if n < MANY => {
                std::mem::swap(&mut self.sorted, &mut self.logged);
                self.sorted.sort_unstable();
            }
            _ => self.sort_by_source(),
        }
        present
    }

    /// Counts for each entry, which differ from one another, how many are smaller: no branch to guess.
    fn sort_few(&mut self) {
        self.sorted.clear();
        self.sorted.resize(self.logged.len(), 0);
        for &entry in &self.logged {
            let smaller: usize = self.logged.iter().map(|&other| usize::from(other < entry)).sum();
            self.sorted[smaller] = entry;
        }
    }

    fn sort_by_source(&mut self) {
        let source = |entry: u64| (entry >> 58) as usize;
        let mut starts = [0u32; SUBGRAPH_VERTICES + 1];
        self.logged.iter().for_each(|&entry| starts[source(entry) + 1] += 1);
        for i in 0..SUBGRAPH_VERTICES {
            starts[i + 1] += starts[i];
        }
        let mut next = starts;
        self.sorted.clear();
        self.sorted.resize(self.logged.len(), 0);
        for &entry in &self.logged {
            let at = &mut next[source(entry)];
            self.sorted[*at as usize] = entry;
            *at += 1;
        }
        for i in 0..SUBGRAPH_VERTICES {
            self.sorted[starts[i] as usize..starts[i + 1] as usize].sort_unstable();
        }
    }
}

/// Takes what concerns the first edge off the sorted entries.
#[inline]
fn first_edge(entries: &[u64]) -> Option<(Reduced, &[u64])> {
    let (&head, mut rest) = entries.split_first()?;
    let mut last = head;
    while let Some((&entry, others)) = rest.split_first()
        && entry >> 26 == head >> 26
    {
        (last, rest) = (entry, others);
    }
    let op = |entry: u64| EdgeOp::from_bits(entry as u8 & 3);
    let edge = Reduced {
        local: LocalVertex((head >> 58) as u8),
        dst: VertexId((head >> 26) as u32),
        first: op(head),
        last: op(last),
        entry: (last >> 2 & 0xff_ffff) as usize,
    };
    Some((edge, rest))
}

/// Collects corrections by ascending source.
#[derive(Default)]
struct Builder {
    touched: u64,
    reweighted: u64,
    reduced: u64,
    added: Vec<VertexId>,
    added_from: Vec<LocalVertex>,
    added_weights: Vec<f64>,
    removed: Vec<VertexId>,
    removed_from: Vec<LocalVertex>,
    updated: Vec<(u32, f64)>,
}

impl Builder {
    fn clear(&mut self) {
        (self.touched, self.reweighted, self.reduced) = (0, 0, 0);
        self.added.clear();
        self.added_from.clear();
        self.added_weights.clear();
        self.removed.clear();
        self.removed_from.clear();
        self.updated.clear();
    }

    #[inline]
    fn add(&mut self, version: &Version, edge: &Reduced, weighted: bool) {
        let local = edge.local;
        let weight = || version.delta().entry(edge.entry).weight;
        match (edge.first == EdgeOp::Insert, edge.last == EdgeOp::Remove) {
            (true, false) => self.add_neighbor(local, edge.dst, weighted.then(weight)),
            (false, true) => self.remove_neighbor(local, edge.dst),
            (false, false) if weighted => {
                if let Some(at) = version.main().find(local, edge.dst) {
                    self.reweight(local, at, weight());
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn add_neighbor(&mut self, local: LocalVertex, dst: VertexId, weight: Option<f64>) {
        self.touched |= local.bit();
        self.added.push(dst);
        self.added_from.push(local);
        if let Some(weight) = weight {
            self.added_weights.push(weight);
        }
    }

    #[inline]
    fn reweight(&mut self, local: LocalVertex, at: usize, weight: f64) {
        self.reweighted |= local.bit();
        self.updated.push((at as u32, weight));
    }

    #[inline]
    fn remove_neighbor(&mut self, local: LocalVertex, dst: VertexId) {
        self.touched |= local.bit();
        self.reduced |= local.bit();
        self.removed.push(dst);
        self.removed_from.push(local);
    }

    fn finish(&mut self) -> Option<Arc<Corrections>> {
        if self.touched | self.reweighted == 0 {
            return None;
        }
        // Patches hold at most 32 Ki changes, deltas some hundreds.
        debug_assert!(self.added.len().max(self.removed.len()) <= usize::from(u16::MAX));
        Some(Arc::new(Corrections {
            touched: self.touched,
            added: SmallVec::from_slice(&self.added),
            removed: SmallVec::from_slice(&self.removed),
            reweighted: self.reweighted,
            reduced: self.reduced,
            added_at: starts(&self.added_from),
            removed_at: starts(&self.removed_from),
            added_from: SmallVec::from_slice(&self.added_from),
            added_weights: self.added_weights.as_slice().into(),
            updated: self.updated.as_slice().into(),
        }))
    }
}

/// Where the entries of each vertex begin, and where the last end, given the vertex of each, ascending.
#[inline]
fn starts(sources: &[LocalVertex]) -> [u16; SUBGRAPH_VERTICES + 1] {
    let mut starts = [0; SUBGRAPH_VERTICES + 1];
    if let &[local] = sources {
        starts[local.index() + 1..].fill(1);
        return starts;
    }
    if !sources.is_empty() {
        sources.iter().for_each(|local| starts[local.index() + 1] += 1);
        let mut sum = 0;
        for start in &mut starts {
            sum += *start;
            *start = sum;
        }
    }
    starts
}
