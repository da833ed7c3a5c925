//! Pages of a table that are evicted and loaded again, concurrent with readers, writers and enumerations
//! (rule P6 of `docs/design/pages.md`).

use std::sync::Arc;

use hedgerow_core::{Direction, SubgraphId, Timestamp, VertexId};
use hedgerow_mem::subgraph::LocalOp;
use hedgerow_mem::{EdgeOp, Main, Memory, Ops, PageLook, Subgraph, SubgraphTable};
use hedgerow_txn::{Clock, Counts, ReaderRegistry};
use loom::sync::Mutex;
use loom::thread;

use crate::evict::{image, model};
use crate::versions::{Live, V, inserted};

const OUT: [Direction; 1] = [Direction::Out];
const ID: SubgraphId = SubgraphId(0);

/// A table with one page and one chain. After commit number `n`, the chain has the edges to 1 up to `n`.
struct Tier {
    table: SubgraphTable,
    clock: Clock,
    readers: ReaderRegistry,
    /// The number of the last commit that files have.
    clean: Mutex<u64>,
}

/// Makes a table whose chain has the edge to 1, in memory and in files.
fn tier() -> Arc<Tier> {
    let tier = Tier {
        table: SubgraphTable::evictable(Memory::default(), (Vec::new(), Timestamp::ZERO)),
        clock: Clock::new(Timestamp(0), Counts::default(), Timestamp::INFINITY),
        readers: ReaderRegistry::default(),
        clean: Mutex::new(1),
    };
    tier.table.get_or_create(ID, &tier.table.hold()).unwrap();
    tier.commit(1);
    Arc::new(tier)
}

impl Tier {
    fn horizon(&self) -> Live<'_> {
        let published = self.clock.published();
        Live::new(published, self.readers.scan())
    }

    fn list(&self) -> Vec<u32> {
        (1..=*self.clean.lock().unwrap() as u32).collect()
    }

    fn image(&self) -> Main {
        image(self.list(), self.table.arena())
    }

    /// Loads the page if it is stored, and then the chain, in the same steps as the store.
    fn load(&self) {
        if let Some(stored) = self.table.stored_page(0) {
            let page = self.table.marked_page(stored, &OUT);
            self.table.load(0, stored, page);
        }
        let seen = self.with(|subgraph| (!subgraph.is_resident()).then(|| subgraph.stamp().applied()));
        let Some(Some(applied)) = seen else { return };
        let image = self.image();
        self.with(|subgraph| {
            let mut latched = subgraph.latch();
            if latched.last_ts() == applied {
                latched.reload(Direction::Out, image);
            }
        });
    }

    fn with<R>(&self, f: impl FnOnce(&Subgraph) -> R) -> Option<R> {
        let hold = self.table.hold();
        self.table.get(ID, &hold).map(f)
    }

    /// Tries to evict the chain and the page, and frees the evicted memory that no thread uses. Returns true
    /// if the page was evicted.
    fn evict(&self) -> bool {
        let clean = Timestamp(*self.clean.lock().unwrap());
        let hold = self.table.hold();
        let Some(page) = self.table.page(0, &hold) else { return false };
        page[0].latch_for_upkeep().evict_clean(clean, &self.horizon());
        self.table.memory().retire_cooled(0);
        self.table.memory().retire_list().drain();
        let evicted = self.table.evict_page(0, (page, &OUT), |_| true).is_some();
        drop(hold);
        self.table.free_pages();
        evicted
    }

    /// Reads at `t` without loading anything (rule E6).
    fn read(&self, t: Timestamp) -> Vec<u32> {
        loop {
            let hold = self.table.hold();
            let looked = self.table.look(0, &hold);
            let mut seen = Vec::new();
            let mut applied = None;
            match looked {
                PageLook::Absent => return seen,
                PageLook::Stored(stored) => assert!(stored.since <= t, "an older reader keeps it in memory"),
                PageLook::Loaded(page) => {
                    applied = Some(page[0].stamp().applied());
                    let read = page[0].read(Direction::Out, t, |read| {
                        read.for_each_neighbor(V, |v, _| seen.push(v.0));
                    });
                    if read.is_ok() {
                        return seen;
                    }
                }
            }
            let list = self.list();
            let unchanged = match looked {
                PageLook::Loaded(page) => Some(page[0].stamp().applied()) == applied,
                _ => true,
            };
            if looked.is_same(&self.table.look(0, &hold)) && unchanged {
                return list;
            }
        }
    }

    /// Commits the insertion of the next edge, to `dst`. Tests under the latch that the chain is in memory,
    /// as each writer does.
    fn commit(&self, dst: u32) {
        loop {
            let hold = self.table.hold();
            if let Some(subgraph) = self.table.get(ID, &hold) {
                let mut latched = subgraph.latch();
                if latched.is_resident() {
                    let ts = self.clock.order().draw();
                    let op = LocalOp { local: V, op: EdgeOp::Insert, dst: VertexId(dst), weight: 0.0 };
                    let _ = latched.apply(Direction::Out, Ops::plain(&[op]), ts, &self.horizon());
                    drop(latched);
                    self.clock.complete(ts, 0, 0);
                    return;
                }
            }
            drop(hold);
            self.load();
        }
    }

    fn checkpoint(&self, last: u64) {
        *self.clean.lock().unwrap() = last;
    }
}

/// Calls `check` while another thread evicts the page and loads it again.
fn beside_an_eviction_and_a_load(check: fn(&Tier)) {
    model(move || {
        let tier = tier();
        let evictor = tier.clone();
        let evicts = thread::spawn(move || {
            evictor.evict();
            evictor.load();
        });
        check(&tier);
        evicts.join().unwrap();
        assert!(tier.table.numbers().eq([0]));
    });
}

/// The reader finds the list, in memory or in files, at each moment of the eviction and the load.
#[test]
fn a_reader_beside_a_page_that_leaves_and_is_loaded_again_sees_its_moment() {
    beside_an_eviction_and_a_load(|tier| {
        let registration = tier.readers.register(0, || Some((tier.clock.published(), ()))).0;
        assert_eq!(tier.read(registration.ts()), [1]);
        tier.readers.close(registration);
    });
}

/// The page was evicted. While an older reader reads, the page is loaded, changed, written to files and
/// evicted again.
#[test]
fn an_older_reader_beside_a_page_that_changes_sees_its_moment() {
    model(|| {
        let tier = tier();
        assert!(tier.evict());
        let writer = tier.clone();
        let writes = thread::spawn(move || {
            writer.commit(2);
            writer.checkpoint(2);
            writer.evict();
        });
        let registration = tier.readers.register(0, || Some((tier.clock.published(), ()))).0;
        let t = registration.ts();
        assert_eq!(tier.read(t), inserted(t));
        tier.readers.close(registration);
        writes.join().unwrap();
        assert_eq!(tier.read(Timestamp(2)), [1, 2]);
    });
}

/// A writer latches a subgraph while another thread evicts the page. If the eviction comes first, the writer
/// finds the mark and starts over.
#[test]
fn a_writer_beside_a_page_that_leaves_loses_nothing() {
    model(|| {
        let tier = tier();
        let evictor = tier.clone();
        let evicts = thread::spawn(move || evictor.evict());
        tier.commit(2);
        evicts.join().unwrap();
        assert_eq!(tier.read(Timestamp(2)), [1, 2]);
        assert!(!tier.evict(), "a page that changed since the checkpoint stays");
    });
}

/// A thread loads a chain while another thread evicts the page of the chain. The chain must not come into the
/// evicted page: a writer would take that page for the one in the table.
#[test]
fn a_chain_is_not_loaded_into_a_page_that_left() {
    model(|| {
        let tier = tier();
        tier.with(|subgraph| subgraph.latch().evict(Direction::Out));
        let evictor = tier.clone();
        let evicts = thread::spawn(move || evictor.evict());
        let hold = tier.table.hold();
        let found = tier.table.get(ID, &hold);
        if let Some(subgraph) = found {
            let image = tier.image();
            subgraph.latch().reload(Direction::Out, image);
        }
        evicts.join().unwrap();
        if let Some(subgraph) = found.filter(|subgraph| subgraph.is_resident()) {
            let now = tier.table.get(ID, &hold);
            assert!(now.is_some_and(|now| std::ptr::eq(now, subgraph)), "a page that left is filled");
        }
    });
}

/// An enumeration reports a page exactly once, whether the page is in memory or only in files at that moment.
#[test]
fn an_enumeration_beside_a_page_that_leaves_and_is_loaded_again_has_it_once() {
    beside_an_eviction_and_a_load(|tier| assert!(tier.table.numbers().eq([0])));
}
