//! Damage of every byte of every kind of file of format 5, before the store opens and while it is open. Each
//! read gives the answer of the sound store, or an error that names the file and the place. During the
//! damage, reads and writes of other parts succeed. After its repair, every read is right, so the store kept
//! no damaged data.

mod places;
mod reads;
mod sound;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZero;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;

use hedgerow::{Error, LEAST_MEMORY_LIMIT, OpenError, Snapshot, StorageError};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, SimFs, explored};

use places::Kind;
use reads::Read;
use sound::Sound;

/// The number of damaged bytes per kind of place and store in the first round. Each seed selects other bytes.
const BYTES_OF_KIND: usize = 14;
/// The number of rounds after the first one that cover all bytes; each damages one byte of this many. A deep
/// run can therefore be short, and several runs cover all bytes.
const SLICES: usize = 16;
/// On a store with a damaged piece, the test makes one read of this many, and other reads for the next bytes.
/// Most bytes are in pieces, and reads of long lists are slow. One checksum covers all bytes of a piece.
const READS_OF_PIECE: usize = 4;
/// The same number for a run that damages all bytes. Such a run damages each byte of a piece either before or
/// after the opening, not both.
const READS_OF_PIECE_OF_ALL: usize = 16;
/// The same number for the other kinds with many bytes, if a run damages all bytes. One checksum covers the
/// bytes of a block or of a record.
const READS_OF_MANY: usize = 4;

/// One damaged byte.
struct Case<'a> {
    file: &'a str,
    at: u64,
    mask: u8,
    kind: Kind,
    /// The test makes one read of this many.
    step: usize,
    /// True for the first or only case of its byte.
    is_first: bool,
    /// True if the damage happens after the opening. A byte that only the opening reads is damaged before it.
    while_open: bool,
    rng: SplitMix64,
}

/// The counts of explored cases.
#[derive(Debug, Default)]
struct Seen {
    /// The number of damaged bytes by kind of place.
    bytes: BTreeMap<Kind, u64>,
    refused: u64,
    opened: u64,
    while_open: u64,
    /// Failed reads; the next field counts correct reads while other reads of the same store failed.
    failed: u64,
    right_beside: u64,
    /// Reads of pages without damage; all of them were right.
    elsewhere: u64,
    written: u64,
    restored: u64,
}

impl Seen {
    fn merge(&mut self, other: &Seen) {
        other.bytes.iter().for_each(|(kind, n)| *self.bytes.entry(*kind).or_default() += n);
        self.refused += other.refused;
        self.opened += other.opened;
        self.while_open += other.while_open;
        self.failed += other.failed;
        self.right_beside += other.right_beside;
        self.elsewhere += other.elsewhere;
        self.written += other.written;
        self.restored += other.restored;
    }
}

/// True if an error names the damaged file, and a place not behind its end.
fn names(error: &Error, case: &Case<'_>, length: u64) -> bool {
    match error {
        Error::Storage(StorageError::Corruption(damage)) => {
            damage.file == case.file && damage.offset <= length
        }
        _ => false,
    }
}

/// True if the same holds for the error of an opening. For a header, the error may also name another type of
/// file.
fn refuses(error: &Error, case: &Case<'_>, length: u64) -> bool {
    match error {
        Error::Open(OpenError::FutureVersion { file, .. } | OpenError::OldVersion { file, .. }) => {
            *file == case.file
        }
        Error::Open(OpenError::NotAStore { .. }) => case.kind == Kind::FileHeader,
        error => names(error, case, length),
    }
}

/// The number of attempts of a failing read. The first attempt reads a list from its file. The next attempt
/// loads the page. The last attempt repeats the first and meets the data that it kept.
const TURNS: usize = 3;

/// Damages one byte and makes all reads.
fn judge(store: &Sound, mut case: Case<'_>, seen: &mut Seen) {
    let disk = SimFs::from_files(&store.files);
    let length = store.files[case.file].len() as u64;
    let (file, at, mask) = (case.file, case.at, case.mask);
    let damage = || assert!(disk.corrupt(file, at, mask));
    // Without a memory limit, the first touch loads a page. With a limit, reads take lists directly from the
    // file.
    let read_only = case.rng.eighths(2);
    let options = store.options().read_only(read_only);
    let options = if case.rng.eighths(6) { options.memory_limit(LEAST_MEMORY_LIMIT) } else { options };
    if !case.while_open {
        damage();
    }
    let graph = match options.open_on(disk.handle()) {
        Ok(graph) => graph,
        Err(error) => {
            assert!(!case.while_open && refuses(&error, &case, length), "the opening: {error}");
            seen.refused += 1;
            return;
        }
    };
    if case.while_open {
        damage();
        seen.while_open += 1;
    }
    seen.opened += 1;
    let snapshot = graph.snapshot().unwrap();
    let failed = read_damaged(store, &snapshot, &mut case, seen);
    let pages = store.places.pages_of(file, at as usize);
    if let Some((a, b)) = store.free_page(pages.as_ref()).filter(|_| !read_only && !failed.is_empty()) {
        assert!(graph.put_edge((a, b)).is_ok(), "a write to another page");
        seen.written += 1;
    }
    damage();
    for (number, read) in store.reads.iter().enumerate().filter(|(number, _)| failed.contains(number)) {
        let found = read.ask(&snapshot).unwrap_or_else(|e| panic!("{read:?} once the damage is gone: {e}"));
        assert!(found == store.answers[number], "{read:?} is wrong once the damage is gone");
        seen.restored += 1;
    }
}

/// Makes the reads while a byte is damaged, and returns the failed ones. It repeats each failed read, because
/// data kept from a damaged block would then give a wrong answer. A repeated read may be right: the load of a
/// page uses directories that the read of one list does not use.
fn read_damaged(store: &Sound, snapshot: &Snapshot, case: &mut Case<'_>, seen: &mut Seen) -> BTreeSet<usize> {
    let length = store.files[case.file].len() as u64;
    let pages = store.places.pages_of(case.file, case.at as usize);
    let elsewhere = |read: &Read| {
        let of = read.vertex().and_then(|vertex| store.page_of(vertex));
        pages.as_ref().zip(of).is_some_and(|(pages, of)| !pages.contains(&of))
    };
    let (mut failed, mut right) = (BTreeSet::new(), 0);
    // With a limit, the first read of a list takes it directly from the file.
    let mut numbers = store.reads_beside(case.file, case.at as usize, &mut case.rng);
    let first = case.rng.below(numbers.len() as u64) as usize;
    numbers.rotate_left(if case.rng.eighths(4) { first } else { 0 });
    let skipped = case.rng.below(case.step as u64) as usize;
    for number in numbers.into_iter().skip(skipped).step_by(case.step) {
        let read = &store.reads[number];
        for turn in 0..TURNS {
            match read.ask(snapshot) {
                Ok(found) => {
                    assert!(found == store.answers[number], "{read:?}, turn {turn}: a wrong answer");
                    seen.elsewhere += u64::from(elsewhere(read));
                    right += u64::from(turn == 0);
                    break;
                }
                Err(error) => {
                    assert!(names(&error, case, length), "{read:?}: {error}");
                    assert!(!elsewhere(read), "{read:?} reads nothing of the damaged page: {error}");
                    failed.insert(number);
                    seen.failed += 1;
                }
            }
        }
    }
    seen.right_beside += if failed.is_empty() { 0 } else { right };
    failed
}

/// Returns the cases of a round: a few bytes of each kind of place, or one of [`SLICES`].
fn cases<'a>(store: &'a Sound, seed: u64, every: bool) -> Vec<Case<'a>> {
    let (mut rng, mut all) = (SplitMix64::new(seed), Vec::new());
    for (kind, places) in store.places.by_kind() {
        let step = if every { SLICES } else { places.len().div_ceil(BYTES_OF_KIND) };
        for (file, at) in places.iter().skip(seed as usize % step).step_by(step) {
            let mask = if rng.eighths(6) { 1 << rng.below(8) } else { 1 + rng.below(255) as u8 };
            let ways: &[bool] = match kind {
                Kind::Piece if every => &[[false], [true]][(*at / SLICES + seed as usize) % 2],
                _ if kind.is_read_later() => &[false, true],
                _ => &[false],
            };
            all.extend(ways.iter().enumerate().map(|(way, &while_open)| Case {
                file,
                at: *at as u64,
                mask,
                kind,
                step: one_read_in(kind, every),
                is_first: way == 0,
                while_open,
                rng: SplitMix64::new(rng.next_u64()),
            }));
        }
    }
    all
}

/// Returns the interval between the reads that the test makes for a byte.
fn one_read_in(kind: Kind, every: bool) -> usize {
    match kind {
        Kind::Piece if every => READS_OF_PIECE_OF_ALL,
        Kind::Piece => READS_OF_PIECE,
        Kind::LogPayload | Kind::Neighbors | Kind::Keys | Kind::Properties | Kind::KeyBlock if every => {
            READS_OF_MANY
        }
        _ => 1,
    }
}

fn explore(store: &Sound, seed: u64, every: bool) -> Seen {
    let cases = Mutex::new(cases(store, seed, every));
    let all = Mutex::new(Seen::default());
    let threads = std::thread::available_parallelism().map_or(2, NonZero::get);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let mut mine = Seen::default();
                loop {
                    let Some(case) = cases.lock().unwrap().pop() else { break };
                    let what = format!("{} byte {} ({:?}) ^ {}", case.file, case.at, case.kind, case.mask);
                    let what = format!("{}: {what}, while open {}", store.name, case.while_open);
                    if case.is_first {
                        *mine.bytes.entry(case.kind).or_default() += 1;
                    }
                    let judged = catch_unwind(AssertUnwindSafe(|| judge(store, case, &mut mine)));
                    assert!(judged.is_ok(), "{what}");
                }
                all.lock().unwrap().merge(&mine);
            });
        }
    });
    all.into_inner().unwrap()
}

#[test]
fn every_damaged_byte_is_an_error_or_changes_no_answer() {
    let _alone = crate::alone();
    let effort = Effort::rounds(1);
    let (mut seen, mut rounds) = (Seen::default(), 0);
    while let Some(seed) = effort.next_seed() {
        for store in sound::all(seed) {
            seen.merge(&explore(&store, seed, rounds > 0));
        }
        rounds += 1;
    }
    println!("{seen:?}");
    explored("sixteenths of all bytes of the files of four stores damaged", rounds - 1, 0);
    explored("bytes of files of format 5 damaged", seen.bytes.values().sum(), 800);
    for kind in Kind::ALL {
        explored(&format!("bytes of {kind:?} damaged"), seen.bytes.get(kind).copied().unwrap_or(0), 10);
    }
    explored("openings refused", seen.refused, 400);
    explored("stores damaged while they were open", seen.while_open, 250);
    explored("reads that told of damage", seen.failed, 10_000);
    explored("reads that were right beside damage", seen.right_beside, 20_000);
    explored("reads of other pages beside damage", seen.elsewhere, 5_000);
    explored("writes beside damage", seen.written, 50);
    explored("reads that were right once the damage was gone", seen.restored, 5_000);
}
