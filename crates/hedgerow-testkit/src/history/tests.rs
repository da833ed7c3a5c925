//! The checker finds each kind of violation, and nothing in a correct history.

use super::*;

fn txn(began: u64, ended: u64, start: u64, ts: u64, events: &[Event]) -> Txn {
    Txn { began, ended, start, ts, events: events.to_vec() }
}

fn read(item: Item, found: &[Element]) -> Event {
    Event::Read(item, found.to_vec())
}

fn both(history: &[Txn]) -> [Option<Violation>; 2] {
    [Level::Serializable, Level::Snapshot].map(|level| check(level, history, |item| item == 0).err())
}

#[test]
fn a_right_history_passes() {
    let history = [
        txn(0, 1, 0, 1, &[Event::Add(0, 7)]),
        txn(2, 5, 1, 2, &[read(0, &[7]), Event::Add(0, 8), read(0, &[7, 8]), Event::Add(1, 9)]),
        txn(3, 4, 1, 1, &[read(0, &[7]), read(1, &[])]),
        txn(6, 7, 2, 3, &[read(1, &[9]), Event::Remove(1, 9), read(1, &[])]),
        txn(8, 9, 3, 3, &[read(0, &[7, 8]), read(1, &[])]),
        // This transaction changes nothing in the end, and has no own timestamp.
        txn(8, 9, 3, 3, &[Event::Add(1, 4), read(1, &[4]), Event::Remove(1, 4)]),
    ];
    assert_eq!(both(&history), [None, None]);
}

#[test]
fn write_skew_passes_as_snapshot_isolation_only() {
    let history = [
        txn(0, 3, 0, 1, &[read(0, &[]), read(2, &[]), Event::Add(0, 1)]),
        txn(1, 4, 0, 2, &[read(0, &[]), read(2, &[]), Event::Add(2, 2)]),
    ];
    let [serializable, snapshot] = both(&history);
    assert!(matches!(serializable, Some(Violation::Read { item: 0, .. })), "{serializable:?}");
    assert_eq!(snapshot, None);
}

#[test]
fn lost_updates_are_found() {
    let one = |began, ts, element| txn(began, 9, 0, ts, &[read(0, &[]), Event::Add(0, element)]);
    let [serializable, snapshot] = both(&[one(0, 1, 1), one(1, 2, 2)]);
    assert!(matches!(serializable, Some(Violation::Read { .. })));
    assert!(matches!(snapshot, Some(Violation::LostUpdate { item: 0, other: 1, .. })), "{snapshot:?}");
    // Blind additions of two elements to a list do not conflict.
    let blind = |began, ts, element| txn(began, 9, 0, ts, &[Event::Add(1, element)]);
    assert_eq!(both(&[blind(0, 1, 1), blind(1, 2, 2)]), [None, None]);
}

#[test]
fn stale_snapshots_and_orders_against_real_time_are_found() {
    let first = txn(0, 1, 0, 1, &[Event::Add(0, 1)]);
    let stale = txn(2, 3, 0, 0, &[read(0, &[])]);
    assert!(both(&[first.clone(), stale]).iter().all(|v| matches!(v, Some(Violation::RealTime { .. }))));
    let back = [txn(0, 1, 0, 2, &[Event::Add(0, 1)]), txn(2, 3, 0, 1, &[Event::Add(2, 2)])];
    assert!(both(&back).iter().all(|v| matches!(v, Some(Violation::RealTime { missed: 2, .. }))));
    let twice = [first.clone(), txn(0, 1, 0, 1, &[Event::Add(2, 2)])];
    assert!(both(&twice).iter().all(|v| matches!(v, Some(Violation::Timestamp { .. }))));
}

#[test]
fn reads_of_what_nobody_committed_are_found() {
    let dirty = [txn(0, 1, 0, 1, &[Event::Add(0, 1)]), txn(2, 3, 1, 1, &[read(0, &[1, 5])])];
    assert!(both(&dirty).iter().all(|v| matches!(v, Some(Violation::Read { item: 0, .. }))));
    let own = [txn(0, 1, 0, 1, &[Event::Add(0, 1), read(0, &[])])];
    assert!(both(&own).iter().all(|v| matches!(v, Some(Violation::Read { item: 0, .. }))));
}
