//! Tests of the registry: against a simple model, with more readers than slots, and under threads.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use hedgerow_core::Timestamp;
use hedgerow_txn::{ReaderRegistry, Registration};

/// A generator of pseudo-random numbers (xorshift64).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound as u64) as usize
    }
}

fn register(registry: &ReaderRegistry, hint: usize, ts: u64) -> Registration {
    registry.register(hint, || Some((Timestamp(ts), ()))).0
}

/// Closes a random registration of `open` and returns its timestamp.
fn close_one(registry: &ReaderRegistry, open: &mut Vec<Registration>, random: &mut Random) -> Timestamp {
    let registration = open.swap_remove(random.below(open.len()));
    let ts = registration.ts();
    registry.close(registration);
    ts
}

/// Compares a scan with the counts of the open readers.
fn compare(registry: &ReaderRegistry, open: &BTreeMap<Timestamp, usize>, random: &mut Random) {
    let active = registry.scan();
    assert!(!active.registering);
    assert_eq!(active.timestamps(), open.keys().copied().collect::<Vec<_>>());
    let published = Timestamp(random.below(400) as u64);
    let oldest = open.keys().next().map_or(published, |&oldest| oldest.min(published));
    assert_eq!(active.oldest(published), Some(oldest));
    let (begin, end) = (Timestamp(random.below(300) as u64), Timestamp(random.below(300) as u64));
    let newest = (begin < end).then(|| open.range(begin..end).next_back()).flatten().map(|(&ts, _)| ts);
    assert_eq!(active.newest_in(begin, end), newest);
    assert_eq!(active.contains(begin), open.contains_key(&begin));
}

#[test]
fn many_readers_are_told_apart_by_their_timestamps() {
    for seed in 1..20 {
        let (registry, mut random) = (ReaderRegistry::default(), Random(seed));
        let (mut open, mut counts) = (Vec::new(), BTreeMap::new());
        for step in 0..3_000 {
            // Early steps mostly open readers, late steps mostly close them. Timestamps repeat.
            if open.is_empty() || random.below(3_000) > step {
                let registration = register(&registry, random.below(100), random.below(300) as u64);
                *counts.entry(registration.ts()).or_insert(0) += 1;
                open.push(registration);
            } else {
                let ts = close_one(&registry, &mut open, &mut random);
                if let Some(count) = counts.get_mut(&ts) {
                    *count -= 1;
                }
                counts.retain(|_, &mut count| count > 0);
            }
            if step % 7 == 0 {
                compare(&registry, &counts, &mut random);
            }
        }
    }
}

#[test]
fn slots_are_not_made_for_readers_that_stay() {
    let registry = ReaderRegistry::default();
    let before = registry.bytes();
    let hold =
        |first: u64| -> Vec<_> { (first..first + 100_000).map(|ts| register(&registry, 5, ts)).collect() };
    let held = hold(0);
    assert_eq!(registry.scan().timestamps().len(), held.len());
    let bytes = registry.bytes();
    assert!(bytes - before <= 64 * held.len(), "{bytes} bytes");
    held.into_iter().for_each(|registration| _ = registry.close(registration));
    assert!(registry.scan().timestamps().is_empty());
    // The table keeps its size, and later readers reuse it.
    let held = hold(1 << 40);
    assert_eq!(registry.scan().timestamps().len(), held.len());
    assert!(registry.bytes() <= bytes + bytes / 2, "{} bytes, {bytes} before", registry.bytes());
    held.into_iter().for_each(|registration| _ = registry.close(registration));
    assert!(registry.scan().timestamps().is_empty());
}

#[test]
fn thousands_of_readers_of_one_timestamp_take_the_room_of_one() {
    let registry = ReaderRegistry::default();
    let before = registry.bytes();
    let held: Vec<_> = (0..50_000).map(|_| register(&registry, 5, 7)).collect();
    assert_eq!(registry.scan().timestamps(), [Timestamp(7)]);
    assert!(registry.bytes() <= before + 64, "{} bytes", registry.bytes() - before);
    for registration in held {
        assert!(registry.scan().contains(Timestamp(7)));
        registry.close(registration);
    }
    assert!(registry.scan().timestamps().is_empty());
}

#[test]
fn every_open_reader_is_seen_and_every_closed_one_is_told() {
    const THREADS: u64 = 6;
    let (registry, published, done) = (ReaderRegistry::default(), AtomicU64::new(0), AtomicBool::new(false));
    registry.watch_endings(Timestamp(u64::MAX));
    let (closed, mut told): (BTreeSet<Timestamp>, _) = std::thread::scope(|scope| {
        let threads = (0..THREADS).map(|thread| {
            let (registry, published) = (&registry, &published);
            scope.spawn(move || {
                let mut random = Random(thread + 1);
                let (mut open, mut closed) = (Vec::new(), Vec::new());
                for _ in 0..20_000 {
                    if open.len() < 60 && random.below(2) == 0 {
                        let ts = || Some((Timestamp(published.fetch_add(1, SeqCst) / 8), ()));
                        open.push(registry.register(random.below(16), ts).0);
                    } else if !open.is_empty() {
                        closed.push(close_one(registry, &mut open, &mut random));
                    }
                    if let Some(one) = open.first() {
                        assert!(registry.scan().contains(one.ts()), "an open reader is not seen");
                    }
                }
                closed.extend(open.iter().map(Registration::ts));
                open.into_iter().for_each(|registration| assert!(registry.close(registration)));
                closed
            })
        });
        let threads: Vec<_> = threads.collect();
        let listener = scope.spawn(|| {
            let (mut told, mut more) = (BTreeSet::new(), 0);
            while !done.load(SeqCst) {
                let ended = registry.take_ended();
                told.extend(ended.timestamps);
                more += u32::from(ended.more);
            }
            (told, more)
        });
        let closed =
            threads.into_iter().flat_map(|thread| thread.join().expect("no thread panics")).collect();
        done.store(true, SeqCst);
        (closed, listener.join().expect("no thread panics"))
    });
    let last = registry.take_ended();
    told.0.extend(last.timestamps);
    let untold = closed.difference(&told.0).count();
    assert!(untold == 0 || told.1 > 0 || last.more, "{untold} endings were told nobody");
    assert!(registry.scan().timestamps().is_empty());
    assert!(!registry.any_ended());
}

#[test]
fn endings_that_find_no_cell_are_told_as_more() {
    let registry = ReaderRegistry::default();
    registry.watch_endings(Timestamp(u64::MAX));
    let held: Vec<_> = (0..10_000).map(|ts| register(&registry, 5, ts)).collect();
    held.into_iter().for_each(|registration| assert!(registry.close(registration)));
    let ended = registry.take_ended();
    assert!(ended.more && !ended.timestamps.is_empty());
    let ended = registry.take_ended();
    assert!(!ended.more && ended.timestamps.is_empty(), "an ending is told twice");
}
