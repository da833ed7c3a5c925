//! The visible delta of a subgraph as sorted corrections of its main part.

use hedgerow_core::{LocalVertex, Neighbors, SUBGRAPH_VERTICES, VertexId, WeightedNeighbors};

use crate::delta::EdgeOp;
use crate::version::Version;

/// Corrections by vertex. What every access needs comes first.
#[repr(C)]
pub(super) struct Corrections {
    /// Vertices with corrections of their neighbours.
    pub(super) touched: u64,
    pub(super) added: Box<[VertexId]>,
    pub(super) removed: Box<[VertexId]>,
    /// Vertices with edges whose weight differs from the main part's.
    reweighted: u64,
    added_at: [u16; SUBGRAPH_VERTICES + 1],
    removed_at: [u16; SUBGRAPH_VERTICES + 1],
    /// The source of each of `added`.
    pub(super) added_from: Box<[LocalVertex]>,
    /// Parallel to `added`; empty in a graph without weights.
    added_weights: Box<[f64]>,
    /// (position in the main part, weight), ascending.
    updated: Box<[(u32, f64)]>,
}

/// What the log says about one edge, reduced to its first and its last word.
struct Reduced {
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
    pub(super) fn new(version: &Version, n: usize) -> (Option<Corrections>, u64) {
        if version.is_ranked() {
            return ranked(version, n);
        }
        if version.patch.is_some() {
            return patched(version, n);
        }
        let (by_source, starts, present) = sort_by_source(version, n);
        let mut build = Builder::new(version, n);
        for i in 0..SUBGRAPH_VERTICES {
            let local = LocalVertex(i as u8);
            let (from, to) = (starts[i] as usize, starts[i + 1] as usize);
            let mut rest = &by_source[from..to];
            while let Some((edge, others)) = first_edge(rest) {
                rest = others;
                build.add(local, &edge);
            }
            build.end(i);
        }
        (build.finish(), present)
    }

    /// The vertices from whose lists something is taken away.
    pub(super) fn reduced(&self) -> u64 {
        let of = |i: usize| u64::from(self.removed_at[i] < self.removed_at[i + 1]) << i;
        (0..SUBGRAPH_VERTICES).map(of).sum()
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
            + size_of_val(&*self.added)
            + size_of_val(&*self.removed)
            + size_of_val(&*self.added_from)
            + size_of_val(&*self.added_weights)
            + size_of_val(&*self.updated)
    }
}

/// As [`Corrections::new`] where an edge is told from others by its rank too: a neighbour comes once for each edge.
fn ranked(version: &Version, n: usize) -> (Option<Corrections>, u64) {
    let (changes, vertices) = crate::items::reduce(version.delta().items(n));
    let mut build = Builder::new(version, n);
    let mut rest = &changes[..];
    for i in 0..SUBGRAPH_VERTICES {
        let local = LocalVertex(i as u8);
        while let Some((change, others)) = rest.split_first().filter(|(change, _)| change.local == local) {
            rest = others;
            let found = version.main().find_item(local, change.dst, change.rank).is_some();
            match (found, change.state) {
                (false, Some((weight, _))) => build.add_neighbor(local, change.dst, weight),
                (true, None) => build.remove_neighbor(local, change.dst),
                // Ranked edges have no weights.
                _ => {}
            }
        }
        build.end(i);
    }
    let present = vertices.iter().fold(version.main().present(), |mask, &(local, inserted)| {
        if inserted { mask | local.bit() } else { mask & !local.bit() }
    });
    (build.finish(), present)
}

/// As [`Corrections::new`] where the main part has a patch, which comes under the delta.
fn patched(version: &Version, n: usize) -> (Option<Corrections>, u64) {
    let changes = version.changes(n, None);
    let weighted = version.main().weights().is_some();
    let mut build = Builder::new(version, changes.len());
    let mut rest = &changes[..];
    for i in 0..SUBGRAPH_VERTICES {
        let local = LocalVertex(i as u8);
        while let Some((change, others)) = rest.split_first().filter(|(change, _)| change.local == local) {
            rest = others;
            match (version.main().find(local, change.dst), change.weight) {
                (None, Some(weight)) => build.add_neighbor(local, change.dst, weight),
                (Some(_), None) => build.remove_neighbor(local, change.dst),
                (Some(at), Some(weight)) if weighted => build.reweight(local, at, weight),
                _ => {}
            }
        }
        build.end(i);
    }
    (build.finish(), version.at_delta(n).present())
}

/// Edge entries by source, destination and order, each packed as destination, position, operation; where each source
/// begins; and the vertices that exist.
type Sorted = (Vec<u64>, [u32; SUBGRAPH_VERTICES + 1], u64);

fn sort_by_source(version: &Version, n: usize) -> Sorted {
    let delta = version.delta();
    let mut present = version.main().present();
    // Counts, then one past where each source's next entry goes, then where each source begins.
    let mut starts = [0u32; SUBGRAPH_VERTICES + 1];
    for (local, op) in (0..n).map(|i| delta.source(i)) {
        starts[local.index() + 1] += u32::from(op != EdgeOp::Vertex);
    }
    for i in 0..SUBGRAPH_VERTICES {
        starts[i + 1] += starts[i];
    }
    let mut next = starts;
    let mut sorted = vec![0u64; starts[SUBGRAPH_VERTICES] as usize];
    for i in 0..n {
        let (local, op) = delta.source(i);
        let dst = delta.destination(i);
        if op == EdgeOp::Vertex {
            present = if dst.0 != 0 { present | local.bit() } else { present & !local.bit() };
            continue;
        }
        let at = &mut next[local.index()];
        sorted[*at as usize] = u64::from(dst.0) << 32 | (i as u64) << 2 | op as u64;
        *at += 1;
    }
    for i in 0..SUBGRAPH_VERTICES {
        sorted[starts[i] as usize..starts[i + 1] as usize].sort_unstable();
    }
    (sorted, starts, present)
}

/// Takes what concerns the first edge off the sorted entries of one source.
#[inline]
fn first_edge(entries: &[u64]) -> Option<(Reduced, &[u64])> {
    let (&head, mut rest) = entries.split_first()?;
    let mut last = head;
    while let Some((&entry, others)) = rest.split_first()
        && entry >> 32 == head >> 32
    {
        (last, rest) = (entry, others);
    }
    let op = |entry: u64| EdgeOp::from_bits(entry as u8 & 3);
    let entry = (last as u32 >> 2) as usize;
    let edge = Reduced { dst: VertexId((head >> 32) as u32), first: op(head), last: op(last), entry };
    Some((edge, rest))
}

struct Builder<'a> {
    version: &'a Version,
    touched: u64,
    reweighted: u64,
    added: Vec<VertexId>,
    added_from: Vec<LocalVertex>,
    added_weights: Vec<f64>,
    removed: Vec<VertexId>,
    updated: Vec<(u32, f64)>,
    added_at: [u16; SUBGRAPH_VERTICES + 1],
    removed_at: [u16; SUBGRAPH_VERTICES + 1],
}

impl<'a> Builder<'a> {
    fn new(version: &'a Version, n: usize) -> Builder<'a> {
        Builder {
            version,
            touched: 0,
            reweighted: 0,
            added: Vec::with_capacity(n),
            added_from: Vec::with_capacity(n),
            added_weights: Vec::new(),
            removed: Vec::new(),
            updated: Vec::new(),
            added_at: [0; SUBGRAPH_VERTICES + 1],
            removed_at: [0; SUBGRAPH_VERTICES + 1],
        }
    }

    #[inline]
    fn add(&mut self, local: LocalVertex, edge: &Reduced) {
        let weighted = self.version.main().weights().is_some();
        match (edge.first == EdgeOp::Insert, edge.last == EdgeOp::Remove) {
            (true, false) => {
                let weight = if weighted { self.version.delta().entry(edge.entry).weight } else { 1.0 };
                self.add_neighbor(local, edge.dst, weight);
            }
            (false, true) => {
                self.remove_neighbor(local, edge.dst);
            }
            (false, false) if weighted => {
                if let Some(at) = self.version.main().find(local, edge.dst) {
                    self.reweight(local, at, self.version.delta().entry(edge.entry).weight);
                }
            }
            _ => {}
        }
    }

    #[inline]
    fn add_neighbor(&mut self, local: LocalVertex, dst: VertexId, weight: f64) {
        self.touched |= local.bit();
        self.added.push(dst);
        self.added_from.push(local);
        if self.version.main().weights().is_some() {
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
        self.removed.push(dst);
    }

    fn end(&mut self, source: usize) {
        self.added_at[source + 1] = self.added.len() as u16;
        self.removed_at[source + 1] = self.removed.len() as u16;
    }

    fn finish(self) -> Option<Corrections> {
        (self.touched | self.reweighted != 0).then(|| Corrections {
            touched: self.touched,
            reweighted: self.reweighted,
            added_at: self.added_at,
            removed_at: self.removed_at,
            added: self.added.into(),
            added_from: self.added_from.into(),
            added_weights: self.added_weights.into(),
            removed: self.removed.into(),
            updated: self.updated.into(),
        })
    }
}
