//! The rule by which reads make the view: a snapshot with many reads stops walking chains of versions.
//!
//! This is a ski rental (Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching", 1988). The number
//! of reads to come is unknown, so a snapshot walks chains until the walks have cost [`RENTS`] times the
//! view, and then makes the view. `docs/design/views-by-reads.md` has the model.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow_catalog::error::Result;
use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_mem::Hold;
use hedgerow_mem::view::FromScratch;

use crate::read::snapshot::Snapshot;
use crate::read::view_demand::{Cost, Price};
use crate::read::views::Makers;
use crate::state::store::Core;

/// Reads make the view once their walks of chains have cost this many times the price of the view. So the
/// view makes no loop of reads more than a quarter slower.
const RENTS: u64 = 4;
/// The costs of a view from scratch, in nanoseconds: for each subgraph, each copied edge, and each sorted
/// entry.
const SUBGRAPH_NS: u64 = 400;
const COPIED_NS: u64 = 4;
const ENTRY_NS: u64 = 20;
/// The cost of counting the edges of one subgraph, in nanoseconds, in undirected graphs with several labels.
const COUNT_NS: u64 = 3000;
/// The number of subgraphs beyond which reads miss the cache. Making a view prefetches, and hardly misses it.
const BEYOND_CACHE: u32 = 2048;
/// The number of subgraphs that an estimate reads.
const SAMPLED: u32 = 64;
/// The cost at which a thread adds what it has spent to its snapshot.
const CHARGED_AT_ONCE: u32 = 4096;

thread_local! {
    /// The cost of this thread's walks of chains that it has not added to a snapshot yet. A thread that reads
    /// several snapshots may add the cost of reads of one to another. The bound then applies to all reads of
    /// the thread together.
    static UNCHARGED: Cell<Cost> = const { Cell::new(Cost::ZERO) };
}

impl Snapshot {
    /// Prepares the snapshot for a user: its reads may make the view if the options of the store allow it.
    /// Reads of a transaction's snapshot may not.
    pub(crate) fn for_user(self) -> Snapshot {
        self.set_views_by_reads(self.engine().catalog.views_by_reads);
        self
    }

    /// Does what [`DefaultLabel::set_views_by_reads`](crate::DefaultLabel::set_views_by_reads) says.
    pub(super) fn set_views_by_reads(&self, may_make: bool) {
        self.may_make_view().store(may_make, Relaxed);
    }

    /// Counts the vertices that a bulk read asks for. True if the read should use the view: the view exists,
    /// or reads may make it and the snapshot has read as many vertices as there are subgraphs. Reads may make
    /// it only if all subgraphs are loaded and memory has room for the view.
    pub(super) fn reads_by_view(&self, keys: usize) -> bool {
        let demand = self.demand();
        let keys = keys as u64;
        let asked = demand.keys.fetch_add(keys, Relaxed).wrapping_add(keys);
        let is_due = || {
            self.may_make_view().load(Relaxed)
                && asked >= u64::from(self.engine().keys.ids.bound.subgraphs())
                && self.engine().pager.all_loaded()
                && self.engine().pager.has_room_for_view()
        };
        self.made_view().is_some() || is_due()
    }

    /// Counts a single read after it walked a chain. O(1), except for the read with which walks have cost
    /// [`RENTS`] times the view: it may make the view.
    #[inline]
    pub(super) fn note_read(&self, cost: Cost) {
        // Model checkers repeat an execution: no count may remain from an earlier one.
        if cfg!(feature = "model-checking") || !self.may_make_view().load(Relaxed) {
            return;
        }
        let spent = UNCHARGED.get().plus(cost, 1);
        if spent.near() < CHARGED_AT_ONCE {
            UNCHARGED.set(spent);
        } else {
            UNCHARGED.set(Cost::ZERO);
            self.charge(spent);
        }
    }

    #[cold]
    fn charge(&self, cost: Cost) {
        let demand = self.demand();
        let is_near = self.engine().keys.ids.bound.subgraphs() < BEYOND_CACHE;
        let cost = u64::from(if is_near { cost.near() } else { cost.far() });
        let spent = demand.spent.fetch_add(cost, Relaxed).saturating_add(cost);
        if spent < demand.due.load(Relaxed) || self.engine().is_forked() {
            return;
        }
        let Ok(mut price) = demand.price.try_lock() else { return };
        // Another thread may have checked the price since.
        if spent >= demand.due.load(Relaxed) {
            let (next, due) = self.look_at_price(*price);
            *price = next;
            demand.due.store(due, Relaxed);
        }
    }

    /// Makes the view if its price is paid, or takes the view from another snapshot. Returns the price as far
    /// as it is known, and the cost at which to check again.
    fn look_at_price(&self, price: Price) -> (Price, u64) {
        const NEVER: u64 = u64::MAX;
        let engine = self.engine();
        if !engine.pager.all_loaded() {
            // The view would load subgraphs that reads do not touch.
            return (Price::Unknown, RENTS * least_view_cost(engine));
        }
        if let Some(shared) = engine.views.shared(self.timestamp()) {
            self.keep_view(shared);
            return (Price::Settled, NEVER);
        }
        match price {
            Price::Unknown => (Price::AtLeast, RENTS * least_view_cost(engine)),
            // If the cost cannot be sampled, this snapshot never makes a view: its reads go on walking
            // chains.
            Price::AtLeast => match self.sampled_view_cost() {
                Ok(cost) => (Price::Sampled, RENTS * cost),
                Err(_) => (Price::Settled, NEVER),
            },
            Price::Sampled if engine.pager.has_room_for_view() => {
                // The view is made on this thread alone: the caller may have a lock that a task of the pool
                // waits for.
                if let Ok(view) = self.cached_view_of(LabelId::DEFAULT, Makers::ThisThread) {
                    self.keep_view(view);
                }
                (Price::Settled, NEVER)
            }
            Price::Sampled | Price::Settled => (Price::Settled, NEVER),
        }
    }

    /// Estimates the cost of a view from scratch, in nanoseconds. Reads [`SAMPLED`] subgraphs.
    fn sampled_view_cost(&self) -> Result<u64> {
        let engine = self.engine();
        let bound = engine.keys.ids.bound.subgraphs();
        let (mut sampled, mut cost) = (0, 0);
        for at in (0..bound).step_by(bound.div_ceil(SAMPLED).max(1) as usize) {
            sampled += 1;
            let Some(subgraph) = engine.pager.subgraphs.get(SubgraphId(at), Hold::none()) else { continue };
            for &direction in engine.catalog.directions() {
                let work = subgraph.read(direction, self.timestamp(), FromScratch::of)?.unwrap_or_default();
                cost += work.copied as u64 * COPIED_NS + work.entries as u64 * ENTRY_NS;
            }
        }
        Ok(least_view_cost(engine) + cost * u64::from(bound) / u64::max(sampled, 1))
    }
}

/// Returns the cost of a view of the default label from scratch if all subgraphs are settled, in
/// nanoseconds.
fn least_view_cost(core: &Core) -> u64 {
    let counts = !core.catalog.config.directed && core.catalog.defined_labels().len() > 1;
    let each = SUBGRAPH_NS * core.catalog.directions().len() as u64 + if counts { COUNT_NS } else { 0 };
    u64::from(core.keys.ids.bound.subgraphs().max(1)) * each
}
