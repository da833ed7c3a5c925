//! Histories of transactions, checked by their timestamps.
//!
//! For each committed transaction, clients record its reads and writes and its place in the order of commits.
//! They also record the snapshot that it read, and two moments of a common clock. The order of versions is
//! therefore known, and a check is a replay: O(n log n) in the transactions, and O(elements read). It needs
//! no search for cycles, and misses no violation.
//!
//! Under [`Level::Serializable`] the order of the timestamps must be a serial order that respects real time.
//! Under [`Level::Snapshot`] the check covers the axioms of strong snapshot isolation (Berenson et al. 1995;
//! Daudjee and Salem 2006) one by one.

use std::collections::HashMap;
use std::fmt;

/// A set that transactions change: a neighbour list, or a list stored as a property.
pub type Item = u32;

/// An element of an item. No element is added twice in a history.
pub type Element = u32;

/// A step of a transaction, in the order of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The transaction read an item and found these elements, in ascending order.
    Read(Item, Vec<Element>),
    /// The transaction added an element.
    Add(Item, Element),
    /// The transaction removed an element that it found before.
    Remove(Item, Element),
}

/// A committed transaction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Txn {
    /// A moment before the transaction began.
    pub began: u64,
    /// A moment after its commit returned.
    pub ended: u64,
    /// The timestamp of the snapshot that it read; used under [`Level::Snapshot`].
    pub start: u64,
    /// The commit timestamp. If the transaction changed nothing, a timestamp at which its reads were correct.
    pub ts: u64,
    /// The steps of the transaction.
    pub events: Vec<Event>,
}

impl Txn {
    /// True if the transaction changes something in the end.
    pub fn writes(&self) -> bool {
        self.events.iter().any(|event| self.changes(event))
    }

    /// True if an event changes something in the end. Reads do not. Neither does an addition that the
    /// transaction removes again, nor that removal.
    fn changes(&self, event: &Event) -> bool {
        match *event {
            Event::Read(..) => false,
            Event::Add(item, element) => !self.events.contains(&Event::Remove(item, element)),
            Event::Remove(item, element) => !self.events.contains(&Event::Add(item, element)),
        }
    }
}

/// The requirement on a history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Strictly serializable, in the order of the commit timestamps.
    Serializable,
    /// Strong snapshot isolation.
    Snapshot,
}

/// A fault of a history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Violation {
    /// A read did not find the elements of its place in the order.
    Read {
        /// The reader.
        txn: Txn,
        /// The item.
        item: Item,
        /// The elements that the read should have found.
        expected: Vec<Element>,
    },
    /// A transaction is not after, or does not see, a transaction that ended before it began.
    RealTime {
        /// The later transaction.
        txn: Txn,
        /// The timestamp of the missed transaction.
        missed: u64,
    },
    /// Two transactions that changed something have the same timestamp. Or a transaction that changed
    /// something has a timestamp that is not after its snapshot.
    Timestamp {
        /// The second transaction.
        txn: Txn,
    },
    /// Two overlapping transactions that wrote the same item both committed.
    LostUpdate {
        /// The second transaction.
        txn: Txn,
        /// The item.
        item: Item,
        /// The timestamp of the first transaction.
        other: u64,
    },
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Read { txn, item, expected } => {
                write!(f, "item {item} should have been read as {expected:?} by {txn:?}")
            }
            Violation::RealTime { txn, missed } => {
                write!(f, "the commit at {missed} had ended before {txn:?}")
            }
            Violation::Timestamp { txn } => write!(f, "the timestamp is taken, or too early: {txn:?}"),
            Violation::LostUpdate { txn, item, other } => {
                write!(f, "item {item} was written at {other}, too, which was not seen by {txn:?}")
            }
        }
    }
}

/// The content of all items.
#[derive(Default)]
struct State {
    items: Vec<Vec<Element>>,
}

impl State {
    fn elements(&self, item: Item) -> &[Element] {
        self.items.get(item as usize).map_or(&[], Vec::as_slice)
    }

    /// Applies the writes of `txn`.
    fn apply(&mut self, txn: &Txn) {
        for event in &txn.events {
            let (Event::Add(item, element) | Event::Remove(item, element)) = *event else { continue };
            if self.items.len() <= item as usize {
                self.items.resize(item as usize + 1, Vec::new());
            }
            overlay(&mut self.items[item as usize], event, element);
        }
    }

    /// Checks that every read of `txn` found this state, plus the earlier writes of the same transaction.
    fn explains(&self, txn: &Txn) -> Result<(), Violation> {
        for (at, event) in txn.events.iter().enumerate() {
            let Event::Read(item, found) = event else { continue };
            let own = txn.events[..at].iter().filter(|e| of(e) == *item && !matches!(e, Event::Read(..)));
            let mut own = own.peekable();
            if own.peek().is_none() && self.elements(*item) == found {
                continue;
            }
            let mut expected = self.elements(*item).to_vec();
            for event in own {
                let (Event::Add(_, element) | Event::Remove(_, element)) = *event else { continue };
                overlay(&mut expected, event, element);
            }
            if expected != *found {
                return Err(Violation::Read { txn: txn.clone(), item: *item, expected });
            }
        }
        Ok(())
    }
}

fn of(event: &Event) -> Item {
    match event {
        Event::Read(item, _) | Event::Add(item, _) | Event::Remove(item, _) => *item,
    }
}

fn overlay(elements: &mut Vec<Element>, event: &Event, element: Element) {
    match (event, elements.binary_search(&element)) {
        (Event::Add(..), Err(at)) => elements.insert(at, element),
        (Event::Remove(..), Ok(at)) => drop(elements.remove(at)),
        _ => {}
    }
}

/// Checks a history. `whole` is true for an item in which any two writes conflict, such as a property. It is
/// false if only writes of one element conflict, such as in a list of edges.
///
/// # Errors
/// The first violation found.
pub fn check(level: Level, history: &[Txn], whole: impl Fn(Item) -> bool) -> Result<(), Violation> {
    real_time(level, history)?;
    let mut order: Vec<&Txn> = history.iter().filter(|txn| txn.writes()).collect();
    order.sort_unstable_by_key(|txn| txn.ts);
    match level {
        Level::Serializable => serial(&order, history)?,
        Level::Snapshot => {
            snapshots(&order, history)?;
            first_committer_wins(&order, whole)?;
        }
    }
    match order.windows(2).find(|pair| pair[0].ts == pair[1].ts) {
        Some(pair) => Err(Violation::Timestamp { txn: pair[1].clone() }),
        None => Ok(()),
    }
}

/// Checks that each transaction is after, or sees, all transactions that ended before it began.
fn real_time(level: Level, history: &[Txn]) -> Result<(), Violation> {
    let mut ended: Vec<(u64, u64)> = history.iter().map(|txn| (txn.ended, txn.ts)).collect();
    ended.sort_unstable();
    let mut began: Vec<&Txn> = history.iter().collect();
    began.sort_unstable_by_key(|txn| txn.began);
    let (mut newest, mut ended) = (0, ended.into_iter().peekable());
    for txn in began {
        while let Some((_, ts)) = ended.next_if(|&(at, _)| at < txn.began) {
            newest = newest.max(ts);
        }
        let place =
            if level == Level::Snapshot || !txn.writes() { txn.start } else { txn.ts.saturating_sub(1) };
        if place < newest {
            return Err(Violation::RealTime { txn: txn.clone(), missed: newest });
        }
    }
    Ok(())
}

/// Replays the writers in their order. Each writer must read the state that the earlier writers made. A
/// read-only transaction follows the writer with the same timestamp.
fn serial(order: &[&Txn], history: &[Txn]) -> Result<(), Violation> {
    let mut readers: Vec<&Txn> = history.iter().filter(|txn| !txn.writes()).collect();
    readers.sort_unstable_by_key(|txn| txn.ts);
    let (mut state, mut readers) = (State::default(), readers.into_iter().peekable());
    for txn in order {
        while let Some(reader) = readers.next_if(|reader| reader.ts < txn.ts) {
            state.explains(reader)?;
        }
        state.explains(txn)?;
        state.apply(txn);
    }
    readers.try_for_each(|reader| state.explains(reader))
}

/// Checks that each transaction reads exactly the commits up to its snapshot.
fn snapshots(order: &[&Txn], history: &[Txn]) -> Result<(), Violation> {
    let mut readers: Vec<&Txn> = history.iter().collect();
    readers.sort_unstable_by_key(|txn| txn.start);
    let (mut state, mut writers) = (State::default(), order.iter().peekable());
    for txn in readers {
        while let Some(writer) = writers.next_if(|writer| writer.ts <= txn.start) {
            state.apply(writer);
        }
        state.explains(txn)?;
    }
    Ok(())
}

fn first_committer_wins(order: &[&Txn], whole: impl Fn(Item) -> bool) -> Result<(), Violation> {
    let mut written: HashMap<(Item, Element), u64> = HashMap::new();
    for txn in order {
        if txn.ts <= txn.start {
            return Err(Violation::Timestamp { txn: (*txn).clone() });
        }
        for event in &txn.events {
            let (Event::Add(item, element) | Event::Remove(item, element)) = *event else { continue };
            let key = (item, if whole(item) { 0 } else { element });
            let other = written.get(&key).copied().unwrap_or(0);
            if txn.changes(event) {
                written.insert(key, txn.ts);
            }
            if other > txn.start && other != txn.ts {
                return Err(Violation::LostUpdate { txn: (*txn).clone(), item, other });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
