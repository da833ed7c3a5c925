//! Merging a delta, and operations of a large commit, into a new main part.

use hedgerow_core::{LocalVertex, SUBGRAPH_VERTICES, VertexId};

use crate::arena::{Arena, Builder as Array};
use crate::delta::{EdgeOp, Entry};
use crate::main_part::{Main, Offsets};

/// The final word of a set of changes about one edge: its weight, or `None` if it is gone.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) local: LocalVertex,
    pub(crate) dst: VertexId,
    pub(crate) weight: Option<f64>,
}

/// The changes of `entries`, which come in commit order: vertices inserted and removed, edges reduced to the last
/// word about each and sorted by vertex and destination. O(n log n).
pub(crate) fn reduce(entries: impl Iterator<Item = Entry>) -> (Vec<Change>, Vec<(LocalVertex, bool)>) {
    let mut keyed: Vec<(u64, u32, Option<f64>)> = Vec::with_capacity(entries.size_hint().0);
    let mut vertices = Vec::new();
    for (order, entry) in entries.enumerate() {
        let key = (u64::from(entry.local.0) << 32) | u64::from(entry.dst.0);
        match entry.op {
            EdgeOp::Vertex => vertices.push((entry.local, entry.dst.0 != 0)),
            EdgeOp::Remove => keyed.push((key, order as u32, None)),
            EdgeOp::Insert | EdgeOp::Update => keyed.push((key, order as u32, Some(entry.weight))),
        }
    }
    keyed.sort_unstable_by_key(|&(key, order, _)| (key, order));
    let mut changes: Vec<Change> = Vec::with_capacity(keyed.len());
    for (key, _, weight) in keyed {
        let change = Change { local: LocalVertex((key >> 32) as u8), dst: VertexId(key as u32), weight };
        match changes.last_mut() {
            Some(last) if last.local == change.local && last.dst == change.dst => *last = change,
            _ => changes.push(change),
        }
    }
    (changes, vertices)
}

/// `main` with `changes` (sorted by vertex and destination, one per edge) and `vertices` (in commit order) applied.
/// O(edges + changes).
pub(crate) fn apply(
    main: &Main,
    changes: &[Change],
    vertices: &[(LocalVertex, bool)],
    weighted: bool,
    arena: &Arena,
) -> Main {
    let mut present = main.present;
    for &(local, inserted) in vertices {
        if inserted {
            present |= local.bit();
        } else {
            present &= !local.bit();
        }
    }
    let mut out = Builder::new(arena, main.neighbors.len() + changes.len(), weighted);
    let mut rest = changes;
    for i in 0..SUBGRAPH_VERTICES {
        let local = LocalVertex(i as u8);
        let count = rest.iter().take_while(|c| c.local == local).count();
        let (of_vertex, others) = rest.split_at(count);
        rest = others;
        out.begin(i);
        merge_list(main, local, of_vertex, &mut out);
    }
    out.finish(present)
}

/// Merges one sorted list with its sorted changes, copying unchanged stretches whole.
fn merge_list(main: &Main, local: LocalVertex, changes: &[Change], out: &mut Builder) {
    let range = main.range(local);
    let list = &main.neighbors[range.clone()];
    let mut at = 0;
    for change in changes {
        let skip = list[at..].partition_point(|&x| x < change.dst);
        out.copy(main, range.start + at..range.start + at + skip);
        at += skip;
        if list.get(at) == Some(&change.dst) {
            at += 1;
        }
        if let Some(weight) = change.weight {
            out.push(change.dst, weight);
        }
    }
    out.copy(main, range.start + at..range.end);
}

/// Collects lists in vertex order.
struct Builder {
    offsets: Offsets,
    neighbors: Array<VertexId>,
    weights: Option<Array<f64>>,
}

impl Builder {
    fn new(arena: &Arena, capacity: usize, weighted: bool) -> Builder {
        Builder {
            offsets: Offsets::default(),
            neighbors: arena.builder(capacity),
            weights: weighted.then(|| arena.builder(capacity)),
        }
    }

    fn begin(&mut self, vertex: usize) {
        self.offsets.0[vertex] = self.neighbors.len() as u32;
    }

    fn push(&mut self, dst: VertexId, weight: f64) {
        self.neighbors.push(dst);
        if let Some(weights) = &mut self.weights {
            weights.push(weight);
        }
    }

    fn copy(&mut self, main: &Main, range: std::ops::Range<usize>) {
        self.neighbors.extend(&main.neighbors[range.clone()]);
        if let (Some(weights), Some(from)) = (&mut self.weights, &main.weights) {
            weights.extend(&from[range]);
        }
    }

    fn finish(mut self, present: u64) -> Main {
        self.offsets.0[SUBGRAPH_VERTICES] = self.neighbors.len() as u32;
        Main {
            present,
            offsets: self.offsets,
            neighbors: self.neighbors.finish(),
            weights: self.weights.map(Array::finish),
            extra: None,
        }
    }
}
