//! Items, sorted by subgraph in parts that threads work on.

use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, SubgraphId, VertexId};
use hedgerow_mem::Latched;
use hedgerow_mem::subgraph::LocalOp;

use crate::write::Ask;

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
    pub(super) ask: Ask,
}

impl Item {
    #[inline]
    pub(super) fn new(
        src: VertexId,
        dst: VertexId,
        op: u32,
        direction: Direction,
        copy: u8,
        ask: Ask,
    ) -> Item {
        Item { edge: (u64::from(src.0) << 32) | u64::from(dst.0), op, direction, copy, ask }
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

/// The items in ranges of subgraphs, ascending, with the ends of the ranges: one pass to find the bounds, one to count,
/// one to place (counting sort). `each` gives all items, the same at every call, at most `most`.
pub(super) fn place(most: usize, each: impl Fn(&mut dyn FnMut(Item))) -> (Vec<Item>, Vec<usize>) {
    let wanted = (most / PART).min(MOST_PARTS);
    if most < SERIAL || wanted < 2 {
        let mut items = Vec::with_capacity(most);
        each(&mut |item| items.push(item));
        let end = items.len();
        return (items, vec![end]);
    }
    let (mut low, mut high) = (u32::MAX, 0);
    each(&mut |item| (low, high) = (low.min(item.subgraph().0), high.max(item.subgraph().0)));
    let low = low.min(high);
    let shift = (u64::from(high - low) + 1).div_ceil(wanted as u64).next_power_of_two().trailing_zeros();
    let place = |item: &Item| ((item.subgraph().0 - low) >> shift) as usize;
    let mut next = vec![0usize; ((high - low) >> shift) as usize + 1];
    each(&mut |item| next[place(&item)] += 1);
    let mut sum = 0;
    for begin in &mut next {
        (sum, *begin) = (sum + *begin, sum);
    }
    let nothing = Item::new(VertexId(0), VertexId(0), 0, Direction::Out, 0, Ask::Put);
    let mut items = vec![nothing; sum];
    each(&mut |item| {
        let at = &mut next[place(&item)];
        items[*at] = item;
        *at += 1;
    });
    (items, next)
}

/// The parts of placed items.
pub(super) fn split<'e, 'i>(items: &'i mut [Item], ends: &[usize]) -> Vec<Part<'e, 'i>> {
    let (mut parts, mut rest, mut from) = (Vec::with_capacity(ends.len()), items, 0);
    for &end in ends {
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
