//! Tests of the scheduler: transactions with common vertices keep their order, other ones overlap, and the
//! scheduler ends in every case.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::{Duration, Instant};

use hedgerow_core::VertexKey;

use super::Scheduler;
use crate::replay::State;
use crate::stream::{Event, GeneratedConfig, StreamSpec, Transaction};

fn touching(index: u64, vertices: &[u64]) -> Result<Transaction, Infallible> {
    let insert = |&v: &u64| Event::InsertVertex { vertex: VertexKey::U64(v) };
    Ok(Transaction { index, events: vertices.iter().map(insert).collect() })
}

fn next<I: Iterator<Item = Result<Transaction, Infallible>>>(s: &Scheduler<I>) -> Option<u64> {
    s.next().map(|t| t.map(|t| t.index).unwrap_or_else(|never| match never {}))
}

#[test]
fn sharing_waits_and_others_pass() {
    let stream = [
        touching(0, &[1, 2]),
        touching(1, &[2, 3]),
        touching(2, &[9]),
        touching(3, &[3]),
        touching(4, &[1, 9]),
    ];
    let s = Scheduler::new(stream.into_iter(), 10);
    assert_eq!(next(&s), Some(0));
    assert_eq!(next(&s), Some(2), "1 shares vertex 2 with 0");
    s.acknowledge(2);
    s.acknowledge(0);
    assert_eq!(next(&s), Some(1));
    assert_eq!(next(&s), Some(4));
    s.acknowledge(1);
    assert_eq!(next(&s), Some(3));
    s.acknowledge(3);
    s.acknowledge(4);
    assert_eq!(next(&s), None);
}

#[test]
fn every_order_is_kept_under_threads() {
    let config = GeneratedConfig { events: 60_000, communities: 8, ..GeneratedConfig::default() };
    let spec = StreamSpec::Generated(config);
    let expected: Vec<Transaction> = spec.open().expect("opens").map(|t| t.expect("generated")).collect();
    let scheduler = Scheduler::new(spec.open().expect("opens"), 256);
    let committed: Mutex<Vec<u64>> = Mutex::default();
    let (running, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(transaction) = scheduler.next() {
                    let transaction = transaction.expect("generated");
                    most.fetch_max(running.fetch_add(1, SeqCst) + 1, SeqCst);
                    std::thread::sleep(Duration::from_micros(transaction.index % 7 * 20));
                    committed.lock().expect("whole").push(transaction.index);
                    running.fetch_sub(1, SeqCst);
                    scheduler.acknowledge(transaction.index);
                }
            });
        }
    });
    let committed = committed.into_inner().expect("whole");
    assert_eq!(committed.len(), expected.len());
    let mut last: HashMap<&VertexKey, u64> = HashMap::new();
    let (mut state, mut in_order) = (State::new(), State::new());
    for index in &committed {
        let transaction = &expected[*index as usize];
        state.apply(transaction);
        for vertex in transaction.events.iter().flat_map(Event::vertices) {
            let before = last.insert(vertex, *index);
            assert!(before.is_none_or(|b| b <= *index), "{vertex} saw {before:?} before {index}");
        }
    }
    expected.iter().for_each(|t| in_order.apply(t));
    assert!(state == in_order, "commit order changed the end state");
    assert!(most.load(SeqCst) >= 2, "writers never worked side by side");
    assert!(committed.windows(2).any(|w| w[0] > w[1]), "nothing was ever reordered, so nothing was tested");
}

#[test]
fn the_window_bounds_the_look_ahead() {
    let read = AtomicUsize::new(0);
    let chain = (0..100).map(|i| {
        read.fetch_add(1, SeqCst);
        touching(i, &[1])
    });
    let s = Scheduler::new(chain, 10);
    std::thread::scope(|scope| {
        assert_eq!(next(&s), Some(0));
        let waiter = scope.spawn(|| next(&s));
        // The thread reads exactly ten transactions, also if it starts late.
        let begun = Instant::now();
        while read.load(SeqCst) < 10 {
            assert!(begun.elapsed() < Duration::from_secs(180), "nobody looks ahead");
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(30));
        assert_eq!(read.load(SeqCst), 10);
        s.acknowledge(0);
        assert_eq!(waiter.join().expect("no panic"), Some(1));
        let waiter = scope.spawn(|| next(&s));
        std::thread::sleep(Duration::from_millis(30));
        s.stop();
        assert_eq!(waiter.join().expect("no panic"), None, "stopping wakes those who wait");
    });
}

#[test]
fn source_errors_reach_one_writer_and_end_the_stream() {
    let stream = [Ok(touching(0, &[1]).unwrap_or_else(|never| match never {})), Err("broken")];
    let s = Scheduler::new(stream.into_iter(), 10);
    assert!(matches!(s.next(), Some(Ok(t)) if t.index == 0));
    assert_eq!(s.next().and_then(Result::err), Some("broken"));
    s.acknowledge(0);
    assert!(s.next().is_none());
}
