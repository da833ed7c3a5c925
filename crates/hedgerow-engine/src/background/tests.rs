//! Tests that the threads of a store end with it.

use std::time::Duration;

use hedgerow_testkit::{SimFs, wait_until};

use crate::{Durability, KeyKind, Options};

#[test]
fn the_threads_of_a_closed_store_end() {
    for durability in [Durability::Sync, Durability::Group(Duration::from_secs(3_600))] {
        let disk = SimFs::new();
        let options =
            Options::new().keys(KeyKind::Dense).durability(durability).checkpoint_log_bytes(1 << 12);
        let graph = options.open_on(disk.handle()).expect("a new store");
        for end in 1..2_000u64 {
            let mut txn = graph.write().expect("open");
            txn.put_edge((0, end)).expect("open");
            drop(txn.submit().expect("open"));
        }
        let core = graph.engine.core.clone();
        graph.close().expect("open");
        let workers = core.work.workers();
        assert_eq!(workers.len(), 3, "settling, checkpoints, and syncs under {durability:?}");
        for worker in workers {
            wait_until(&format!("the end of {:?} in a closed store", worker.duty()), || worker.has_ended());
        }
    }
}
