//! What the operations of a large transaction come to, looked up once per edge: at the copy whose list is shorter, since
//! both copies say the same. A hub's list and delta are hardly searched at all.

use hedgerow_core::simd;
use hedgerow_core::sync::{AtomicU32, AtomicU64, Ordering};
use hedgerow_mem::{EdgeOp, Latched};

use super::parts::{Item, Part, Run};
use crate::graph::Engine;
use crate::write::{Ask, TxnOp};

/// How many runs ahead heads, and deltas and lists, and the right places in them, are loaded.
const HEADS_AHEAD: usize = 12;
const LISTS_AHEAD: usize = 8;
const PLACES_AHEAD: usize = 4;
/// How many items ahead cells are loaded.
const CELLS_AHEAD: usize = 16;

/// What one operation comes to. Written by the threads that own its copies, 16 bytes: looked at in the order of edges, not
/// of operations.
#[repr(align(16))]
struct Cell {
    /// The length of the list at either copy; the largest number where there is no such copy.
    degrees: [AtomicU32; 2],
    /// The effect: 0 for none, else one more than the number of the [`EdgeOp`].
    effect: AtomicU32,
}

/// What the operations come to. Those about one edge are known by the first of them, at both copies.
pub(super) struct Outcomes {
    cells: Vec<Cell>,
    /// The weight that the edge has afterwards, by its bits; empty in a graph without weights.
    weights: Vec<AtomicU64>,
}

impl Outcomes {
    pub(super) fn new(engine: &Engine, ops: usize) -> Outcomes {
        let no_copy = || AtomicU32::new(u32::MAX);
        let cell = || Cell { degrees: [no_copy(), no_copy()], effect: AtomicU32::new(0) };
        let weights = if engine.config.weighted { ops } else { 0 };
        Outcomes {
            cells: (0..ops).map(|_| cell()).collect(),
            weights: (0..weights).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Starts loading the cells of as many items after the run as it has.
    #[inline]
    pub(super) fn warm(&self, items: &[Item], run: &Run) {
        let after = run.to + CELLS_AHEAD..(run.to + CELLS_AHEAD + (run.to - run.from)).min(items.len());
        for item in items.get(after).unwrap_or_default() {
            simd::prefetch(&raw const self.cells[item.op as usize]);
        }
    }

    /// Notes how long the lists of the part are. The phases are separated by the end of their threads.
    pub(super) fn note_degrees(&self, part: &mut Part<'_, '_>) {
        let mut heads = 0;
        for at in 0..part.runs.len() {
            while heads < part.runs.len().min(at + HEADS_AHEAD) {
                let run = &part.runs[heads];
                let held = &part.latched[run.latch];
                part.items[run.from..run.to]
                    .iter()
                    .for_each(|item| held.warm_head(run.direction, item.src().local()));
                heads += 1;
            }
            let run = &part.runs[at];
            let held = &part.latched[run.latch];
            self.warm(part.items, run);
            for item in &part.items[run.from..run.to] {
                let degree = held.settled_degree(run.direction, item.src().local());
                let degree = u32::try_from(degree).unwrap_or(u32::MAX - 1);
                self.cells[item.op as usize].degrees[usize::from(item.copy)].store(degree, Ordering::Relaxed);
            }
        }
    }

    /// Whether the edge of these operations is looked up at this copy; `item` is the first of them.
    #[inline]
    pub(super) fn is_chosen(&self, item: &Item) -> bool {
        let [source, destination] = &self.cells[item.op as usize].degrees;
        let at_source = source.load(Ordering::Relaxed) <= destination.load(Ordering::Relaxed);
        at_source == (item.copy == 0)
    }

    /// Looks up the edges whose shorter lists are in the part.
    pub(super) fn look_up(&self, engine: &Engine, ops: &[TxnOp], part: &mut Part<'_, '_>) {
        let Part { items, runs, latched, .. } = part;
        let of = |run: &Run| &items[run.from..run.to];
        let (mut lists, mut places) = (0, 0);
        for at in 0..runs.len() {
            if let Some(ahead) = runs.get(at + LISTS_AHEAD) {
                self.warm(items, ahead);
            }
            while lists < runs.len().min(at + LISTS_AHEAD) {
                self.warm_lists(&runs[lists], of(&runs[lists]), &latched[runs[lists].latch]);
                lists += 1;
            }
            while places < runs.len().min(at + PLACES_AHEAD) {
                let (run, held) = (&runs[places], &latched[runs[places].latch]);
                for item in of(run).iter().filter(|item| self.is_chosen(item)) {
                    held.warm_place(run.direction, item.src().local(), item.dst());
                }
                places += 1;
            }
            let (run, held) = (&runs[at], &latched[runs[at].latch]);
            for group in of(run).chunk_by(|a, b| a.edge == b.edge) {
                if self.is_chosen(&group[0]) {
                    self.decide(engine, ops, group, held, run);
                }
            }
        }
    }

    fn warm_lists(&self, run: &Run, items: &[Item], held: &Latched<'_>) {
        held.warm_delta(run.direction);
        for item in items.iter().filter(|item| self.is_chosen(item)) {
            held.warm_list(run.direction, item.src().local());
        }
    }

    /// What the operations about one edge, in program order, come to.
    #[inline]
    fn decide(&self, engine: &Engine, ops: &[TxnOp], group: &[Item], held: &Latched<'_>, run: &Run) {
        let before = held.edge(run.direction, group[0].src().local(), group[0].dst());
        let after = group.iter().fold(before, |state, item| {
            let weight = || if engine.config.weighted { ops[item.op as usize].weight } else { 1.0 };
            match item.ask {
                Ask::Put => Some(weight()),
                Ask::Insert => state.or_else(|| Some(weight())),
                _ => None,
            }
        });
        let effect = match (before, after) {
            (None, Some(_)) => EdgeOp::Insert,
            (Some(_), None) => EdgeOp::Remove,
            (Some(old), Some(new)) if engine.config.weighted && old.to_bits() != new.to_bits() => {
                EdgeOp::Update
            }
            _ => return,
        };
        let op = group[0].op as usize;
        self.cells[op].effect.store(effect as u32 + 1, Ordering::Relaxed);
        if let (Some(cell), Some(weight)) = (self.weights.get(op), after) {
            cell.store(weight.to_bits(), Ordering::Relaxed);
        }
    }

    /// The effect of the operations about one edge, of which `op` is the first, and the weight it leaves.
    #[inline]
    pub(super) fn effect(&self, op: u32) -> Option<(EdgeOp, f64)> {
        let effect = match self.cells[op as usize].effect.load(Ordering::Relaxed) {
            0 => return None,
            1 => EdgeOp::Insert,
            2 => EdgeOp::Remove,
            _ => EdgeOp::Update,
        };
        let weight =
            self.weights.get(op as usize).map_or(1.0, |bits| f64::from_bits(bits.load(Ordering::Relaxed)));
        Some((effect, weight))
    }
}
