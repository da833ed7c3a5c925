//! The threads of a store end with it.

use std::time::{Duration, Instant};

use hedgerow_testkit::SimFs;

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
            txn.put_edge(0, end).expect("open");
            drop(txn.submit().expect("open"));
        }
        let core = graph.engine.core.clone();
        graph.close().expect("open");
        let workers = core.workers();
        assert_eq!(workers.len(), 3, "settling, checkpoints, and syncs under {durability:?}");
        let patience = Instant::now() + Duration::from_secs(30);
        for worker in workers {
            while !worker.has_ended() {
                assert!(Instant::now() < patience, "{:?} goes on in a closed store", worker.duty());
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }
}
