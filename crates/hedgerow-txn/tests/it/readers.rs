//! The registry against a trivial one, with more readers than slots, and under threads.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};

use hedgerow_core::Timestamp;
use hedgerow_txn::{ReaderRegistry, Registration};

/// Numbers that look random (xorshift64).
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

/// Closes one of `open`, at random.
fn close_one(registry: &ReaderRegistry, open: &mut Vec<Registration>, random: &mut Random) -> Timestamp {
    let registration = open.swap_remove(random.below(open.len()));
    let ts = registration.ts();
    registry.close(registration);
    ts
}

/// What a scan says, against the counts of what is open.
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
            // Mostly opened at first, mostly closed in the end; timestamps repeat.
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
    let held: Vec<_> = (0..100_000).map(|ts| register(&registry, 5, ts)).collect();
    assert_eq!(registry.scan().timestamps().len(), held.len());
    assert!(registry.bytes() - before <= 64 * held.len(), "{} bytes", registry.bytes());
    held.into_iter().for_each(|registration| registry.close(registration));
    assert_eq!(registry.bytes(), before);
}

#[test]
fn every_open_reader_is_seen_and_every_closed_one_is_told() {
    const THREADS: u64 = 6;
    let (registry, published, done) = (ReaderRegistry::default(), AtomicU64::new(0), AtomicBool::new(false));
    let before = registry.bytes();
    registry.watch_endings(Timestamp(u64::MAX));
    let mut told = 0;
    let closed: usize = std::thread::scope(|scope| {
        let threads = (0..THREADS).map(|thread| {
            let (registry, published) = (&registry, &published);
            scope.spawn(move || {
                let mut random = Random(thread + 1);
                let (mut open, mut closed) = (Vec::new(), 0);
                for _ in 0..20_000 {
                    if open.len() < 60 && random.below(2) == 0 {
                        let ts = || Some((Timestamp(published.fetch_add(1, SeqCst) / 4), ()));
                        open.push(registry.register(random.below(16), ts).0);
                    } else if !open.is_empty() {
                        close_one(registry, &mut open, &mut random);
                        closed += 1;
                    }
                    if let Some(one) = open.first() {
                        assert!(registry.scan().contains(one.ts()), "an open reader is not seen");
                    }
                }
                closed += open.len();
                open.into_iter().for_each(|registration| registry.close(registration));
                closed
            })
        });
        let threads: Vec<_> = threads.collect();
        let listener = scope.spawn(|| {
            let mut told = 0;
            while !done.load(SeqCst) {
                told += registry.take_ended().len();
            }
            told
        });
        let closed = threads.into_iter().map(|thread| thread.join().expect("no thread panics")).sum();
        done.store(true, SeqCst);
        told += listener.join().expect("no thread panics");
        closed
    });
    told += registry.take_ended().len();
    assert_eq!(told, closed);
    assert!(registry.scan().timestamps().is_empty());
    assert_eq!(registry.bytes(), before);
}
