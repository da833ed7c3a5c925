//! Concurrent reads that reserve memory of a limit. Together they never take more than the limit (rule B1).

use std::sync::Arc;

use hedgerow_mem::Takings;
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use loom::thread;

/// The account of a store, as its readers use it.
struct Store {
    limit: u64,
    takings: Takings,
    used: AtomicU64,
}

impl Store {
    fn new(limit: u64) -> Arc<Store> {
        Arc::new(Store { limit, takings: Takings::default(), used: AtomicU64::new(0) })
    }

    fn fits(&self, bytes: u64) -> bool {
        let promised = self.takings.promised();
        promised + self.used.load(Relaxed) + bytes <= self.limit
    }

    /// Charges bytes with relaxed ordering. The modification order of the one counter shows whether its value
    /// ever exceeded the limit.
    fn charge(&self, bytes: u64) {
        let before = self.used.fetch_add(bytes, Relaxed);
        assert!(before + bytes <= self.limit, "{before} and {bytes} more of {}", self.limit);
    }

    /// Charges a list outside of the arena. Returns whether there was room.
    fn reads_list(&self, bytes: u64) -> bool {
        self.takings.take(|| self.fits(bytes), || self.charge(bytes))
    }

    /// Charges a list and frees it after reading. Returns whether there was room.
    fn reads_list_and_ends(&self, bytes: u64) -> bool {
        self.takings.begin();
        let has = self.reads_list(bytes);
        if has {
            self.used.fetch_sub(bytes, Relaxed);
        }
        self.takings.end();
        has
    }

    /// Waits for room as long as other calls may return memory. Returns whether there is room.
    fn finds_room(&self, bytes: u64) -> bool {
        loop {
            let since = self.takings.ended();
            if self.takings.take(|| self.fits(bytes), || ()) {
                return true;
            }
            if !self.takings.may_give_back(since) {
                return false;
            }
            thread::yield_now();
        }
    }

    /// Loads a page into the arena. Returns whether there was room.
    fn loads_page(&self, bytes: u64) -> bool {
        let has = self.takings.take(|| self.fits(bytes), || self.takings.promise(bytes));
        if has {
            self.charge(bytes);
            self.takings.end_promise(bytes);
        }
        has
    }
}

fn spawn(store: &Arc<Store>, read: impl Fn(&Store) -> bool + 'static) -> thread::JoinHandle<bool> {
    let store = store.clone();
    thread::spawn(move || read(&store))
}

#[test]
fn two_that_charge_take_no_more_than_there_is() {
    loom::model(|| {
        let store = Store::new(3);
        let other = spawn(&store, |store| store.reads_list(2));
        let has = store.reads_list(2);
        assert_ne!(other.join().unwrap(), has, "one has room, and one has not");
        assert_eq!(store.used.load(Relaxed), 2);
    });
}

#[test]
fn one_that_loads_and_one_that_charges_take_no_more_than_there_is() {
    loom::model(|| {
        let store = Store::new(3);
        let loads = spawn(&store, |store| store.loads_page(2));
        let has = store.reads_list(2);
        assert_ne!(loads.join().unwrap(), has, "what is promised is found once at least");
        assert_eq!((store.used.load(Relaxed), store.takings.promised()), (2, 0));
    });
}

#[test]
fn two_that_load_take_no_more_than_there_is() {
    loom::model(|| {
        let store = Store::new(3);
        let other = spawn(&store, |store| store.loads_page(2));
        let has = store.loads_page(2);
        assert_ne!(other.join().unwrap(), has, "one has room, and one has not");
        assert_eq!((store.used.load(Relaxed), store.takings.promised()), (2, 0));
    });
}

#[test]
fn one_that_waits_finds_the_room_that_another_gives_back() {
    loom::model(|| {
        let store = Store::new(3);
        let other = spawn(&store, |store| store.reads_list_and_ends(2));
        assert!(store.finds_room(2), "the other has it, or has given it back");
        assert!(other.join().unwrap(), "this one took none");
        assert!(!store.finds_room(4), "nobody has what the limit does not");
    });
}
