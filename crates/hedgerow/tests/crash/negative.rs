//! Negative controls. The test must detect a disk that ignores syncs; otherwise the simulation proves
//! nothing. The test also skips a store if its files equal the files of an earlier store. It must notice when
//! the earlier verdict is no longer valid.

use std::sync::Arc;

use hedgerow_testkit::{Model, explored};

use crate::plan::{Plan, Planted};
use crate::run::run;
use crate::verify::History;

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

/// A correct store stays correct only while no further commit is acknowledged, and while its timestamp
/// belongs to the same commit.
#[test]
fn a_store_that_was_right_is_judged_again_once_more_is_acknowledged() {
    let state = || Arc::new(Model::new(Plan::of(1).config));
    let mut history = History::new(3, state());
    history.states.push(state());
    let [first, second] = [3, 4].map(|ts| history.found(ts).unwrap());
    assert!(history.allows(&first) && history.allows(&second));
    assert!(!History { acked: 4, ..history.clone() }.allows(&first), "a commit that is acknowledged is lost");
    assert!(!History::new(3, history.states[0].clone()).allows(&second), "nobody attempted it");
    history.states[1] = state();
    assert!(history.allows(&first) && !history.allows(&second), "another commit has its timestamp");
    assert!(history.found(2).is_err() && history.found(5).is_err());
}
