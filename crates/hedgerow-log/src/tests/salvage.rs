//! Tests of reading beyond damage: salvage returns every commit unchanged or reports it as lost.

use super::damage::{copy, several_segments};
use super::*;
use hedgerow_testkit::sim_fs::SplitMix64;

/// The findings in a log of the commits 1 to `last`.
#[derive(Debug, Default)]
struct Seen {
    commits: Vec<u64>,
    /// True for each timestamp that a finding names. The first element is timestamp 1.
    told: Vec<bool>,
    damages: u64,
    unknown: bool,
}

fn read_on(fs: &SimFs, last: u64, durable: Lsn) -> Seen {
    let mut seen = Seen { told: vec![false; last as usize], ..Seen::default() };
    let witness = Witness { store: STORE, live: &[FileId(1)], durable };
    let mut tell = |first: u64, to: u64| {
        assert!(first <= to && to <= last, "{first} to {to} of {last}");
        seen.told[first as usize - 1..to as usize].iter_mut().for_each(|told| {
            assert!(!*told, "told twice");
            *told = true;
        });
    };
    read_damaged(fs.handle(), witness, Timestamp::ZERO, &mut |finding| match finding {
        LogFinding::Commit(commit, ops) => {
            let ts = commit.ts.0;
            assert_eq!(ops.collect::<Vec<_>>(), ops_of(ts, &key_of(ts)), "commit {ts}");
            tell(ts, ts);
            seen.commits.push(ts);
        }
        LogFinding::Damage(_) => seen.damages += 1,
        LogFinding::Lost { first, last: Some(to) } => tell(first.0, to.0),
        LogFinding::Lost { first, last: None } => {
            seen.unknown = true;
            if first.0 <= last {
                tell(first.0, last);
            }
        }
        LogFinding::Tail { .. } => seen.unknown = true,
    })
    .expect("a directory");
    seen
}

#[test]
fn one_changed_byte_costs_one_commit() {
    for close in [true, false] {
        let (fs, last, durable) = several_segments(close);
        let mut rng = SplitMix64::new(4);
        let (mut tried, mut lost) = (0, 0);
        for (name, bytes) in segment_files(&fs) {
            for offset in 0..bytes.len() as u64 {
                let damaged = copy(&fs);
                damaged.corrupt(&name, offset, 1 << rng.below(8));
                let seen = read_on(&damaged, last, durable);
                assert!(seen.commits.len() as u64 >= last - 1, "{name} byte {offset}: {seen:?}");
                assert!(seen.damages > 0 || seen.unknown, "{name} byte {offset}: {seen:?}");
                assert!(seen.told.iter().all(|&told| told), "{name} byte {offset}: {seen:?}");
                tried += 1;
                lost += last - seen.commits.len() as u64;
            }
        }
        assert!(tried > 6_000 && lost > tried / 2, "{lost} of {tried}");
        let seen = read_on(&fs, last, durable);
        assert_eq!((seen.commits.len() as u64, seen.damages, seen.unknown), (last, 0, false));
    }
}

#[test]
fn many_changed_bytes_cost_no_more_than_their_commits() {
    let (fs, last, durable) = several_segments(true);
    let names = names(&fs);
    let mut rng = SplitMix64::new(6);
    for round in 0..2_000 {
        let damaged = copy(&fs);
        let count = 2 + rng.below(6);
        for _ in 0..count {
            let name = &names[rng.below(names.len() as u64) as usize];
            match rng.below(12) {
                0 => _ = damaged.remove(name),
                1 => _ = damaged.truncate(name, rng.below(2_000)),
                _ => _ = damaged.corrupt(name, rng.below(2_000), 1 << rng.below(8)),
            }
        }
        let seen = read_on(&damaged, last, durable);
        assert!(seen.told.iter().all(|&told| told), "round {round}: {seen:?}");
    }
}
