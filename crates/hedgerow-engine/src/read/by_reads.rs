//! When reads make the view: a snapshot that is asked much stops walking chains of versions.
//!
//! A ski rental (Karlin, Manasse, Rudolph, Sleator, "Competitive snoopy caching", 1988): nobody knows how many reads follow, so a snapshot
//! walks chains until that has cost [`RENTS`] times what the view would, and makes the view then. `docs/design/views.md` has the model.

use std::cell::Cell;
use std::sync::atomic::Ordering::Relaxed;

use hedgerow_core::{LabelId, SubgraphId};
use hedgerow_mem::view::FromScratch;

use crate::error::Result;
use crate::read::snapshot::Snapshot;
use crate::read::view_demand::{Cost, Price};
use crate::read::views::Makers;
use crate::state::store::Core;

/// Chains are walked until that has cost so many times what the view costs: so no loop of reads takes more than a quarter longer for it.
const RENTS: u64 = 4;
/// What a view from scratch costs: nanoseconds for each subgraph, each edge that it copies, and each entry that it sorts.
const SUBGRAPH_NS: u64 = 400;
const COPIED_NS: u64 = 4;
const ENTRY_NS: u64 = 20;
/// What it costs for each subgraph to count the edges of an undirected graph that has labels.
const COUNT_NS: u64 = 3000;
/// From so many subgraphs on reads miss the cache. Views are made with loads ahead and hardly do.
const BEYOND_CACHE: u32 = 2048;
/// Subgraphs that an estimate looks at.
const SAMPLED: u32 = 64;
/// What a thread has spent is added to what its snapshot has once it is so much.
const CHARGED_AT_ONCE: u32 = 4096;

thread_local! {
    /// What this thread spent on chains and has not added to a snapshot. A thread that reads several snapshots may add what it spent on
    /// one to another: then the bound holds for the reads of the thread.
    static UNCHARGED: Cell<Cost> = const { Cell::new(Cost::ZERO) };
}

impl Snapshot {
    /// As a user gets it: its reads may make the view where the options of the store say so. Those of a transaction may not.
    pub(crate) fn for_user(self) -> Snapshot {
        self.set_views_by_reads(self.engine().views_by_reads);
        self
    }

    /// Whether reads of this snapshot and its clones may make the view, in place of what
    /// [`Options::views_by_reads`](crate::Options::views_by_reads) says of all snapshots: for one of which no read is to stall. O(1).
    pub fn set_views_by_reads(&self, may_make: bool) {
        self.may_make_view().store(may_make, Relaxed);
    }

    /// Counts vertices that a read of many asks for; whether it is to read the view: where there is one, or where the snapshot
    /// was asked for as many as there are subgraphs, all of which are loaded.
    pub(super) fn reads_by_view(&self, keys: usize) -> bool {
        let demand = self.demand();
        let keys = keys as u64;
        let asked = demand.keys.fetch_add(keys, Relaxed).wrapping_add(keys);
        let is_due = || {
            self.may_make_view().load(Relaxed)
                && asked >= u64::from(self.engine().subgraph_bound())
                && self.engine().all_loaded()
                && self.engine().has_room_for_view()
        };
        self.made_view().is_some() || is_due()
    }

    /// Counts a single read that walked a chain, after it. O(1), and once in [`RENTS`] times its cost that of the view.
    #[inline]
    pub(super) fn note_read(&self, cost: Cost) {
        // Model checkers repeat what they run: nothing may be left of the runs before.
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
        let is_near = self.engine().subgraph_bound() < BEYOND_CACHE;
        let cost = u64::from(if is_near { cost.near() } else { cost.far() });
        let spent = demand.spent.fetch_add(cost, Relaxed).saturating_add(cost);
        if spent < demand.due.load(Relaxed) || self.engine().is_forked() {
            return;
        }
        let Ok(mut price) = demand.price.try_lock() else { return };
        // Another thread may have looked meanwhile.
        if spent >= demand.due.load(Relaxed) {
            let (next, due) = self.look_at_price(*price);
            *price = next;
            demand.due.store(due, Relaxed);
        }
    }

    /// Makes the view if its price is paid, or takes it from another snapshot. Returns what is known of the price, and how much is to be
    /// spent before the next look.
    fn look_at_price(&self, price: Price) -> (Price, u64) {
        const NEVER: u64 = u64::MAX;
        let engine = self.engine();
        if !engine.all_loaded() {
            // Making it would load what reads do not touch. The next look comes as late as the first.
            return (Price::Unknown, RENTS * engine.least_view_cost());
        }
        if let Some(shared) = engine.views.shared(self.timestamp()) {
            self.keep_view(shared);
            return (Price::Settled, NEVER);
        }
        match price {
            Price::Unknown => (Price::AtLeast, RENTS * engine.least_view_cost()),
            // Where it cannot be made, reads walk chains for ever.
            Price::AtLeast => match self.sampled_view_cost() {
                Ok(cost) => (Price::Sampled, RENTS * cost),
                Err(_) => (Price::Settled, NEVER),
            },
            Price::Sampled if engine.has_room_for_view() => {
                // On this thread: the caller may hold what a task of the pool waits for.
                if let Ok(view) = self.cached_view_of(LabelId::DEFAULT, Makers::ThisThread) {
                    self.keep_view(view);
                }
                (Price::Settled, NEVER)
            }
            Price::Sampled | Price::Settled => (Price::Settled, NEVER),
        }
    }

    /// About what a view from scratch costs, in nanoseconds. Reads [`SAMPLED`] subgraphs.
    fn sampled_view_cost(&self) -> Result<u64> {
        let engine = self.engine();
        let bound = engine.subgraph_bound();
        let (mut sampled, mut cost) = (0, 0);
        for at in (0..bound).step_by(bound.div_ceil(SAMPLED).max(1) as usize) {
            sampled += 1;
            let Some(subgraph) = engine.subgraphs.get(SubgraphId(at)) else { continue };
            for &direction in engine.directions() {
                let work = subgraph.read(direction, self.timestamp(), FromScratch::of)?.unwrap_or_default();
                cost += work.copied as u64 * COPIED_NS + work.entries as u64 * ENTRY_NS;
            }
        }
        Ok(engine.least_view_cost() + cost * u64::from(bound) / u64::max(sampled, 1))
    }
}

impl Core {
    /// What a view from scratch of the default label costs if all is settled, in nanoseconds.
    fn least_view_cost(&self) -> u64 {
        let counts = !self.config.directed && self.defined_labels().len() > 1;
        let each = SUBGRAPH_NS * self.directions().len() as u64 + if counts { COUNT_NS } else { 0 };
        u64::from(self.subgraph_bound().max(1)) * each
    }
}
