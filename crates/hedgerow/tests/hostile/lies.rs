//! Random changes of structures under correct checksums, several at once.

use std::collections::BTreeMap;
use std::sync::Mutex;

use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, Forge, Part, explored};

use crate::judge::{self, Tally, Verdict};
use crate::stores::{self, Store};

pub(crate) fn the_forge_knows_its_files() {
    let _alone = crate::alone();
    for store in stores::all(1) {
        let forge = Forge::new(&store.files);
        assert_eq!(forge.sealed(), store.files, "{}: every checksum is found again", store.name);
        let counts = forge.field_counts();
        let wanted = if store.config.rich { 20 } else { 16 };
        assert!(counts.len() >= wanted - usize::from(!store.closed), "{}: {counts:?}", store.name);
    }
}

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) tally: Tally,
    parts: BTreeMap<Part, u64>,
    several: u64,
}

/// Opens one forged store per round, on two threads.
pub(crate) fn explore(effort: &Effort) -> Seen {
    let stores: Vec<(Store, Forge)> = stores::all(2)
        .into_iter()
        .map(|store| {
            let forge = Forge::new(&store.files);
            (store, forge)
        })
        .collect();
    let seen = Mutex::new(Seen::default());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut mine = Seen::default();
                while let Some(seed) = effort.next_seed() {
                    round(&stores, seed, &mut mine);
                }
                let mut all = seen.lock().unwrap();
                all.tally.merge(&mine.tally);
                all.several += mine.several;
                for (part, count) in mine.parts {
                    *all.parts.entry(part).or_default() += count;
                }
            });
        }
    });
    seen.into_inner().unwrap()
}

pub(crate) fn stores_that_lie() {
    let _alone = crate::alone();
    let Seen { tally, parts, several } = explore(&Effort::rounds(12_000));
    println!("{tally:?} {parts:?}");
    explored("stores that lie, opened", tally.total(), 12_000);
    explored("of these with several structures changed", several, 2_400);
    explored("structures of files that lied", parts.len() as u64, 21);
    explored("times each structure lied", parts.values().copied().min().unwrap_or(0), 100);
    // The opening reads little of a store; `check` reports the faults in the other parts.
    explored("of these refused or reported", tally.of(Verdict::Refused) + tally.of(Verdict::Reported), 6_000);
}

fn round(stores: &[(Store, Forge)], seed: u64, seen: &mut Seen) {
    let mut rng = SplitMix64::new(seed);
    let (store, forge) = &stores[rng.below(stores.len() as u64) as usize];
    let changes = 1 + rng.below(4) as usize;
    let forged = forge.damage(&mut rng, changes);
    let read_only = rng.eighths(4);
    let what = || format!("round {seed}: {}", forged.what);
    let verdict = judge::open(store, &forged.files, read_only, &what);
    seen.tally.add(verdict);
    seen.several += u64::from(forged.parts.len() > 1);
    for part in forged.parts {
        *seen.parts.entry(part).or_default() += 1;
    }
}
