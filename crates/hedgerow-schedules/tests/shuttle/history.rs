//! The history of a schedule, and the check that a serial order explains it: the order of the timestamps.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::Timestamp;

use crate::program::{Item, RANKS, Step, VERTICES, property};

/// A transaction that has ended.
#[derive(Clone, Debug)]
pub(crate) struct Attempt {
    pub(crate) began: u64,
    pub(crate) ended: u64,
    pub(crate) steps: Vec<Step>,
    pub(crate) done: Done,
}

#[derive(Clone, Debug)]
pub(crate) enum Done {
    Written {
        ts: Timestamp,
        answers: Vec<u64>,
    },
    Read {
        ts: Timestamp,
        answers: Vec<u64>,
    },
    /// A single operation without effect, which is right in some state between the two timestamps. (It reads
    /// no snapshot, so that a key without a vertex needs no second look-up under the latch of the key.)
    Unchanged {
        since: Timestamp,
        ts: Timestamp,
        answers: Vec<u64>,
    },
    Refused,
}

/// The transactions of one schedule. Its locks are real ones, because no thread is preempted while it holds
/// them.
#[derive(Default)]
pub(crate) struct History {
    ticks: AtomicU64,
    attempts: Mutex<Vec<Attempt>>,
    counts: Mutex<Option<(u64, u64)>>,
}

/// A simple model of the graph.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    vertices: BTreeSet<u64>,
    edges: BTreeSet<(u64, u64)>,
    /// The edges of the label, with their property.
    items: BTreeMap<Item, i64>,
    properties: BTreeMap<u64, i64>,
}

impl State {
    fn item(v: u64, u: u64, directed: bool) -> (u64, u64) {
        if directed { (v, u) } else { (v.min(u), v.max(u)) }
    }

    fn put(&mut self, v: u64, u: u64, directed: bool) -> u64 {
        self.vertices.extend([v, u]);
        u64::from(self.edges.insert(Self::item(v, u, directed)))
    }

    fn labelled(item: Item, directed: bool) -> Item {
        let (v, u) = Self::item(item.0, item.1, directed);
        (v, u, item.2)
    }

    fn put_item(&mut self, item: Item, number: i64, directed: bool) -> u64 {
        self.vertices.extend([item.0, item.1]);
        u64::from(self.items.insert(Self::labelled(item, directed), number).is_none())
    }

    fn run(&mut self, step: Step, directed: bool) -> u64 {
        match step {
            Step::HasVertex(v) => u64::from(self.vertices.contains(&v)),
            Step::HasEdge(v, u) => u64::from(self.edges.contains(&Self::item(v, u, directed))),
            Step::Neighbors(v) => {
                let linked = |u: u64| self.edges.contains(&Self::item(v, u, directed));
                (0..VERTICES.len()).filter(|&i| linked(VERTICES[i])).fold(0, |m, i| m | 1 << i)
            }
            Step::InsertVertex(v) => u64::from(self.vertices.insert(v)),
            Step::RemoveVertex(v) => {
                self.edges.retain(|&(a, b)| a != v && b != v);
                self.items.retain(|&(a, b, _), _| a != v && b != v);
                self.properties.remove(&v);
                u64::from(self.vertices.remove(&v))
            }
            Step::PutEdge(v, u) | Step::PutBlindly(v, u) | Step::InsertBlindly(v, u) => {
                self.put(v, u, directed);
                0
            }
            Step::RemoveBlindly(v, u) => {
                self.edges.remove(&Self::item(v, u, directed));
                0
            }
            Step::InsertEdge(v, u) => self.put(v, u, directed),
            Step::RemoveEdge(v, u) => u64::from(self.edges.remove(&Self::item(v, u, directed))),
            Step::HasItem(item) => u64::from(self.items.contains_key(&Self::labelled(item, directed))),
            Step::Items(v) => {
                let places = (0..VERTICES.len() as u64 * RANKS).map(|i| (i, VERTICES[(i / RANKS) as usize]));
                let here = |u, i| self.items.contains_key(&Self::labelled((v, u, i % RANKS), directed));
                places.filter(|&(i, u)| here(u, i)).fold(0, |m, (i, _)| m | 1 << i)
            }
            Step::ItemProperty(item) => {
                property(self.items.get(&Self::labelled(item, directed)).map(|&n| Some(n)))
            }
            Step::PutItem(item, n) => {
                self.put_item(item, n, directed);
                0
            }
            Step::InsertItem(item, n) => {
                let new = !self.items.contains_key(&Self::labelled(item, directed));
                if new { self.put_item(item, n, directed) } else { 0 }
            }
            Step::UpdateItem(item, n) => {
                let found = self.items.get_mut(&Self::labelled(item, directed));
                u64::from(found.map(|number| *number = n).is_some())
            }
            Step::RemoveItem(item) => u64::from(self.items.remove(&Self::labelled(item, directed)).is_some()),
            Step::VertexProperty(v) => {
                property(self.vertices.contains(&v).then(|| self.properties.get(&v).copied()))
            }
            Step::SetVertex(v, n) => {
                let exists = self.vertices.contains(&v);
                if exists {
                    self.properties.insert(v, n);
                }
                u64::from(exists)
            }
        }
    }

    fn answers(&mut self, steps: &[Step], directed: bool) -> Vec<u64> {
        steps.iter().map(|&step| self.run(step, directed)).collect()
    }
}

impl History {
    /// Returns a moment in real time, which is unique because threads run one at a time.
    pub(crate) fn tick(&self) -> u64 {
        self.ticks.fetch_add(1, Ordering::SeqCst)
    }

    pub(crate) fn push(&self, attempt: Attempt) {
        self.attempts.lock().expect("no panic inside").push(attempt);
    }

    pub(crate) fn last_counts(&self, vertices: u64, edges: u64) {
        *self.counts.lock().expect("no panic inside") = Some((vertices, edges));
    }

    /// Replays all commits by timestamp and compares every answer. Returns the numbers of commits and of
    /// conflicts.
    pub(crate) fn check(&self, directed: bool) -> (u64, u64) {
        let attempts = self.attempts.lock().expect("no panic inside");
        let mut placed: Vec<Placed<'_>> = attempts.iter().filter_map(Placed::new).collect();
        placed.sort_by_key(|p| p.ts);
        let mut states = vec![(Timestamp::ZERO, State::default())];
        let mut commits = 0;
        for group in placed.chunk_by(|a, b| a.ts == b.ts) {
            let before = &states[states.len() - 1].1;
            let state = explain(before, group, directed).unwrap_or_else(|| {
                panic!("no serial order explains {group:#?} after {before:?}; all: {attempts:#?}")
            });
            commits += u64::from(state != *before);
            states.push((group[0].ts, state));
        }
        check_real_time(&placed);
        for attempt in attempts.iter() {
            assert!(was_so(&states, attempt, directed), "never was so: {attempt:?}; all: {attempts:#?}");
        }
        let counts = self.counts.lock().expect("no panic inside").expect("read at the end");
        let last = &states[states.len() - 1].1;
        assert_eq!(
            counts,
            (last.vertices.len() as u64, (last.edges.len() + last.items.len()) as u64),
            "counts"
        );
        (commits, attempts.iter().filter(|a| matches!(a.done, Done::Refused)).count() as u64)
    }
}

/// True if an operation without effect has no effect in some state between its two timestamps.
fn was_so(states: &[(Timestamp, State)], attempt: &Attempt, directed: bool) -> bool {
    let Done::Unchanged { since, ts, answers } = &attempt.done else { return true };
    let first = states.partition_point(|(at, _)| at <= since).saturating_sub(1);
    states[first..].iter().take_while(|(at, _)| at <= ts).any(|(_, state)| {
        let mut after = state.clone();
        after.answers(&attempt.steps, directed) == *answers && after == *state
    })
}

/// A transaction that was not refused, with its place in the serial order.
#[derive(Debug)]
struct Placed<'a> {
    ts: Timestamp,
    writes: bool,
    answers: &'a [u64],
    attempt: &'a Attempt,
}

impl<'a> Placed<'a> {
    fn new(attempt: &'a Attempt) -> Option<Placed<'a>> {
        let (ts, writes, answers) = match &attempt.done {
            Done::Written { ts, answers } => (*ts, true, answers),
            Done::Read { ts, answers } => (*ts, false, answers),
            Done::Unchanged { .. } | Done::Refused => return None,
        };
        Some(Placed { ts, writes, answers, attempt })
    }

    /// Returns the state after this transaction, if `before` explains all its reads.
    fn run(&self, before: &State, directed: bool) -> Option<State> {
        let mut after = before.clone();
        (after.answers(&self.attempt.steps, directed) == self.answers).then_some(after)
    }
}

/// Returns the state after all transactions of one timestamp. At most one of them changes the state, and it
/// comes first. All other ones change nothing and read the state after it.
fn explain(before: &State, group: &[Placed<'_>], directed: bool) -> Option<State> {
    let fits = |first: Option<usize>| {
        let state = match first {
            Some(i) => group[i].run(before, directed).filter(|after| after != before)?,
            None => before.clone(),
        };
        let others = group.iter().enumerate().filter(|&(i, _)| Some(i) != first);
        let unchanged =
            others.map(|(_, p)| p.run(&state, directed)).all(|after| after.as_ref() == Some(&state));
        unchanged.then_some(state)
    };
    let writers = (0..group.len()).filter(|&i| group[i].writes);
    writers.map(Some).chain([None]).find_map(fits)
}

/// Checks that a transaction which ended before another one began has no later timestamp.
fn check_real_time(placed: &[Placed<'_>]) {
    for a in placed {
        for b in placed.iter().filter(|b| a.attempt.ended < b.attempt.began) {
            assert!(a.ts <= b.ts, "{b:?} began after {a:?} had ended");
        }
    }
}
