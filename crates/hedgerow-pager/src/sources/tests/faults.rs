//! Planted faults of the merge. The random stacks find each fault.

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_testkit::explored;

use super::stacks::{STACKS, check_stack};

/// The faults that the tests of this crate find. The tests of `hedgerow` find the last one too, in graphs
/// with many pages.
const FOUND: [PlantedFault; 4] = [
    PlantedFault::OlderWordWins,
    PlantedFault::PutIfAbsentEndsSearch,
    PlantedFault::TombstoneDropped,
    PlantedFault::OlderImageLoaded,
];

#[test]
fn every_planted_fault_is_found() {
    for fault in FOUND {
        let planted = faults::plant(fault);
        let found = (0..STACKS).find_map(|seed| Some((seed, check_stack(seed).err()?)));
        let (seed, how) = found.unwrap_or_else(|| panic!("{fault:?} was not found in {STACKS} stacks"));
        let how: String = how.chars().take(200).collect();
        println!("{fault:?}: found in {} stacks, reached {} times: {how}", seed + 1, planted.reached());
        assert!(planted.reached() > 0);
    }
    explored("planted faults of the merge found", FOUND.len() as u64, 4);
}
