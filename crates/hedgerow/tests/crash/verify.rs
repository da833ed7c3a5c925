//! Checks of the files after a crash: the store opens, and contains exactly the first commits.

use std::sync::Arc;

use hedgerow::{Durability, Graph};
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Damage, Generator, Model, ModelOp, SimFs};
use parking_lot::Mutex;

use crate::common;
use crate::kinds::{Definition, defined_by, same_kinds};
use crate::plan::Plan;

/// The allowed and required results of a crash: the states after the commits attempted until now, and the
/// number of acknowledged commits.
#[derive(Clone, Debug)]
pub(crate) struct History {
    /// The timestamp of the first state.
    pub(crate) first: u64,
    /// One state per timestamp from `first` on. The last state may belong to a running commit.
    pub(crate) states: Vec<Arc<Model>>,
    /// The last timestamp that the store acknowledged as durable.
    pub(crate) acked: u64,
    /// The kinds with attempted definitions, in order.
    pub(crate) kinds: Vec<Definition>,
}

impl History {
    pub(crate) fn new(first: u64, state: Arc<Model>) -> History {
        History { first, states: vec![state], acked: first, kinds: Vec::new() }
    }

    pub(crate) fn last(&self) -> u64 {
        self.first + self.states.len() as u64 - 1
    }

    fn state(&self, ts: u64) -> Option<&Arc<Model>> {
        self.states.get(ts.checked_sub(self.first)? as usize)
    }

    /// Returns the content of a store that passed the checks as the state of commit `ts`.
    pub(crate) fn found(&self, ts: u64) -> Verdict<Found> {
        let state = self.state(ts).cloned().ok_or("a timestamp from before")?;
        Ok(Found { ts, state, kinds: defined_by(&self.kinds, ts) })
    }

    /// True if [`verify`] accepts a store with this content.
    pub(crate) fn allows(&self, found: &Found) -> bool {
        (self.acked..=self.last()).contains(&found.ts)
            && self.state(found.ts).is_some_and(|state| Arc::ptr_eq(state, &found.state))
            && defined_by(&self.kinds, found.ts) == found.kinds
    }
}

/// The content of a store that was opened and checked.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    ts: u64,
    state: Arc<Model>,
    kinds: Vec<Definition>,
}

/// The result of a verification, with a message for a failure.
pub(crate) type Verdict<T> = Result<T, String>;

/// Opens the store on `disk`. The opening must succeed, and the state must be one that `history` allows.
/// Returns the store and the timestamp of that state.
pub(crate) fn open_and_verify(plan: &Plan, disk: &SimFs, history: &History) -> Verdict<(Graph, u64)> {
    let graph = plan.options().open_on(disk.handle()).map_err(|e| format!("does not open: {e}"))?;
    let ts = verify(plan, &graph, history)?;
    Ok((graph, ts))
}

/// Compares an open store with the state of its timestamp. Returns the timestamp.
pub(crate) fn verify(plan: &Plan, graph: &Graph, history: &History) -> Verdict<u64> {
    let ts = graph.published_ts().0;
    if ts < history.acked || ts > history.last() {
        return Err(format!(
            "recovered commit {ts}; acknowledged {}, attempted {}",
            history.acked,
            history.last()
        ));
    }
    let expected = history.state(ts).ok_or("a timestamp from before")?;
    let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
    common::same(&snapshot, plan.config, expected).map_err(|e| format!("at commit {ts}: {e}"))?;
    same_kinds(graph, &history.kinds, ts)?;
    common::sound(graph)?;
    Ok(ts)
}

/// Crashes the recovery of `disk` at a random moment of a random operation, and then runs a second recovery.
/// All bytes that the first crash left were durable, so the second recovery must reach the same state.
pub(crate) fn crash_recovery(plan: &Plan, disk: &SimFs, history: &History, seed: u64) -> Verdict<SimFs> {
    let mut rng = SplitMix64::new(seed);
    let target = rng.below(60);
    let mode = Damage::ALL[rng.below(7) as usize];
    let caught: Arc<Mutex<Option<SimFs>>> = Arc::default();
    let (keep, mut moments) = (Arc::clone(&caught), 0u64);
    disk.set_observer(Some(Box::new(move |event, fs| {
        if moments <= target {
            // Each later moment replaces the earlier one, so the crash of a short recovery is at its end.
            *keep.lock() = Some(fs.crash_clone(mode, seed ^ event.index.0));
        }
        moments += 1;
    })));
    let first = open_and_verify(plan, disk, history);
    disk.set_observer(None);
    let (graph, ts) = first?;
    drop(graph);
    let second = caught.lock().take().ok_or("recovery did not touch a file")?;
    let again = open_and_verify(plan, &second, history);
    let (graph, ts_again) = again.map_err(|e| format!("after a crash during recovery ({mode:?}): {e}"))?;
    if ts_again != ts {
        return Err(format!("recovery gave commit {ts}, after a crash during it {ts_again} ({mode:?})"));
    }
    drop(graph);
    Ok(second)
}

/// Runs a life after recovery: more commits, a crash at a random moment, and a last recovery.
pub(crate) fn live_on(plan: &Plan, disk: &SimFs, history: &History, seed: u64) -> Verdict<()> {
    let (graph, ts) = open_and_verify(plan, disk, history)?;
    let state = history.state(ts).ok_or("a timestamp from before")?;
    let kinds = defined_by(&history.kinds, ts);
    let shared = Arc::new(Mutex::new(History { kinds, ..History::new(ts, state.clone()) }));
    let mut generator = Generator::new(plan.config, seed, 0, plan.universe);
    let target = generator.rng().below(40);
    let mode = Damage::ALL[generator.rng().below(7) as usize];
    let caught: Arc<Mutex<Option<(SimFs, History)>>> = Arc::default();
    let (keep, known, mut moments) = (Arc::clone(&caught), Arc::clone(&shared), 0u64);
    disk.set_observer(Some(Box::new(move |_, fs| {
        if moments <= target {
            *keep.lock() = Some((fs.crash_clone(mode, seed), known.lock().clone()));
        }
        moments += 1;
    })));
    for _ in 0..3 {
        commit(plan, &graph, &shared, &mut generator)?;
    }
    disk.set_observer(None);
    drop(graph);
    let Some((third, history)) = caught.lock().take() else { return Ok(()) };
    open_and_verify(plan, &third, &history).map_err(|e| format!("in the third life ({mode:?}): {e}"))?;
    Ok(())
}

/// Commits one random transaction, and keeps `shared` true at every moment. Returns whether the transaction
/// changed anything.
pub(crate) fn commit(
    plan: &Plan,
    graph: &Graph,
    shared: &Mutex<History>,
    generator: &mut Generator,
) -> Verdict<bool> {
    let before = shared.lock().states.last().cloned().ok_or("no state")?;
    let ops = generator.transaction(Some(&before), plan.most_ops);
    commit_ops(plan, graph, shared, &ops)
}

/// Commits these operations, in the same way as [`commit`].
pub(crate) fn commit_ops(
    plan: &Plan,
    graph: &Graph,
    shared: &Mutex<History>,
    ops: &[ModelOp],
) -> Verdict<bool> {
    let before = shared.lock().states.last().cloned().ok_or("no state")?;
    let mut after = (*before).clone();
    let mut tx = graph.write().map_err(|e| e.to_string())?;
    for op in ops {
        let expected = after.apply(op);
        let found = common::apply(&mut tx, plan.config.weighted, op).map_err(|e| e.to_string())?;
        if found != expected {
            return Err(format!("{op:?} returned {found}, should return {expected}"));
        }
    }
    let attempted = {
        let mut history = shared.lock();
        history.states.push(Arc::new(after));
        history.last()
    };
    let ts = tx.commit().map_err(|e| format!("commit: {e}"))?.0;
    let mut history = shared.lock();
    let changed = ts == attempted;
    if !changed {
        let unchanged = history.states.pop().is_some_and(|after| after == before);
        if ts + 1 != attempted || !unchanged {
            return Err(format!("commit returned {ts}, {attempted} was next"));
        }
    }
    history.acked = if plan.durability == Durability::Sync { ts } else { graph.durable_ts().0 };
    Ok(changed)
}
