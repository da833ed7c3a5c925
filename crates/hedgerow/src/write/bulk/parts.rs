//! Items, sorted by subgraph in parts that threads work on.

use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, SubgraphId, VertexId};
use hedgerow_mem::Latched;
use hedgerow_mem::subgraph::LocalOp;

/// Items of a part, about.
const PART: usize = 1 << 9;
/// Below this many items a second thread costs more than it saves.
const SERIAL: usize = 1 << 13;
/// The most parts.
const MOST_PARTS: usize = 1 << 11;
/// The most threads that one commit uses.
const MOST_THREADS: usize = 8;

/// An operation at one copy of its edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item {
    /// The vertex in the upper half, what stands in its list in the lower.
    pub(super) edge: u64,
    /// The place of the operation in the program.
    pub(super) op: u32,
    pub(super) direction: Direction,
    /// Which copy of the operation's edge this is: 0 at its source as given, 1 at its destination.
    pub(super) copy: u8,
}

impl Item {
    #[inline]
    pub(super) fn new(src: VertexId, dst: VertexId, op: u32, direction: Direction, copy: u8) -> Item {
        Item { edge: (u64::from(src.0) << 32) | u64::from(dst.0), op, direction, copy }
    }

    #[inline]
    pub(super) fn src(&self) -> VertexId {
        VertexId((self.edge >> 32) as u32)
    }

    #[inline]
    pub(super) fn dst(&self) -> VertexId {
        VertexId(self.edge as u32)
    }

    #[inline]
    fn subgraph(&self) -> SubgraphId {
        self.src().subgraph()
    }
}

/// The items of one subgraph and direction.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) subgraph: SubgraphId,
    pub(super) direction: Direction,
    /// The items.
    pub(super) from: usize,
    pub(super) to: usize,
    /// The latch, among those of the part.
    pub(super) latch: usize,
    /// The effects, among those of the part.
    pub(super) effects_from: usize,
    pub(super) effects_to: usize,
    /// Vertices that come into being, as far as no run before it of the same subgraph creates them.
    pub(super) created: u64,
}

/// Consecutive subgraphs, with their items.
#[derive(Default)]
pub(super) struct Part<'e, 'i> {
    pub(super) items: &'i mut [Item],
    pub(super) runs: Vec<Run>,
    pub(super) latched: Vec<Latched<'e>>,
    pub(super) effects: Vec<LocalOp>,
    pub(super) inserted: Vec<VertexId>,
    pub(super) edges: i64,
}

impl Part<'_, '_> {
    /// Sorts the items by subgraph, direction, vertex, destination and program order, and finds the runs.
    pub(super) fn sort(&mut self) {
        self.items.sort_unstable_by_key(|item| (item.subgraph(), item.direction as u8, item.edge, item.op));
        let mut from = 0;
        for run in self.items.chunk_by(|a, b| a.subgraph() == b.subgraph() && a.direction == b.direction) {
            self.runs.push(Run {
                subgraph: run[0].subgraph(),
                direction: run[0].direction,
                from,
                to: from + run.len(),
                latch: 0,
                effects_from: 0,
                effects_to: 0,
                created: 0,
            });
            from += run.len();
        }
    }
}

/// Moves the items to ranges of subgraphs, ascending: one pass to count, one to place (counting sort).
pub(super) fn split<'e, 'i>(items: &'i mut Vec<Item>) -> Vec<Part<'e, 'i>> {
    let wanted = (items.len() / PART).min(MOST_PARTS);
    if items.len() < SERIAL || wanted < 2 {
        return vec![Part { items, ..Part::default() }];
    }
    let subgraphs = items
        .iter()
        .map(|item| item.subgraph().0)
        .fold((u32::MAX, 0), |(low, high), s| (low.min(s), high.max(s)));
    let per_part = (u64::from(subgraphs.1 - subgraphs.0) + 1).div_ceil(wanted as u64).next_power_of_two();
    let shift = per_part.trailing_zeros();
    let place = |item: &Item| ((item.subgraph().0 - subgraphs.0) >> shift) as usize;
    let count = ((subgraphs.1 - subgraphs.0) >> shift) as usize + 1;
    let mut ends = vec![0usize; count];
    items.iter().for_each(|item| ends[place(item)] += 1);
    let mut next = Vec::with_capacity(count);
    let mut sum = 0;
    for end in &mut ends {
        next.push(sum);
        sum += *end;
        *end = sum;
    }
    let mut placed = items.clone();
    for item in items.iter() {
        let at = &mut next[place(item)];
        placed[*at] = *item;
        *at += 1;
    }
    *items = placed;
    let (mut parts, mut rest, mut from) = (Vec::with_capacity(count), items.as_mut_slice(), 0);
    for end in ends {
        let (of_part, others) = rest.split_at_mut(end - from);
        rest = others;
        from = end;
        if !of_part.is_empty() {
            parts.push(Part { items: of_part, ..Part::default() });
        }
    }
    parts
}

/// Calls `f` with each part, on several threads where there are several. Threads of the commit's own: in a pool of the
/// caller's the thread that holds the latches could be given work that waits for them.
#[cfg(not(shuttle))]
pub(super) fn for_each<'e, 'i>(parts: &mut [Part<'e, 'i>], f: impl Fn(&mut Part<'e, 'i>) + Sync) {
    let threads = threads().min(parts.len());
    if threads < 2 {
        return parts.iter_mut().for_each(f);
    }
    let queue = Mutex::new(parts.iter_mut());
    let work = || {
        loop {
            let next = queue.lock().next();
            let Some(part) = next else { return };
            f(part);
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // If no thread is to be had, those that are do the work.
            let _ = std::thread::Builder::new().spawn_scoped(scope, work);
        }
        work();
    });
}

#[cfg(shuttle)]
pub(super) fn for_each<'e, 'i>(parts: &mut [Part<'e, 'i>], f: impl Fn(&mut Part<'e, 'i>)) {
    parts.iter_mut().for_each(f);
}

/// The threads to use; asked of the system once.
#[cfg(not(shuttle))]
fn threads() -> usize {
    static THREADS: std::sync::OnceLock<usize> = std::sync::OnceLock::new();
    *THREADS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from).min(MOST_THREADS))
}
