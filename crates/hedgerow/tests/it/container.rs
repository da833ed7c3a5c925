//! The conformance suite of graphs that change, on the store.

/// The store behind the trait, in the same form as the lab measures it next to its containers.
#[path = "../../../../lab/hedgerow-subjects/src/store.rs"]
mod store;

use hedgerow_testkit::conformance::dynamic::{histories, sequences, single_updates};
use hedgerow_testkit::{Effort, explored};

use store::HedgerowEngine;

const SEQUENCES: u64 = 10;

fn new(directed: bool, weighted: bool) -> HedgerowEngine {
    HedgerowEngine::new(directed, weighted).expect("a store without files")
}

#[test]
fn the_store_conforms() {
    single_updates(new);
    let effort = Effort::rounds(SEQUENCES);
    let mut count = 0;
    while let Some(seed) = effort.next_seed() {
        sequences(new, seed);
        count += 1;
    }
    explored("sequences on the store as a container", count, SEQUENCES);
    histories(new, 0, 30);
}
