//! Histories for an independent checker, which does not use timestamps. Transactions append to lists, stored
//! as properties and as ranked edges. Meanwhile syncs fail, and the store crashes and is reopened.

use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use adya::{History, Opts, Report, Valid, Workload};
use hedgerow::{
    CommitError, Direction, EdgeKey, Error, Graph, Isolation, Result, StateError, Value, WriteTxn,
};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, SplitMix64, errno};
use hedgerow_testkit::{Damage, SimFs};

use crate::world::World;

/// The number of lists in use at one time. The even lists are properties, the odd lists are edges.
const LISTS: u64 = 6;

/// The number of transactions after which other lists are hot.
const GENERATION: u64 = 150;

/// A history of phases that each end with a failing sync, a crash, or without a fault.
pub(crate) struct Plan {
    pub(crate) world: World,
    pub(crate) clients: u64,
    pub(crate) phases: u64,
    pub(crate) transactions: u64,
}

/// The counts of a history.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) committed: u64,
    pub(crate) refused: u64,
    pub(crate) unknown: u64,
}

#[derive(Default)]
struct Shared {
    /// The history: one line for each invocation and completion, in the order of their occurrence.
    lines: Mutex<String>,
    begun: AtomicU64,
    elements: AtomicU32,
    processes: AtomicU64,
    counts: [AtomicU64; 3],
}

#[derive(Clone, Copy)]
enum Mop {
    Read(u64),
    Append(u64, u32),
}

/// Formats operations with their results, in the syntax of the checker.
fn shown(mops: &[(Mop, Option<Vec<u64>>)]) -> String {
    let one = |(mop, found): &(Mop, Option<Vec<u64>>)| match (mop, found) {
        (Mop::Append(list, element), _) => format!(r#"["append",{list},{element}]"#),
        (Mop::Read(list), Some(found)) => format!(r#"["r",{list},{found:?}]"#),
        (Mop::Read(list), None) => format!(r#"["r",{list},null]"#),
    };
    mops.iter().map(one).collect::<Vec<_>>().join(",")
}

impl Shared {
    fn note(&self, kind: &str, process: u64, mops: &[(Mop, Option<Vec<u64>>)]) {
        let mops = shown(mops);
        let mut lines = self.lines.lock().unwrap();
        writeln!(lines, r#"{{"type":"{kind}","process":{process},"value":[{mops}]}}"#).unwrap();
    }
}

impl Plan {
    /// Runs the history and passes it to the checker. Each client calls `begin` first.
    pub(crate) fn run(&self, seed: u64, begin: &(dyn Fn() + Sync)) -> (Tally, Report) {
        let (shared, mut rng) = (Shared::default(), SplitMix64::new(seed));
        let mut disk = SimFs::new();
        let (mut graph, _) = self.world.open(&disk);
        for phase in 0..self.phases {
            if self.world.is_durable() {
                disk = disk.crash_clone(Damage::RandomSubset, rng.next_u64());
                graph = self.world.open(&disk).0;
                if phase % 2 == 1 {
                    let at = disk.op_count() + 50 + rng.below(self.transactions);
                    let site = Some("sync_data:wal");
                    let (class, repeat) = (FaultClass::Change, Repeat::Forever);
                    disk.plan_fault(Fault { class, at, site, repeat, errno: errno::EIO });
                }
            }
            self.phase(&graph, &shared, &mut rng, begin);
        }
        // The store may be poisoned; the check uses the content after the next opening.
        if self.world.is_durable() {
            graph = self.world.open(&disk.crash_clone(Damage::RandomSubset, rng.next_u64())).0;
        }
        self.read_everything(&graph, &shared);
        let [committed, refused, unknown] = shared.counts.map(AtomicU64::into_inner);
        let history = History::from_json(&shared.lines.into_inner().unwrap()).unwrap();
        let model = if self.world.isolation == Isolation::Snapshot {
            "strong-snapshot-isolation"
        } else {
            "strict-serializable"
        };
        let options = Opts { models: vec![model.into()], ..Opts::default() };
        (Tally { committed, refused, unknown }, adya::check(&history, Workload::ListAppend, &options))
    }

    fn phase(&self, graph: &Graph, shared: &Shared, rng: &mut SplitMix64, begin: &(dyn Fn() + Sync)) {
        std::thread::scope(|scope| {
            for _ in 0..self.clients {
                let rng = SplitMix64::new(rng.next_u64());
                scope.spawn(move || {
                    begin();
                    let process = shared.processes.fetch_add(1, Ordering::Relaxed);
                    Client { graph, shared, rng, process }.run(self.transactions);
                });
            }
        });
    }

    fn read_everything(&self, graph: &Graph, shared: &Shared) {
        let lists = (shared.begun.load(Ordering::Relaxed) / GENERATION + 1) * LISTS;
        let process = shared.processes.fetch_add(1, Ordering::Relaxed);
        let mut txn = graph.write().unwrap();
        let asked: Vec<_> = (0..lists).map(|list| (Mop::Read(list), None)).collect();
        shared.note("invoke", process, &asked);
        let found = |list| (Mop::Read(list), Some(elements(&mut txn, list).unwrap()));
        shared.note("ok", process, &(0..lists).map(found).collect::<Vec<_>>());
    }
}

struct Client<'a> {
    graph: &'a Graph,
    shared: &'a Shared,
    rng: SplitMix64,
    process: u64,
}

impl Client<'_> {
    /// Runs transactions until the store accepts no more writes.
    fn run(mut self, transactions: u64) {
        for _ in 0..transactions {
            let mops = self.mops();
            self.shared.note("invoke", self.process, &mops.iter().map(|&m| (m, None)).collect::<Vec<_>>());
            let mut found = Vec::new();
            let outcome = self.attempt(&mops, &mut found);
            let (kind, count) = match &outcome {
                Ok(()) => ("ok", 0),
                Err(Error::Commit(CommitError::OutcomeUnknown)) => ("info", 2),
                Err(Error::Commit(CommitError::Conflict { .. }) | Error::State(StateError::Poisoned)) => {
                    ("fail", 1)
                }
                Err(other) => panic!("{other}"),
            };
            self.shared.counts[count].fetch_add(1, Ordering::Relaxed);
            let mops = if outcome.is_ok() { found } else { mops.into_iter().map(|m| (m, None)).collect() };
            self.shared.note(kind, self.process, &mops);
            if let Err(Error::State(StateError::Poisoned) | Error::Commit(CommitError::OutcomeUnknown)) =
                outcome
            {
                return;
            }
        }
    }

    fn mops(&mut self) -> Vec<Mop> {
        let first = self.shared.begun.fetch_add(1, Ordering::Relaxed) / GENERATION * LISTS;
        let count = 1 + self.rng.below(4);
        let mut mop = || {
            let list = first + self.rng.below(LISTS);
            if self.rng.eighths(4) {
                return Mop::Read(list);
            }
            Mop::Append(list, self.shared.elements.fetch_add(1, Ordering::Relaxed))
        };
        (0..count).map(|_| mop()).collect()
    }

    fn attempt(&mut self, mops: &[Mop], found: &mut Vec<(Mop, Option<Vec<u64>>)>) -> Result<()> {
        let mut txn = self.graph.write()?;
        for &mop in mops {
            match mop {
                Mop::Read(list) => found.push((mop, Some(elements(&mut txn, list)?))),
                Mop::Append(list, element) => {
                    append(&mut txn, list, element)?;
                    found.push((mop, None));
                }
            }
            if self.rng.eighths(3) {
                std::thread::yield_now();
            }
        }
        txn.commit().map(drop)
    }
}

/// Returns the list as numbers in the order of appends.
fn elements(txn: &mut WriteTxn, list: u64) -> Result<Vec<u64>> {
    if list.is_multiple_of(2) {
        let Some(Value::Bytes(bytes)) = txn.vertex_property(list, "elements")? else { return Ok(Vec::new()) };
        let number = |b: &[u8]| u64::from(u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        return Ok(bytes.chunks_exact(4).map(number).collect());
    }
    let edges = txn.edge_list(list, ("list", Direction::Out))?.unwrap_or_default();
    let mut found = Vec::with_capacity(edges.len());
    for (place, (_, _, rank)) in edges.into_iter().enumerate() {
        assert_eq!(rank, place as u64, "the places in a list have no gap");
        match txn.edge_property(EdgeKey::new("list", list, list).rank(rank), "element")? {
            Some(Value::I64(element)) => found.push(element as u64),
            other => panic!("an edge with the element {other:?}"),
        }
    }
    Ok(found)
}

/// Appends to a list. The rank of an edge is its place, so two concurrent appends write the same edge.
fn append(txn: &mut WriteTxn, list: u64, element: u32) -> Result<()> {
    let before = elements(txn, list)?;
    if list.is_multiple_of(2) {
        txn.insert_vertex(list)?;
        let all = before.iter().map(|&e| e as u32).chain([element]);
        let bytes: Vec<u8> = all.flat_map(u32::to_le_bytes).collect();
        return txn.update_vertex(list, [("elements", &bytes[..])]).map(drop);
    }
    let edge = EdgeKey::new("list", list, list).rank(before.len() as u64);
    txn.put_edge_with(edge, [("element", i64::from(element))])
}

/// True if the checker found no anomaly. A history that the checker could not judge is also a failure.
pub(crate) fn is_valid(report: &Report) -> bool {
    report.valid == Valid::True
}
