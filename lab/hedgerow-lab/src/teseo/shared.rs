//! The state that transactions, snapshots and service threads share.

use std::sync::Arc;
use std::time::Duration;

use hedgerow_core::{Direction, Update};

use super::index::{Hint, Table};
use super::options::{Shape, TeseoOptions};
use super::queue::Queue;
use super::segment::Segment;
use super::tree::Tree;
use super::undo::Horizon;
use crate::GraphForm;
use crate::clock::Clock;

/// The sleep of a transaction between two checks of another transaction, after a long wait.
const PATIENCE: Duration = Duration::from_micros(50);

/// The container from which snapshots read.
pub(super) trait Store: Send + Sync + 'static {
    fn shape(&self) -> &Shape;
    fn table(&self) -> &Table;
    /// Returns the result of `f` for the segment that holds `key`. `f` also gets the place of a header, if
    /// `hint` leads to that segment.
    fn read<T>(&self, direction: Direction, hint: Hint, key: u64, f: impl FnOnce(&Segment, usize) -> T) -> T;
    /// Prefetches the segment that the hint of a vertex names.
    fn prefetch(&self, direction: Direction, hint: Hint);
}

/// The whole container, without its threads.
pub struct Shared {
    /// The trees of edges. A directed graph has two: one by source, and one by destination.
    trees: Vec<Tree>,
    pub(super) table: Table,
    pub(super) clock: Arc<Clock>,
    pub(super) queue: Arc<Queue>,
    pub(super) shape: Shape,
    pub(super) form: GraphForm,
}

impl Shared {
    pub(super) fn new(form: GraphForm, options: TeseoOptions) -> Shared {
        let shape = Shape::new(form, options, true);
        Shared {
            trees: form.directions().iter().map(|&direction| Tree::new(shape, direction)).collect(),
            table: Table::default(),
            clock: Arc::default(),
            queue: Arc::new(Queue::new(options.delay, options.visits)),
            shape,
            form,
        }
    }

    #[inline]
    pub(super) fn tree(&self, direction: Direction) -> &Tree {
        &self.trees[direction as usize]
    }

    pub(super) fn horizon(&self) -> Horizon {
        Horizon::now(&self.clock)
    }

    /// Prefetches both segments in which the lists of a single edge begin. This happens before the
    /// transaction has a timestamp, because younger transactions wait for older timestamps.
    pub(super) fn prefetch_edge(&self, updates: &[Update]) {
        let [Update::InsertEdge(src, dst, _) | Update::RemoveEdge(src, dst)] = *updates else { return };
        self.table.prefetch(src);
        self.table.prefetch(dst);
        let mirrored = self.form.mirrored(Direction::Out);
        self.prefetch(Direction::Out, self.table.hint(src, Direction::Out));
        self.prefetch(mirrored, self.table.hint(dst, mirrored));
    }

    /// Changes the segment that holds `key`, and requests a rebalance if the segment needs one.
    #[inline]
    pub(super) fn write<T>(
        &self,
        direction: Direction,
        hint: Hint,
        key: u64,
        f: impl FnOnce(&mut Segment, usize) -> T,
    ) -> T {
        let (made, asks) = self.tree(direction).write(hint, key, f);
        if let Some(key) = asks {
            self.queue.push(direction, key);
        }
        made
    }

    pub(super) fn rebalance(&self, direction: Direction, key: u64) {
        self.tree(direction).rebalance(key, &self.table, &|| self.horizon());
    }

    /// Makes all requested rebalances.
    pub(super) fn rebalance_all(&self) {
        for (direction, key) in self.queue.take_all() {
            self.rebalance(direction, key);
        }
    }

    /// Prunes versions, rebalances full segments, and merges leaves.
    pub(super) fn visit(&self) {
        for tree in &self.trees {
            tree.visit(&self.table, &|| self.horizon());
        }
        self.table.prune(&self.horizon());
    }

    pub(super) fn bytes(&self) -> usize {
        self.table.bytes() + self.trees.iter().map(Tree::bytes).sum::<usize>()
    }

    /// Waits until a transaction is published.
    pub(super) fn wait_for(&self, timestamp: u64) {
        for asked in 1.. {
            if self.clock.published() >= timestamp {
                return;
            }
            match asked {
                // The other transaction may not be running: there may be fewer cores than threads, or it may
                // wait for this core.
                1000.. => std::thread::sleep(PATIENCE),
                _ if asked % 100 == 0 => std::thread::yield_now(),
                _ => std::hint::spin_loop(),
            }
        }
    }
}

impl Store for Shared {
    fn shape(&self) -> &Shape {
        &self.shape
    }

    fn table(&self) -> &Table {
        &self.table
    }

    #[inline]
    fn read<T>(&self, direction: Direction, hint: Hint, key: u64, f: impl FnOnce(&Segment, usize) -> T) -> T {
        self.tree(direction).read(hint, key, f)
    }

    #[inline]
    fn prefetch(&self, direction: Direction, hint: Hint) {
        self.tree(direction).prefetch(hint);
    }
}
