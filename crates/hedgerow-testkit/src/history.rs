//! Histories of transactions, judged by their timestamps.
//!
//! For each committed transaction, clients record its reads and writes, its place in the order of commits
//! (and the snapshot that it read), and two moments of a common clock. So the order of versions is known, and
//! a check is a replay: O(n log n) in the transactions, and O(elements read). It needs no search for cycles,
//! and misses nothing.
//!
//! Under [`Level::Serializable`] the order of the timestamps is a serial order that respects real time, or
//! the check fails. Under [`Level::Snapshot`] it checks the axioms of strong snapshot isolation (Berenson et
//! al. 1995; Daudjee and Salem 2006) one by one.

use std::collections::HashMap;
use std::fmt;

/// A set that transactions add to and remove from: a neighbour list, or a list kept as a property.
pub type Item = u32;

/// An element of an item. None is added twice in a history.
pub type Element = u32;

/// A step of a transaction, in the order of its program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The transaction read an item and found these elements, ascending.
    Read(Item, Vec<Element>),
    /// The transaction added an element.
    Add(Item, Element),
    /// The transaction removed an element that it had found.
    Remove(Item, Element),
}

/// A transaction that committed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Txn {
    /// The moment before it began.
    pub began: u64,
    /// The moment after its commit returned.
    pub ended: u64,
    /// The timestamp of the snapshot that it read; used under [`Level::Snapshot`].
    pub start: u64,
    /// The commit timestamp. If the transaction changed nothing, a timestamp at which its reads were true.
    pub ts: u64,
    /// The steps.
    pub events: Vec<Event>,
}

impl Txn {
    /// True if it changes something in the end.
    pub fn writes(&self) -> bool {
        self.events.iter().any(|event| self.changes(event))
    }

    /// True if an event changes something in the end: not a read, not an addition that is removed again, and
    /// not that removal.
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
    /// A read did not find the elements at its place in the order.
    Read {
        /// The reader.
        txn: Txn,
        /// The item.
        item: Item,
        /// The elements that it should have found.
        expected: Vec<Element>,
    },
    /// A transaction does not come after, or does not see, a transaction that had ended before it began.
    RealTime {
        /// The later transaction.
        txn: Txn,
        /// The timestamp of the one that it misses.
        missed: u64,
    },
    /// Two transactions that changed something have one timestamp. Or a transaction that changed something
    /// has a timestamp that is not after its snapshot.
    Timestamp {
        /// The second.
        txn: Txn,
    },
    /// Two overlapping transactions that wrote one item both committed.
    LostUpdate {
        /// The second.
        txn: Txn,
        /// The item.
        item: Item,
        /// The timestamp of the first.
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

    /// Checks that every read of `txn` found this state, with the earlier writes of the transaction itself.
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

/// Checks a history. `whole` is true for an item of which any two writes conflict, such as a property, and
/// false if only writes of one element do, such as in a list of edges.
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

/// Checks that each transaction comes after those that ended before it began, or sees them.
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

/// Replays the writers in their order; each must read the state that those before it left. Transactions that
/// only read come after the writer of their timestamp.
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

/// Checks that each transaction reads the commits up to its snapshot.
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
