//! Entries, sorted by subgraph and divided into parts that threads work on.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, LocalVertex, SubgraphId, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{Ahead, Attributes, Latched};
use hedgerow_txn::CommitThreads;
use hedgerow_txn::commit_threads::Shared;
use smallvec::SmallVec;

use super::labels::BatchLabel;
use crate::commit::op::OpKind;
use crate::commit::validate::{LatchKey, is_absent};
use crate::state::store::Engine;

/// The approximate number of entries of a part; smaller if there were too few parts for all threads.
const PART: usize = 1 << 11;
/// The least number of parts for each thread: an idle thread waits at most for a fourth of another's work.
const FEWEST_PARTS: usize = 4;
/// The greatest number of parts.
const MOST_PARTS: usize = 1 << 11;
/// The number of operations made into entries at a time: their entries stay cached until they are
/// distributed.
const CHUNK: usize = 1 << 13;
/// The number of operations that are sampled to predict how entries spread over subgraphs.
const SAMPLE: usize = 1 << 9;
/// The greatest number of batches for which there is room from the beginning.
const FEW_BATCHES: usize = 1 << 8;
/// The distance, in batches, of prefetches of headers.
pub(super) const HEADERS_AHEAD: usize = 8;

/// An operation at one copy of its edge, packed so that entries compare as one number: by subgraph,
/// direction, vertex, destination and place in the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct BatchEntry(u128);

/// An id that no vertex has.
const NO_DESTINATION: VertexId = VertexId(u32::MAX);
const _: () = assert!(VertexId::MAX.0 < NO_DESTINATION.0, "no vertex has it");

/// The number of bits of the place in the program, which are above the 8 bits of the kind.
const OP_BITS: u32 = 24;
const _: () = assert!(hedgerow_pager::limits::MAX_OPERATIONS <= 1 << OP_BITS, "places fit");

impl BatchEntry {
    #[inline]
    pub(super) fn new(
        src: VertexId,
        dst: VertexId,
        op: usize,
        direction: Direction,
        kind: OpKind,
    ) -> BatchEntry {
        let place = u64::from(src.subgraph().0) << 7 | (direction as u64) << 6 | src.local().0 as u64;
        let rest = u64::from(dst.0) << 32 | (op as u64) << 8 | kind as u64;
        BatchEntry(u128::from(place) << 64 | u128::from(rest))
    }

    /// Makes an entry at a vertex that the operation names. [`OpKind::InsertVertex`] creates it if absent;
    /// [`OpKind::Remove`] only latches the vertex's subgraph. It comes after the edges of the vertex.
    #[inline]
    pub(super) fn vertex(id: VertexId, op: usize, kind: OpKind) -> BatchEntry {
        BatchEntry::new(id, NO_DESTINATION, op, Direction::Out, kind)
    }

    /// True if the entry is about a vertex and not about an edge.
    #[inline]
    pub(super) fn is_vertex(&self) -> bool {
        self.dst() == NO_DESTINATION
    }

    #[inline]
    fn place(&self) -> u64 {
        (self.0 >> 64) as u64
    }

    #[inline]
    pub(super) fn local(&self) -> LocalVertex {
        LocalVertex(self.place() as u8 & 63)
    }

    #[inline]
    pub(super) fn dst(&self) -> VertexId {
        VertexId((self.0 as u64 >> 32) as u32)
    }

    /// Returns the place of the operation in the program.
    #[inline]
    pub(super) fn op(&self) -> usize {
        (self.0 as u64 as u32 >> 8) as usize
    }

    #[inline]
    pub(super) fn is_kind(&self, kind: OpKind) -> bool {
        self.0 as u8 == kind as u8
    }

    /// Returns the kind of an operation on an edge.
    #[inline]
    pub(super) fn kind(&self) -> OpKind {
        let nth = usize::from(self.is_kind(OpKind::Insert)) | usize::from(self.is_kind(OpKind::Put)) << 1;
        [OpKind::Remove, OpKind::Insert, OpKind::Put, OpKind::Put][nth]
    }

    /// True if both entries are about the same copy of an edge.
    #[inline]
    pub(super) fn same_edge(&self, other: &BatchEntry) -> bool {
        (self.0 ^ other.0) >> 32 == 0
    }

    #[inline]
    fn is_outgoing(&self) -> bool {
        self.place() & 64 == Direction::Out as u64
    }

    #[inline]
    fn subgraph(&self) -> SubgraphId {
        SubgraphId((self.place() >> 7) as u32)
    }
}

/// The entries of one subgraph, and their effects. Ranges are among the entries and the effects of the part.
#[derive(Debug)]
pub(super) struct SubgraphBatch {
    pub(super) subgraph: SubgraphId,
    /// The entries: first of the outgoing chain, then of the incoming one.
    from: u32,
    middle: u32,
    to: u32,
    /// The begin of the effects, the begin of the effects on the incoming chain, and the end of both.
    pub(super) effects: [u32; 3],
    /// True if the chains of the subgraph are not in memory, and its effects go to its inbox.
    pub(super) is_outside: bool,
}

impl SubgraphBatch {
    #[inline]
    pub(super) fn entries(&self, direction: Direction) -> std::ops::Range<usize> {
        match direction {
            Direction::Out => self.from as usize..self.middle as usize,
            Direction::In => self.middle as usize..self.to as usize,
        }
    }

    #[inline]
    pub(super) fn all_entries(&self) -> std::ops::Range<usize> {
        self.from as usize..self.to as usize
    }

    #[inline]
    pub(super) fn effects(&self, direction: Direction) -> std::ops::Range<usize> {
        let at = direction as usize;
        self.effects[at] as usize..self.effects[at + 1] as usize
    }
}

/// Consecutive subgraphs of a label, with their entries.
#[derive(Default)]
pub(super) struct Part<'e> {
    pub(super) label: BatchLabel,
    pub(super) entries: Vec<BatchEntry>,
    pub(super) batches: Vec<SubgraphBatch>,
    /// The latches, one for each batch.
    pub(super) latched: Vec<Latched<'e>>,
    /// Subgraphs without a page to which nothing is added, ascending: their batches are removed.
    pub(super) absent: Vec<SubgraphId>,
    /// Subgraphs whose pages must be loaded before the commit starts over.
    pub(super) unloaded: Vec<SubgraphId>,
    /// Those of them whose pages are not in memory.
    pub(super) stored: Vec<SubgraphId>,
    /// The effects: for a subgraph new vertices, then effects by direction, vertex and destination.
    pub(super) effects: Vec<LocalOp>,
    /// The attributes of the effects; empty if edges have no properties.
    pub(super) attributes: Vec<Attributes<'e>>,
    /// Versions built before the timestamp is drawn: the index of the batch, the chain, the version.
    pub(super) ahead: Vec<(u32, Direction, Ahead)>,
    /// True if the memory limit left no room for the remaining batches, so that this attempt fails.
    pub(super) is_cut_short: bool,
    /// The number of vertices that the part creates.
    pub(super) vertices: usize,
    /// The number of edges that change, each counted at one copy.
    pub(super) changes: usize,
    /// The change of the number of edges.
    pub(super) edges: i64,
}

impl Part<'_> {
    /// Returns the subgraphs whose pages must be loaded before the commit can latch.
    pub(super) fn unloaded(&self) -> impl Iterator<Item = LatchKey> {
        self.unloaded.iter().map(|&id| (self.label.label, id))
    }

    /// Sorts the entries, which come in the order of the program, and finds the batches.
    fn sort(&mut self) {
        sort(&mut self.entries);
        self.batches.reserve(self.entries.len().min(FEW_BATCHES));
        let mut from = 0;
        for batch in self.entries.chunk_by(|a, b| a.subgraph() == b.subgraph()) {
            let outgoing = batch.partition_point(BatchEntry::is_outgoing) as u32;
            self.batches.push(SubgraphBatch {
                subgraph: batch[0].subgraph(),
                from,
                middle: from + outgoing,
                to: from + batch.len() as u32,
                effects: [0; 3],
                is_outside: false,
            });
            from += batch.len() as u32;
        }
    }
}

/// True if the absent pages are still absent. Called in the ordering section (invariant I28).
pub(super) fn still_absent(engine: &Engine, parts: &[Part<'_>]) -> bool {
    let mut absent = parts.iter().flat_map(|part| part.absent.iter().map(|&id| (part.label.label, id)));
    faults::is_on(PlantedFault::AbsentNotLookedAtAgain) || absent.all(|place| is_absent(engine, place))
}

/// Prefetches the heads of the chains that a batch writes to.
pub(super) fn prefetch_heads(held: &Latched<'_>, part: &Part<'_>, batch: &SubgraphBatch) {
    for &direction in part.label.directions {
        let entries = &part.entries[batch.entries(direction)];
        if !entries.is_empty() {
            held.prefetch_head(direction, entries.iter().map(BatchEntry::local));
        }
    }
}

/// Sorts entries that are in the order of the program. In most parts the subgraphs are few and near each
/// other: then an entry compares as one word, which takes half the time.
fn sort(entries: &mut Vec<BatchEntry>) {
    let bits = |n: u32| u32::BITS - n.leading_zeros();
    let ends = |(lowest, highest): (u32, u32), id: u32| (lowest.min(id), highest.max(id));
    let (lowest, highest) = entries.iter().map(|entry| entry.subgraph().0).fold((u32::MAX, 0), ends);
    let place_bits = bits(entries.len() as u32);
    // Subgraph, direction and vertex (7 bits), destination (32 bits), place among the entries.
    if bits(highest.saturating_sub(lowest)) + 7 + 32 + place_bits > u64::BITS
        || entries.len() > u32::MAX as usize
    {
        return entries.sort_unstable();
    }
    let base = u64::from(lowest) << 7;
    let key = |(at, entry): (usize, &BatchEntry)| {
        ((entry.place() - base) << 32 | u64::from(entry.dst().0)) << place_bits | at as u64
    };
    let mut keys: SmallVec<[u64; 64]> = entries.iter().enumerate().map(key).collect();
    keys.sort_unstable();
    let places = (1 << place_bits) - 1;
    *entries = keys.iter().map(|key| entries[(key & places) as usize]).collect();
}

/// The entries of some operations, in ranges of subgraphs.
#[derive(Default)]
struct Chunk {
    ops: std::ops::Range<usize>,
    entries: Vec<BatchEntry>,
    /// The end of the entries of each range of subgraphs.
    ends: Vec<u32>,
}

impl Chunk {
    /// Distributes by range the entries that `of` makes, with a counting sort.
    fn distribute(&mut self, of: &impl Fn(std::ops::Range<usize>, &mut Vec<BatchEntry>), ranges: &Ranges) {
        let mut entries = Vec::with_capacity(self.ops.len() * 2);
        of(self.ops.clone(), &mut entries);
        let mut next = vec![0u32; ranges.count];
        entries.iter().for_each(|entry| next[ranges.of(entry)] += 1);
        let mut sum = 0;
        for begin in &mut next {
            (sum, *begin) = (sum + *begin, sum);
        }
        let mut sorted = vec![BatchEntry(0); entries.len()];
        for entry in &entries {
            let at = &mut next[ranges.of(entry)];
            sorted[*at as usize] = *entry;
            *at += 1;
        }
        (self.entries, self.ends) = (sorted, next);
    }

    fn range(&self, at: usize) -> &[BatchEntry] {
        let from = at.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.entries[from..self.ends[at] as usize]
    }
}

/// Ranges of subgraphs of equal width; the first and the last also have all subgraphs before and after.
struct Ranges {
    lowest: u32,
    shift: u32,
    count: usize,
}

impl Ranges {
    /// Chooses the number of ranges so that parts have the intended size if all entries spread like those of
    /// a sample. A bad fit costs only speed.
    fn sampled(
        ops: usize,
        threads: usize,
        of: &impl Fn(std::ops::Range<usize>, &mut Vec<BatchEntry>),
    ) -> Ranges {
        let mut sample = Vec::with_capacity(SAMPLE * 2);
        (0..ops).step_by(ops.div_ceil(SAMPLE).max(1)).for_each(|at| of(at..at + 1, &mut sample));
        let subgraphs = || sample.iter().map(|entry| entry.subgraph().0);
        let (lowest, highest) = (subgraphs().min().unwrap_or(0), subgraphs().max().unwrap_or(0));
        let wanted = (ops * 2 / PART).max(threads * FEWEST_PARTS).clamp(1, MOST_PARTS) as u32;
        let shift = ((highest - lowest) / wanted + 1).next_power_of_two().trailing_zeros();
        Ranges { lowest, shift, count: ((highest - lowest) >> shift) as usize + 1 }
    }

    #[inline]
    fn of(&self, entry: &BatchEntry) -> usize {
        ((entry.subgraph().0.saturating_sub(self.lowest) >> self.shift) as usize).min(self.count - 1)
    }
}

/// Returns the sorted entries of operations `0..ops` on a label, in ascending parts of consecutive subgraphs.
/// `of` makes the entries of a range of operations, at most two for each, with the context. Fewer than
/// `serial` operations make one part. Returns the context too.
pub(super) fn parts<'j, 'e: 'j, X: Shared + 'j>(
    threads: &CommitThreads<'j>,
    (label, ops): (BatchLabel, usize),
    serial: usize,
    context: X,
    of: impl Fn(&X, std::ops::Range<usize>, &mut Vec<BatchEntry>) + Copy + Shared + 'j,
) -> (X, Vec<Part<'e>>) {
    if ops * 2 < serial {
        let mut part = Part { label, ..Part::default() };
        part.entries.reserve_exact(ops * 2);
        of(&context, 0..ops, &mut part.entries);
        part.sort();
        let any = !part.entries.is_empty();
        return (context, any.then_some(part).into_iter().collect());
    }
    let pieces = (0..ops).step_by(CHUNK).map(|from| from..ops.min(from + CHUNK));
    let chunks = pieces.map(|ops| Chunk { ops, ..Chunk::default() }).collect();
    let ranges = Ranges::sampled(ops, threads.threads(), &|ops, entries: &mut _| of(&context, ops, entries));
    let count = ranges.count;
    let ((context, _), chunks) =
        threads.each((context, ranges), chunks, move |(context, ranges), chunk: &mut Chunk| {
            chunk.distribute(&|ops, entries: &mut _| of(context, ops, entries), ranges);
        });
    let parts: Vec<(usize, Part<'e>)> =
        (0..count).map(|range| (range, Part { label, ..Part::default() })).collect();
    let (_, parts) = threads.each(chunks, parts, |chunks, (range, part)| {
        part.entries.reserve_exact(chunks.iter().map(|chunk| chunk.range(*range).len()).sum());
        chunks.iter().for_each(|chunk| part.entries.extend_from_slice(chunk.range(*range)));
        part.sort();
    });
    let parts = parts.into_iter().map(|(_, part)| part).filter(|part| !part.entries.is_empty()).collect();
    (context, parts)
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use hedgerow_txn::with_commit_threads;

    use super::*;

    /// The parts have all entries in order, for any spread of the ids, also if the sample misleads.
    #[test]
    fn parts_are_the_sorted_items_however_they_are_spread() {
        let ops = 3 * CHUNK + 100;
        let even = |at: usize| (at * 7919 % (1 << 20)) as u32;
        // The sample does not include operations 5 and 6.
        let far = |at: usize| match at {
            5 => 0,
            6 => u32::MAX - 1,
            _ => (1 << 28) + even(at),
        };
        let spreads: [&(dyn Fn(usize) -> u32 + Sync); 4] =
            [&even, &far, &|_| 77, &|at| u32::MAX - 1 - at as u32];
        for hint in spreads {
            let of = |range: std::ops::Range<usize>, to: &mut Vec<BatchEntry>| {
                for at in range {
                    let (u, v) = (VertexId(hint(at)), VertexId(hint(at) ^ 64));
                    to.push(BatchEntry::new(u, v, at, Direction::Out, OpKind::Put));
                    to.push(BatchEntry::new(v, u, at, Direction::In, OpKind::Put));
                }
            };
            let mut expected = Vec::new();
            of(0..ops, &mut expected);
            expected.sort_unstable();
            let (_, parts) = with_commit_threads(ops, 0, |threads| {
                parts(threads, (BatchLabel::default(), ops), 1 << 10, (), |_: &(), range, to| of(range, to))
            });
            let found: Vec<BatchEntry> = parts.iter().flat_map(|part| part.entries.iter().copied()).collect();
            assert!(found == expected);
            let ends = parts
                .iter()
                .map(|part| (part.batches[0].subgraph, part.batches[part.batches.len() - 1].subgraph));
            assert!(ends.clone().zip(ends.skip(1)).all(|(before, after)| before.1 < after.0));
        }
        let (_, none) = with_commit_threads(5000, 0, |threads| {
            parts(threads, (BatchLabel::default(), 5000), 1 << 10, (), |_: &(), _, _| ())
        });
        assert!(none.is_empty());
    }
}
