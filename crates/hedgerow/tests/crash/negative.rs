//! Negative controls: a disk that ignores syncs must be found out, or the simulation proves nothing.

use crate::plan::{Plan, Planted};
use crate::run::run;
use hedgerow_testkit::explored;

fn is_found(fault: Planted) -> bool {
    (0..5u64).any(|seed| {
        let plan = Plan { fault, durability: hedgerow::Durability::Sync, ..Plan::of(seed) };
        match run(&plan) {
            Ok(_) => false,
            Err(error) => {
                println!("{fault:?} is found: {error}");
                true
            }
        }
    })
}

#[test]
fn a_disk_that_ignores_syncs_is_found_out() {
    let faults = [Planted::NoFileSync, Planted::NoDirectorySync];
    let found = faults.into_iter().filter(|&fault| is_found(fault)).count();
    explored("planted faults of the disk found", found as u64, 2);
}
