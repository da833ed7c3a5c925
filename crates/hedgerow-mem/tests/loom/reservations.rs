//! Reads that reserve room of a memory limit beside each other: together they never take more than it has (rule E10).

use std::sync::Arc;

use hedgerow_mem::Reservations;
use loom::sync::atomic::{AtomicU64, Ordering::Relaxed};
use loom::thread;

/// An account, as readers see it.
struct Store {
    limit: u64,
    reservations: Reservations,
    used: AtomicU64,
}

impl Store {
    fn new(limit: u64) -> Arc<Store> {
        Arc::new(Store { limit, reservations: Reservations::default(), used: AtomicU64::new(0) })
    }

    fn fits(&self, bytes: u64) -> bool {
        let promised = self.reservations.promised();
        promised + self.used.load(Relaxed) + bytes <= self.limit
    }

    /// Counters are charged relaxed. The modification order of one counter says whether the limit was ever passed.
    fn charge(&self, bytes: u64) {
        let before = self.used.fetch_add(bytes, Relaxed);
        assert!(before + bytes <= self.limit, "{before} and {bytes} more of {}", self.limit);
    }

    /// A list beside the arena; whether there was room.
    fn reads_list(&self, bytes: u64) -> bool {
        self.reservations.take(|| self.fits(bytes), || self.charge(bytes))
    }

    /// A page that goes into the arena; whether there was room.
    fn loads_page(&self, bytes: u64) -> bool {
        let has = self.reservations.promise(bytes, || self.fits(bytes));
        if has {
            self.charge(bytes);
            self.reservations.end(bytes);
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
        assert_eq!((store.used.load(Relaxed), store.reservations.promised()), (2, 0));
    });
}

#[test]
fn two_that_load_take_no_more_than_there_is() {
    loom::model(|| {
        let store = Store::new(3);
        let other = spawn(&store, |store| store.loads_page(2));
        let has = store.loads_page(2);
        assert_ne!(other.join().unwrap(), has, "one has room, and one has not");
        assert_eq!((store.used.load(Relaxed), store.reservations.promised()), (2, 0));
    });
}
