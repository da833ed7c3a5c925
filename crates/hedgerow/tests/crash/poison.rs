//! Operations that fail: each operation of a workload in turn, once or for ever. A failed sync poisons the
//! store, and the store never acknowledges its commits. A full disk aborts the commit. After any fault, the
//! next opening finds a legal prefix and makes it durable. This holds even if the operating system shows
//! bytes that never reached the disk.

use std::sync::Arc;

use hedgerow::{CommitError, Error, Graph, StateError};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, SplitMix64, errno};
use hedgerow_testkit::{Damage, Effort, Generator, Model, SimFs, explored};

use crate::common;
use crate::plan::Plan;
use crate::verify::{History, Verdict, open_and_verify};

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) runs: u64,
    unknown: u64,
    full: u64,
    refused: u64,
}

/// Runs a small workload on a disk with a planned fault. `Ok` contains the allowed content of the disk after
/// it.
fn work(plan: &Plan, disk: &SimFs, seen: &mut Seen) -> Verdict<History> {
    let mut history = History::new(0, Arc::new(Model::new(plan.config)));
    let Ok(graph) = plan.options().open_on(disk.handle()) else {
        seen.refused += 1;
        return Ok(history);
    };
    let mut generator = Generator::new(plan.config, plan.seed, 0, plan.universe);
    for i in 0..plan.transactions {
        if i == plan.transactions / 2 {
            // The checkpoint may fail in any way; the test checks only the content after it.
            seen.refused += u64::from(graph.checkpoint().is_err());
        }
        if !attempt(plan, &graph, &mut history, &mut generator, seen)? {
            break;
        }
    }
    if graph.close().is_ok() {
        history.acked = history.last();
    }
    Ok(history)
}

/// Attempts one transaction. Returns whether the store still accepts writes.
fn attempt(
    plan: &Plan,
    graph: &Graph,
    history: &mut History,
    generator: &mut Generator,
    seen: &mut Seen,
) -> Verdict<bool> {
    let before = history.states.last().cloned().ok_or("no state")?;
    let ops = generator.transaction(Some(&before), plan.most_ops);
    let mut after = (*before).clone();
    let mut tx = match graph.write() {
        Ok(tx) => tx,
        Err(Error::State(StateError::Poisoned)) => return Ok(false),
        Err(error) => return Err(format!("write: {error}")),
    };
    for op in &ops {
        after.apply(op);
        common::apply(&mut tx, plan.config.weighted, op).map_err(|e| e.to_string())?;
    }
    match tx.commit() {
        Ok(ts) => {
            if ts.0 > history.last() {
                history.states.push(Arc::new(after));
            }
            history.acked = history.last();
            Ok(true)
        }
        Err(Error::Commit(CommitError::DiskFull | CommitError::TooManyFiles)) => {
            seen.full += 1;
            Ok(true)
        }
        Err(Error::Commit(CommitError::OutcomeUnknown)) => {
            seen.unknown += 1;
            history.states.push(Arc::new(after));
            must_be_poisoned(plan, graph, &before)?;
            Ok(false)
        }
        Err(Error::State(StateError::Poisoned)) => Ok(false),
        Err(error) => Err(format!("commit: {error}")),
    }
}

fn must_be_poisoned(plan: &Plan, graph: &Graph, before: &Model) -> Verdict<()> {
    if !matches!(graph.write().err(), Some(Error::State(StateError::Poisoned))) {
        return Err("a poisoned store takes writes".into());
    }
    if !matches!(
        graph.insert_edge((&hedgerow::VertexKey::U64(1), &hedgerow::VertexKey::U64(2))),
        Err(Error::State(StateError::Poisoned))
    ) {
        return Err("a poisoned store takes an edge".into());
    }
    let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
    common::same(&snapshot, plan.config, before).map_err(|e| format!("a reader of a poisoned store: {e}"))
}

fn sweep_one(plan: &Plan, fault: Fault, seen: &mut Seen) -> Verdict<()> {
    sweep_on(plan, SimFs::new(), fault, seen)
}

fn sweep_on(plan: &Plan, disk: SimFs, fault: Fault, seen: &mut Seen) -> Verdict<()> {
    disk.plan_fault(fault);
    let history = work(plan, &disk, seen)?;
    disk.clear_faults();
    seen.runs += 1;
    let (graph, ts) = open_and_verify(plan, &disk, &history)?;
    // The store serves the recovered commits, so they must be on the disk now.
    let recovered = History { acked: ts, ..history };
    let mut judged = None;
    for mode in [Damage::LoseAll, Damage::Garbage] {
        let clone = disk.crash_clone(mode, plan.seed);
        // If all bytes are synced, both modes leave the same files.
        let files = Some(clone.files());
        if files == judged {
            continue;
        }
        judged = files;
        let (_, again) =
            open_and_verify(plan, &clone, &recovered).map_err(|e| format!("after recovery: {e}"))?;
        if again != ts {
            return Err(format!("recovery served commit {ts}, the disk had {again}"));
        }
    }
    drop(graph);
    Ok(())
}

/// Sweeps the operations of a workload for each seed. The first failure contains the instructions for its
/// replay.
pub(crate) fn sweep(effort: &Effort) -> Verdict<Seen> {
    let mut seen = Seen::default();
    while let Some(seed) = effort.next_seed() {
        let of = Plan::of(seed);
        let plan = Plan { transactions: 10, durability: hedgerow::Durability::Sync, ..of };
        let clean = SimFs::new();
        work(&plan, &clean, &mut Seen::default())?;
        let mut rng = SplitMix64::new(seed);
        for at in 0..clean.op_count() {
            for (repeat, code) in [
                (Repeat::Once, errno::EIO),
                (Repeat::Forever, errno::EIO),
                (Repeat::Once, errno::ENOSPC),
                (Repeat::Forever, [errno::ENOSPC, errno::EROFS, errno::EDQUOT][rng.below(3) as usize]),
            ] {
                let fault = Fault { class: FaultClass::Change, at, site: None, repeat, errno: code };
                sweep_one(&plan, fault, &mut seen).map_err(|e| {
                    format!("replay with HEDGEROW_ROUND={seed}: operation {at}, {repeat:?} {code}: {e}")
                })?;
            }
        }
    }
    Ok(seen)
}

pub(crate) fn failed_operations_never_lose_what_was_acknowledged() {
    let seen = sweep(&Effort::rounds(6)).unwrap_or_else(|e| panic!("{e}"));
    println!("{} full disks, {} unknown outcomes, {} refusals", seen.full, seen.unknown, seen.refused);
    explored("failed operations", seen.runs, 1_000);
    explored("commits with unknown outcome after a failed sync or write", seen.unknown, 100);
}

/// Tries each possible error of a change at each operation, once and for ever, also with short transfers.
pub(crate) fn every_error_of_every_operation() {
    const ERRORS: [i32; 6] =
        [errno::EIO, errno::ENOSPC, errno::EDQUOT, errno::EROFS, errno::EMFILE, errno::EINTR];
    let (mut seen, mut operations) = (Seen::default(), 0);
    let effort = Effort::rounds(6);
    while let Some(seed) = effort.next_seed() {
        let of = Plan::of(seed);
        let plan = Plan { transactions: 8, durability: hedgerow::Durability::Sync, ..of };
        let clean = SimFs::new();
        work(&plan, &clean, &mut Seen::default()).expect("a run without faults");
        for at in 0..clean.op_count() {
            operations += 1;
            for code in ERRORS {
                // The store repeats an interrupted call without limit, so `EINTR` fails only once.
                let modes = if code == errno::EINTR { 1 } else { 2 };
                for repeat in [Repeat::Once, Repeat::Forever].into_iter().take(modes) {
                    for short in [None, Some(seed ^ at)] {
                        let disk = SimFs::new();
                        disk.set_short_transfers(short);
                        let fault = Fault { class: FaultClass::Change, at, site: None, repeat, errno: code };
                        sweep_on(&plan, disk, fault, &mut seen).unwrap_or_else(|e| {
                            panic!("HEDGEROW_ROUND={seed}: operation {at}, {repeat:?} {code}, {short:?}: {e}")
                        });
                    }
                }
            }
        }
    }
    println!("{} full disks, {} unknown outcomes, {} refusals", seen.full, seen.unknown, seen.refused);
    explored("operations that failed in every way", operations, 350);
    explored("ways in which operations failed", seen.runs, 7_500);
}
