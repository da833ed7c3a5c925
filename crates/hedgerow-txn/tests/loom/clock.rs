//! Publication: completed commits become visible as a prefix, and each of them becomes visible.

use std::sync::Arc;

use hedgerow_core::Timestamp;
use hedgerow_txn::{Clock, Counts};
use loom::thread;

fn clock(gate: u64) -> Arc<Clock> {
    Arc::new(Clock::new(Timestamp(0), Counts::default(), Timestamp(gate)))
}

fn draw(clock: &Clock) -> Timestamp {
    clock.order().draw()
}

#[test]
fn two_commits_completed_in_any_order_are_both_published() {
    loom::model(|| {
        let clock = clock(u64::MAX);
        let (first, second) = (draw(&clock), draw(&clock));
        let other = clock.clone();
        let late = thread::spawn(move || other.complete(second, 1, 2));
        clock.complete(first, 1, 1);
        late.join().unwrap();
        assert_eq!(clock.published(), second);
        assert_eq!(clock.counts(second), Some(Counts { vertices: 2, edges: 3 }));
    });
}

#[test]
fn a_commit_is_not_visible_before_its_predecessor() {
    loom::model(|| {
        let clock = clock(u64::MAX);
        let (first, second) = (draw(&clock), draw(&clock));
        let applied = Arc::new(loom::sync::atomic::AtomicU64::new(0));
        let (other, other_applied) = (clock.clone(), applied.clone());
        let early = thread::spawn(move || other.complete(second, 0, 0) && other_applied.load(SEQ) == 0);
        if clock.published() >= second {
            assert_eq!(applied.load(SEQ), 1);
        }
        applied.store(1, SEQ);
        clock.complete(first, 0, 0);
        assert!(!early.join().unwrap(), "the second was published before the first was applied");
        assert_eq!(clock.published(), second);
    });
}

const SEQ: loom::sync::atomic::Ordering = loom::sync::atomic::Ordering::SeqCst;

#[test]
fn raising_the_gate_and_completing_meet() {
    loom::model(|| {
        let clock = clock(0);
        let ts = draw(&clock);
        let other = clock.clone();
        let leader = thread::spawn(move || other.raise_gate(ts));
        clock.complete(ts, 1, 0);
        leader.join().unwrap();
        assert_eq!(clock.published(), ts);
    });
}

#[test]
fn nothing_past_the_gate_is_published() {
    loom::model(|| {
        let clock = clock(0);
        let (first, second) = (draw(&clock), draw(&clock));
        let other = clock.clone();
        let committer = thread::spawn(move || {
            other.complete(first, 0, 0);
            other.complete(second, 0, 0);
        });
        clock.raise_gate(first);
        assert!(clock.published() <= first);
        committer.join().unwrap();
        assert_eq!(clock.published(), first);
    });
}

#[test]
fn counts_belong_to_their_timestamp_or_are_refused() {
    loom::model(|| {
        let clock = clock(u64::MAX);
        let other = clock.clone();
        // The fifth of five commits reuses the ring slot of the first one.
        let writer = thread::spawn(move || {
            for _ in 0..5 {
                let ts = draw(&other);
                other.complete(ts, 1, 10);
            }
        });
        let ts = clock.published();
        if let Some(counts) = clock.counts(ts) {
            assert_eq!(counts, Counts { vertices: ts.0, edges: ts.0 * 10 });
        }
        writer.join().unwrap();
    });
}

/// One thread draws in the section, another outside of it. Each timestamp is drawn once, and no thread draws
/// between two steps of the section.
#[test]
fn nobody_draws_outside_while_another_is_in_the_section() {
    loom::model(|| {
        let clock = clock(u64::MAX);
        let other = clock.clone();
        let outside = thread::spawn(move || {
            let drawn = other.draw_outside();
            if let Some(ts) = drawn {
                other.complete(ts, 0, 1);
            }
            drawn
        });
        let (before, ts) = {
            let mut order = clock.order();
            (order.last_drawn(), order.draw())
        };
        assert_eq!(ts, before.next());
        clock.complete(ts, 0, 1);
        let drawn = outside.join().unwrap();
        assert_ne!(drawn, Some(ts));
        let last = ts.max(drawn.unwrap_or_default());
        assert_eq!((clock.drawn(), clock.published()), (last, last));
        assert_eq!(clock.counts(last), Some(Counts { vertices: 0, edges: last.0 }));
    });
}

/// The thread that forbids drawing outside sees the last timestamp drawn there, and the earlier writes of its
/// committer.
#[test]
fn nothing_is_drawn_outside_once_that_is_forbidden() {
    loom::model(|| {
        let clock = clock(u64::MAX);
        let made = Arc::new(loom::sync::atomic::AtomicU64::new(0));
        let (other, page) = (clock.clone(), made.clone());
        let outside = thread::spawn(move || {
            page.store(1, loom::sync::atomic::Ordering::Relaxed);
            other.draw_outside()
        });
        let last = {
            let mut order = clock.order();
            order.forbid_outside();
            order.last_drawn()
        };
        if last > Timestamp(0) {
            assert_eq!(made.load(loom::sync::atomic::Ordering::Relaxed), 1);
        }
        assert_eq!(clock.draw_outside(), None);
        assert_eq!(outside.join().unwrap().unwrap_or_default(), last);
    });
}
