//! Clients that run random transactions on the hot vertices and record them.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use hedgerow::{CommitError, Durability, Error, Graph, Result, Timestamp, Value, WriteTxn};
use hedgerow_testkit::history::{Event, Level, Txn, Violation, check};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Damage, SimFs};

use crate::world::{GENERATION, HOT, KINDS, Kind, World, edge, is_whole, item, look, read, set, sink};

/// The counts of a history.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) transactions: u64,
    pub(crate) writers: u64,
    pub(crate) conflicts: u64,
    pub(crate) reads: u64,
    pub(crate) restarts: u64,
}

/// The state that all clients of a history share.
#[derive(Default)]
struct Shared {
    clock: AtomicU64,
    begun: AtomicU64,
    conflicts: AtomicU64,
    elements: AtomicU32,
}

/// A history of `clients` threads in `phases`. In each phase a store with files crashes at some moment, and
/// is reopened for the next phase. The crash loses only commits that were not acknowledged before it, or not
/// promised to be durable. The history continues without these commits.
pub(crate) struct Plan {
    pub(crate) world: World,
    pub(crate) clients: u64,
    pub(crate) phases: u64,
    /// The number of transactions of each client in each phase.
    pub(crate) transactions: u64,
}

impl Plan {
    /// Runs the history. Each client calls `begin` first.
    pub(crate) fn run(
        &self,
        seed: u64,
        begin: &(dyn Fn() + Sync),
    ) -> std::result::Result<Tally, Box<(Violation, u64)>> {
        let (shared, mut history, mut rng) = (Shared::default(), Vec::new(), SplitMix64::new(seed));
        let mut disk = SimFs::new();
        let (mut graph, _) = self.world.open(&disk);
        for _ in 0..self.phases {
            let crash = self.phase(&graph, &disk, &shared, &mut rng, begin, &mut history);
            let Some(crash) = crash else { continue };
            let recovered;
            disk = crash.disk;
            (graph, recovered) = self.world.open(&disk);
            assert!(recovered >= crash.durable, "{recovered} recovered, {} were durable", crash.durable);
            let synced = self.world.durability == Some(Durability::Sync);
            let lost = history.iter().filter(|txn| txn.ts > recovered.0);
            for txn in lost.filter(|txn| txn.writes()) {
                assert!(!synced || txn.ended > crash.at, "acknowledged and lost: {txn:?}");
            }
            history.retain(|txn| txn.ts <= recovered.0);
        }
        let report = graph.check().unwrap();
        assert!(report.is_ok(), "{report:?}");
        let level = match self.world.isolation {
            hedgerow::Isolation::Snapshot => Level::Snapshot,
            _ => Level::Serializable,
        };
        check(level, &history, is_whole).map_err(|violation| Box::new((violation, seed)))?;
        let is_read = |e: &&Event| matches!(e, Event::Read(..));
        Ok(Tally {
            transactions: history.len() as u64,
            writers: history.iter().filter(|txn| txn.writes()).count() as u64,
            conflicts: shared.conflicts.into_inner(),
            reads: history.iter().map(|t| t.events.iter().filter(is_read).count() as u64).sum(),
            restarts: if self.world.is_durable() { self.phases } else { 0 },
        })
    }

    /// Runs the clients. For a store with files, returns the state after a crash at some moment of the phase.
    fn phase(
        &self,
        graph: &Graph,
        disk: &SimFs,
        shared: &Shared,
        rng: &mut SplitMix64,
        begin: &(dyn Fn() + Sync),
        history: &mut Vec<Txn>,
    ) -> Option<Crash> {
        let client = |seed: u64, number: u64| {
            begin();
            let client = Client { graph, shared, world: self.world, rng: SplitMix64::new(seed) };
            client.run(self.transactions, number == 0)
        };
        let moment = shared.begun.load(Ordering::Relaxed) + rng.below(self.clients * self.transactions);
        let damage_seed = rng.next_u64();
        let crash = || {
            while shared.begun.load(Ordering::Relaxed) < moment {
                std::thread::yield_now();
            }
            let (durable, at) = (graph.durable_ts(), shared.clock.fetch_add(1, Ordering::SeqCst));
            let damage = Damage::ALL[(damage_seed % 7) as usize];
            Crash { disk: disk.crash_clone(damage, damage_seed), durable, at }
        };
        std::thread::scope(|scope| {
            let client = &client;
            let threads: Vec<_> = (0..self.clients)
                .map(|number| {
                    let seed = rng.next_u64();
                    scope.spawn(move || client(seed, number))
                })
                .collect();
            let crash = self.world.is_durable().then(crash);
            threads.into_iter().for_each(|thread| history.extend(thread.join().unwrap()));
            crash
        })
    }
}

/// A crash at some moment while the clients run. The clients continue and do not notice it.
struct Crash {
    disk: SimFs,
    /// The last durable commit before the crash.
    durable: Timestamp,
    /// The moment of the crash.
    at: u64,
}

struct Client<'a> {
    graph: &'a Graph,
    shared: &'a Shared,
    world: World,
    rng: SplitMix64,
}

impl Client<'_> {
    fn tick(&self) -> u64 {
        self.shared.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn run(mut self, transactions: u64, keeps: bool) -> Vec<Txn> {
        let mut history = Vec::with_capacity(transactions as usize);
        for n in 0..transactions {
            let begun = self.shared.begun.fetch_add(1, Ordering::Relaxed);
            // The vertices of the current generation. Other clients may still use the previous generation.
            let first = begun / GENERATION * HOT;
            let done = if self.rng.below(6) == 0 { Some(self.look(first)) } else { self.write(first) };
            history.extend(done);
            if keeps && n % 128 == 127 {
                self.keep_house(n);
            }
        }
        history
    }

    /// Runs maintenance that must not change the result of any read.
    fn keep_house(&self, n: u64) {
        match n / 128 % 3 {
            0 if self.world.is_durable() => drop(self.graph.checkpoint().unwrap()),
            1 => self.graph.flush().unwrap(),
            _ => self.graph.settle().unwrap(),
        }
    }

    fn vertex(&mut self, first: u64) -> u64 {
        first + self.rng.below(HOT)
    }

    fn kind(&mut self) -> Kind {
        KINDS[self.rng.below(4) as usize]
    }

    /// Reads some items of a snapshot. The reads never fail and never wait.
    fn look(&mut self, first: u64) -> Txn {
        let began = self.tick();
        let snapshot = self.graph.snapshot().unwrap();
        let mut events = Vec::new();
        for _ in 0..1 + self.rng.below(4) {
            let (vertex, kind) = (self.vertex(first), self.kind());
            self.pause();
            events.push(Event::Read(item(vertex, kind), look(&snapshot, vertex, kind)));
        }
        let ts = snapshot.timestamp().0;
        Txn { began, ended: self.tick(), start: ts, ts, events }
    }

    fn pause(&mut self) {
        if self.rng.eighths(2) {
            std::thread::yield_now();
        }
    }

    fn write(&mut self, first: u64) -> Option<Txn> {
        let began = self.tick();
        let mut txn = self.graph.write().unwrap();
        // Under snapshot isolation, a read of the whole graph makes no conflicts, and it returns the
        // snapshot's timestamp.
        let snapshot = self.world.isolation == hedgerow::Isolation::Snapshot;
        let start = snapshot.then(|| txn.snapshot().unwrap().timestamp().0);
        let mut events = Vec::new();
        for _ in 0..1 + self.rng.below(4) {
            self.step(&mut txn, first, &mut events).expect("steps do not fail");
            self.pause();
        }
        match txn.commit() {
            Ok(ts) => Some(Txn { began, ended: self.tick(), start: start.unwrap_or(ts.0), ts: ts.0, events }),
            Err(Error::Commit(CommitError::Conflict { .. })) => {
                self.shared.conflicts.fetch_add(1, Ordering::Relaxed);
                None
            }
            Err(other) => panic!("{other}"),
        }
    }

    fn step(&mut self, txn: &mut WriteTxn, first: u64, events: &mut Vec<Event>) -> Result<()> {
        let (vertex, kind) = (self.vertex(first), self.kind());
        match self.rng.below(8) {
            0..3 => {
                let found = read(txn, vertex, kind)?;
                events.push(Event::Read(item(vertex, kind), found));
                Ok(())
            }
            3..7 => self.add(txn, vertex, kind, events),
            _ => self.remove(txn, vertex, kind, events),
        }
    }

    fn add(&mut self, txn: &mut WriteTxn, vertex: u64, kind: Kind, events: &mut Vec<Event>) -> Result<()> {
        let element = self.shared.elements.fetch_add(1, Ordering::Relaxed);
        match kind {
            Kind::Property => {
                let mut elements = read(txn, vertex, kind)?;
                events.push(Event::Read(item(vertex, kind), elements.clone()));
                elements.push(element);
                set(txn, vertex, &elements)?;
                events.push(Event::Add(item(vertex, kind), element));
            }
            Kind::Out | Kind::In => {
                let (edge, to) = edge(vertex, element);
                txn.put_edge_with(edge, [] as [(&str, Value); 0])?;
                events.push(Event::Add(item(vertex, Kind::Out), element));
                events.push(Event::Add(item(to, Kind::In), element));
            }
            Kind::Plain => {
                if self.rng.eighths(4) {
                    txn.put_edge((vertex, sink(element)))?;
                } else {
                    assert!(txn.insert_edge((vertex, sink(element)))?, "nobody else adds this element");
                }
                events.push(Event::Add(item(vertex, kind), element));
            }
        }
        Ok(())
    }

    /// Removes an element that the transaction read.
    fn remove(&mut self, txn: &mut WriteTxn, vertex: u64, kind: Kind, events: &mut Vec<Event>) -> Result<()> {
        let kind = if kind == Kind::In { Kind::Out } else { kind };
        let mut elements = read(txn, vertex, kind)?;
        events.push(Event::Read(item(vertex, kind), elements.clone()));
        if elements.is_empty() {
            return Ok(());
        }
        let element = elements.remove(self.rng.below(elements.len() as u64) as usize);
        match kind {
            Kind::Property => set(txn, vertex, &elements)?,
            Kind::Out | Kind::In => {
                let (edge, to) = edge(vertex, element);
                assert!(txn.remove_edge(edge)?);
                events.push(Event::Remove(item(to, Kind::In), element));
            }
            Kind::Plain => assert!(txn.remove_edge((vertex, sink(element)))?),
        }
        events.push(Event::Remove(item(vertex, kind), element));
        Ok(())
    }
}
