//! Changes of every byte and every length of every file, exchanged blocks, and files of other stores or of
//! earlier times.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, explored};

use crate::judge::{self, Tally, Verdict};
use crate::stores::{self, Files, Store};

/// Checks each of `changes` on two threads. A store that was not closed may lose unwitnessed commits.
fn judge_all(store: &Store, seed: u64, changes: &[(String, Files)]) -> Tally {
    let (next, all) = (AtomicUsize::new(0), Mutex::new(Tally::default()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut mine = Tally::default();
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    let Some((what, files)) = changes.get(i) else { break };
                    let verdict = judge::open(store, files, (i as u64 ^ seed) & 1 == 0, &|| what.clone());
                    let fine = matches!(verdict, Verdict::Refused | Verdict::Right)
                        || (verdict == Verdict::Older && !store.closed);
                    assert!(fine, "{}: {what}: {verdict:?}", store.name);
                    mine.add(verdict);
                }
                all.lock().unwrap().merge(&mine);
            });
        }
    });
    all.into_inner().unwrap()
}

/// Returns the files with a change in one file.
fn changed(files: &Files, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Files {
    let mut files = files.clone();
    change(files.entry(name.to_owned()).or_default());
    files
}

fn flips(store: &Store, rng: &mut SplitMix64, step: usize) -> Vec<(String, Files)> {
    let mut all = Vec::new();
    for (name, bytes) in &store.files {
        let first = rng.below(step as u64) as usize;
        for at in (first..bytes.len()).step_by(step) {
            let bit = rng.below(8);
            all.push((
                format!("{name} byte {at} bit {bit}"),
                changed(&store.files, name, |bytes| bytes[at] ^= 1 << bit),
            ));
        }
    }
    all
}

fn lengths(store: &Store, rng: &mut SplitMix64, step: usize) -> Vec<(String, Files)> {
    let mut all = Vec::new();
    for (name, bytes) in &store.files {
        let first = rng.below(step as u64) as usize;
        let shorter = (first..bytes.len()).step_by(step);
        let longer = [1, 7, 8, 64, 4096].map(|more| bytes.len() + more);
        for len in shorter.chain(longer) {
            let fill = if rng.eighths(4) { 0 } else { 0xa5 };
            all.push((
                format!("{name} cut or extended to {len}"),
                changed(&store.files, name, |bytes| bytes.resize(len, fill)),
            ));
        }
    }
    all
}

fn blocks(store: &Store, rng: &mut SplitMix64, count: usize) -> Vec<(String, Files)> {
    let names: Vec<&String> = store.files.iter().filter(|(_, b)| b.len() >= 128).map(|(n, _)| n).collect();
    let mut all = Vec::new();
    for _ in 0..count {
        let size = [8, 16, 40, 64, 512][rng.below(5) as usize];
        let mut draw = || {
            let name = names[rng.below(names.len() as u64) as usize];
            let blocks = (store.files[name].len() / size).max(1) as u64;
            (name, rng.below(blocks) as usize * size)
        };
        let ((a, x), (b, y)) = (draw(), draw());
        let piece = |name: &str, at: usize| store.files[name].get(at..at + size).map(<[u8]>::to_vec);
        let (Some(left), Some(right)) = (piece(a, x), piece(b, y)) else { continue };
        let put = |piece: Vec<u8>, at: usize| {
            move |bytes: &mut Vec<u8>| bytes[at..at + piece.len()].copy_from_slice(&piece)
        };
        let files = changed(&store.files, a, put(right, x));
        let files = changed(&files, b, put(left, y));
        all.push((format!("{size} bytes of {a} at {x} and {b} at {y} swapped"), files));
    }
    all
}

fn foreign_and_stale(store: &Store, others: &[Store]) -> Vec<(String, Files)> {
    let mut all = Vec::new();
    for name in store.files.keys() {
        for (other, bytes) in others.iter().flat_map(|other| &other.files) {
            let replaced = changed(&store.files, name, |file| file.clone_from(bytes));
            all.push((format!("{name} replaced by a foreign {other}"), replaced));
        }
        for (when, earlier) in store.earlier.iter().enumerate() {
            // After a crash, an earlier copy of the log is a shorter log. The remaining files need no
            // reference to the missing part.
            if let Some(bytes) = earlier.get(name).filter(|_| store.closed || !name.ends_with(".wal")) {
                let replaced = changed(&store.files, name, |file| file.clone_from(bytes));
                all.push((format!("{name} as it was after commit {when}"), replaced));
            }
        }
    }
    for (other, bytes) in others.iter().flat_map(|other| &other.files) {
        let mut files = store.files.clone();
        files.entry(other.clone()).or_insert_with(|| bytes.clone());
        all.push((format!("with a foreign {other}"), files));
    }
    all
}

/// Tries changed bytes, changed lengths, exchanged blocks and replaced files. Returns their counts and the
/// verdicts. `first` contains the steps between bytes and between lengths in the first round, and its number
/// of swaps.
pub(crate) fn explore(effort: &Effort, first: (usize, usize, usize)) -> ([u64; 4], Tally) {
    let (mut counts, mut tally) = ([0u64; 4], Tally::default());
    let mut round = 0;
    while let Some(seed) = effort.next_seed() {
        let mut rng = SplitMix64::new(seed);
        // The first round changes a part of the bytes and lengths, another part for each seed. Later rounds
        // change every byte and length.
        let (bytes, cuts, swaps) = if round == 0 { first } else { (1, 1, 4000) };
        let (stores, others) = (stores::all(seed), stores::all(seed ^ 0x5555));
        for store in &stores {
            let changes = [
                flips(store, &mut rng, bytes),
                lengths(store, &mut rng, cuts),
                blocks(store, &mut rng, swaps),
                foreign_and_stale(store, &others[..2]),
            ];
            for (count, changes) in counts.iter_mut().zip(&changes) {
                *count += changes.len() as u64;
                tally.merge(&judge_all(store, seed, changes));
            }
        }
        round += 1;
    }
    (counts, tally)
}

pub(crate) fn every_byte_length_and_block() {
    let _alone = crate::alone();
    let (counts, tally) = explore(&Effort::rounds(1), (3, 17, 300));
    println!("{tally:?}");
    explored("bytes changed", counts[0], 5_000);
    explored("lengths changed", counts[1], 1_000);
    explored("blocks swapped", counts[2], 1_000);
    explored("foreign and stale files", counts[3], 250);
    explored("of these refused", tally.of(Verdict::Refused), tally.total() / 2);
}
