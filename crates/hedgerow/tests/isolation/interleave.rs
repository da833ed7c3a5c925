//! One thread that drives every interleaving of a few scripted transactions, and models that judge each
//! outcome.
//!
//! The program has one thread, so a commit that waited for another open transaction would never return.

use std::collections::BTreeSet;

use hedgerow::{CommitError, Error, Graph, Isolation, LabelOptions, Options, PropertyType, WriteTxn};
use hedgerow_testkit::{SimFs, share};

use crate::model::{Item, KEYS, LABELS, ModelTxn, Op, State};
use crate::script::{Ctx, Flow, Script, Trace};

/// The number of runs on one store; each run has its own keys in the store.
const RUNS_PER_STORE: u64 = 200;

/// A test: the state before it, the steps of the transactions, and the forbidden outcome.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) setup: Script,
    pub(crate) scripts: Vec<Script>,
    /// A function that returns true if the outcome is the tested anomaly.
    pub(crate) anomaly: fn(&[Done], &State) -> bool,
    /// The outcomes that snapshot isolation allows.
    pub(crate) snapshot: Allows,
    /// True if edges create their endpoints.
    pub(crate) create: bool,
}

impl Case {
    pub(crate) fn new(
        name: &'static str,
        setup: Script,
        scripts: Vec<Script>,
        anomaly: fn(&[Done], &State) -> bool,
    ) -> Case {
        Case { name, setup, scripts, anomaly, snapshot: Allows::default(), create: true }
    }

    /// Marks the anomaly as allowed under snapshot isolation.
    pub(crate) fn skewed(self) -> Case {
        Case { snapshot: Allows { anomaly: true, skew: true }, ..self }
    }

    /// Marks outcomes without a serial order as allowed under snapshot isolation, but not the anomaly.
    pub(crate) fn not_serial(self) -> Case {
        Case { snapshot: Allows { anomaly: false, skew: true }, ..self }
    }

    /// Makes edges require existing endpoints.
    pub(crate) fn strict(self) -> Case {
        Case { create: false, ..self }
    }
}

/// The outcomes of a case under snapshot isolation. If an outcome is allowed, some run must show it; if not,
/// no run may show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Allows {
    pub(crate) anomaly: bool,
    /// Outcomes that no serial order explains.
    pub(crate) skew: bool,
}

/// The end of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    Committed,
    Conflict,
    /// An edge lacks an endpoint.
    NoVertex,
    RolledBack,
}

/// A transaction that ended. Its moments are step numbers of the run.
#[derive(Clone, Debug)]
pub(crate) struct Done {
    pub(crate) trace: Trace,
    pub(crate) end: End,
    began: usize,
    ended: usize,
}

impl Done {
    pub(crate) fn committed(&self) -> bool {
        self.end == End::Committed
    }
}

/// The counts over the interleavings of a case.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) runs: u64,
    pub(crate) commits: u64,
    pub(crate) conflicts: u64,
    anomalies: u64,
    skews: u64,
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { runs, commits, conflicts, anomalies, skews } = self;
        write!(
            f,
            "{runs} runs, {commits} commits, {conflicts} conflicts, {anomalies} anomalies, {skews} not serial"
        )
    }
}

/// Calls `f` with every order of the transactions' steps.
fn every_order(left: &mut [usize], order: &mut Vec<usize>, f: &mut impl FnMut(&[usize])) {
    let mut done = true;
    for t in 0..left.len() {
        if left[t] > 0 {
            done = false;
            left[t] -= 1;
            order.push(t);
            every_order(left, order, f);
            order.pop();
            left[t] += 1;
        }
    }
    if done {
        f(order);
    }
}

/// Makes a store for runs.
pub(crate) fn store(isolation: Isolation, disk: Option<&SimFs>) -> Graph {
    let options = Options::new().isolation(isolation).background_settling(false);
    let graph = match disk {
        Some(disk) => options.log_segment_bytes(1 << 16).open_on(disk.handle()),
        None => options.in_memory(),
    };
    let graph = graph.unwrap();
    for label in LABELS {
        graph.define_label(label, LabelOptions::new().multi(label == "list")).unwrap();
        graph.define_edge_property(label, "history", PropertyType::Utf8).unwrap();
    }
    graph
}

/// Runs every interleaving of `case` at one level, and fails at the first forbidden outcome. A case of three
/// transactions has many interleavings, and of these it runs the requested share.
pub(crate) fn explore(case: &Case, isolation: Isolation, durable: bool) -> Tally {
    let mut tally = Tally::default();
    let share = if case.scripts.len() > 2 { share() } else { 1 };
    let mut numbers = 0..;
    let disk = durable.then(SimFs::new);
    let mut graph = store(isolation, disk.as_ref());
    let mut steps: Vec<usize> = case.scripts.iter().map(|script| script.len() + 1).collect();
    every_order(&mut steps, &mut Vec::new(), &mut |order| {
        if !numbers.next().is_some_and(|number: u64| number.is_multiple_of(share)) {
            return;
        }
        if tally.runs.is_multiple_of(RUNS_PER_STORE) && !durable {
            graph = store(isolation, None);
        }
        let mut run = Run::new(case, &graph, isolation, (tally.runs % RUNS_PER_STORE) * KEYS);
        if durable {
            run.offset = tally.runs * KEYS;
        }
        run.all(order, &mut tally).unwrap_or_else(|problem| {
            panic!("{} under {isolation:?}, steps in the order {order:?}: {problem}; {run:#?}", case.name)
        });
    });
    let allowed = if isolation == Isolation::Snapshot { case.snapshot } else { Allows::default() };
    let seen = Allows { anomaly: tally.anomalies > 0, skew: tally.skews > 0 };
    // A share of the interleavings may miss the allowed outcomes.
    let fits = |seen: bool, allowed: bool| seen == allowed || share > 1 && allowed;
    assert!(
        fits(seen.anomaly, allowed.anomaly) && fits(seen.skew, allowed.skew),
        "{} under {isolation:?}: {tally:?}, not {allowed:?}",
        case.name
    );
    assert!(graph.check().unwrap().is_ok());
    tally
}

/// A commit of the model: its moment, its changed items, and the state after it.
#[derive(Debug)]
struct Commit {
    at: usize,
    changed: BTreeSet<Item>,
    state: State,
}

/// One interleaving.
struct Run<'a> {
    case: &'a Case,
    graph: &'a Graph,
    isolation: Isolation,
    offset: u64,
    open: Vec<Option<Open>>,
    done: Vec<Option<Done>>,
    commits: Vec<Commit>,
}

struct Open {
    txn: WriteTxn,
    trace: Trace,
    began: usize,
    next: usize,
}

impl std::fmt::Debug for Run<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Run").field("done", &self.done).field("commits", &self.commits).finish()
    }
}

impl<'a> Run<'a> {
    fn new(case: &'a Case, graph: &'a Graph, isolation: Isolation, offset: u64) -> Run<'a> {
        let count = case.scripts.len();
        let (open, done) = ((0..count).map(|_| None).collect(), vec![None; count]);
        Run { case, graph, isolation, offset, open, done, commits: Vec::new() }
    }

    fn all(&mut self, order: &[usize], tally: &mut Tally) -> Result<(), String> {
        self.set_up();
        for (now, &t) in order.iter().enumerate() {
            self.step(t, now + 1)?;
        }
        let snapshot = self.graph.snapshot().unwrap();
        let found = State::of(&snapshot, self.offset, KEYS);
        if tally.runs.is_multiple_of(7) {
            found.agrees_with_scans(&snapshot, self.offset, KEYS);
        }
        let expected = &self.commits[self.commits.len() - 1].state;
        if found != *expected {
            return Err(format!("the store holds {found:?} instead of {expected:?}"));
        }
        let done: Vec<Done> = self.done.iter().flatten().cloned().collect();
        let serial = self.is_serial(&done);
        if self.isolation == Isolation::Serializable && !serial {
            return Err("no serial order explains it".into());
        }
        let anomaly = (self.case.anomaly)(&done, &found);
        let allowed = self.isolation == Isolation::Snapshot && self.case.snapshot.anomaly;
        if anomaly && !allowed {
            return Err("the anomaly came about".into());
        }
        tally.runs += 1;
        tally.commits += done.iter().filter(|d| d.committed()).count() as u64;
        tally.conflicts += done.iter().filter(|d| d.end == End::Conflict).count() as u64;
        tally.anomalies += u64::from(anomaly);
        tally.skews += u64::from(!serial);
        Ok(())
    }

    fn set_up(&mut self) {
        let (mut txn, mut model) = (self.graph.write().unwrap(), ModelTxn::new(&State::default()));
        for step in &self.case.setup {
            step(&mut Ctx::store(&mut txn, self.offset, &mut Trace::default()));
            step(&mut Ctx::model(&mut model, &mut Trace::default()));
        }
        txn.commit().unwrap();
        self.commits.push(Commit { at: 0, changed: BTreeSet::new(), state: model.state });
    }

    /// Runs the next step of transaction `t`, or its commit.
    fn step(&mut self, t: usize, now: usize) -> Result<(), String> {
        if self.done[t].is_some() {
            return Ok(());
        }
        let (graph, create) = (self.graph, self.case.create);
        let begin = || {
            let mut txn = graph.write().unwrap();
            txn.create_endpoints(create).unwrap();
            Open { txn, trace: Trace::default(), began: now, next: 0 }
        };
        let open = self.open[t].get_or_insert_with(begin);
        let Some(step) = self.case.scripts[t].get(open.next) else { return self.commit(t, now) };
        open.next += 1;
        let flow = step(&mut Ctx::store(&mut open.txn, self.offset, &mut open.trace));
        if flow == Flow::Abort {
            let open = self.open[t].take().expect("open");
            drop(open.txn);
            self.judge(t, open.trace, open.began, now, End::RolledBack)?;
        }
        Ok(())
    }

    fn commit(&mut self, t: usize, now: usize) -> Result<(), String> {
        let Open { txn, trace, began, .. } = self.open[t].take().expect("open");
        let end = match txn.commit() {
            Ok(_) => End::Committed,
            Err(Error::Commit(CommitError::Conflict { .. })) => End::Conflict,
            Err(Error::Commit(CommitError::NoSuchVertex { .. })) => End::NoVertex,
            Err(other) => return Err(format!("commit: {other}")),
        };
        self.judge(t, trace, began, now, end)
    }

    /// Checks that the reads of transaction `t` and its end fit the promises of its level.
    fn judge(&mut self, t: usize, trace: Trace, began: usize, now: usize, end: End) -> Result<(), String> {
        let model = self.explain(t, &trace, began)?;
        let since: Vec<&Commit> = self.commits.iter().filter(|c| c.at > began).collect();
        let changed: BTreeSet<Item> = since.iter().flat_map(|c| c.changed.iter().copied()).collect();
        let writes = model.ops.iter().any(|op| changed.contains(&op.item()));
        match end {
            End::Committed if self.isolation == Isolation::Snapshot && writes => {
                return Err(format!("transaction {t} wrote over a commit after its snapshot"));
            }
            End::Conflict => {
                let near =
                    changed.iter().any(|item| item.vertices().iter().any(|v| trace.touched.contains(v)));
                let whole = trace.whole && !changed.is_empty();
                if !near && !whole {
                    return Err(format!("transaction {t} was refused for nothing"));
                }
            }
            _ => {}
        }
        if !self.case.create && end != End::Conflict {
            let missing = self.misses_endpoints(&model.ops);
            if missing != (end == End::NoVertex) && end != End::RolledBack {
                return Err(format!("transaction {t}: {end:?}, and endpoints missing: {missing}"));
            }
        }
        if end == End::Committed && !model.ops.is_empty() {
            let before = &self.commits[self.commits.len() - 1].state;
            let mut state = before.clone();
            model.ops.iter().for_each(|op| state.apply(op));
            let changed = before.changed(&state);
            self.commits.push(Commit { at: now, changed, state });
        }
        self.done[t] = Some(Done { trace, end, began, ended: now });
        Ok(())
    }

    fn misses_endpoints(&self, ops: &[Op]) -> bool {
        let mut state = self.commits[self.commits.len() - 1].state.clone();
        ops.iter().any(|op| {
            let missing = match op {
                Op::Put(e) | Op::Insert(e) => [e.1, e.2].iter().any(|v| !state.vertices.contains_key(v)),
                _ => false,
            };
            state.apply(op);
            missing
        })
    }

    /// Runs the script on the state that gives the same answers. Under snapshot isolation this is the state
    /// at the begin. At the other level it is any state since the begin, because a serializable transaction
    /// takes its snapshot at the first read.
    fn explain(&self, t: usize, trace: &Trace, began: usize) -> Result<ModelTxn, String> {
        let first = self.commits.iter().rposition(|c| c.at < began).expect("the setup");
        let last = if self.isolation == Isolation::Snapshot { first } else { self.commits.len() - 1 };
        let bases = self.commits[first..=last].iter();
        let runs = bases.map(|commit| replay(&self.case.scripts[t], &commit.state));
        let mut fitting = runs.filter(|(_, found)| *found == *trace);
        let found = fitting.next().map(|(model, _)| model);
        found.ok_or_else(|| format!("transaction {t} did not read one snapshot: {trace:?}"))
    }

    /// True if some serial order of the committed transactions gives the same answers and the same result.
    /// The order must respect real time.
    fn is_serial(&self, done: &[Done]) -> bool {
        let committed: Vec<usize> = (0..done.len()).filter(|&t| done[t].committed()).collect();
        let (start, end) = (&self.commits[0].state, &self.commits[self.commits.len() - 1].state);
        self.extends(done, &committed, start, end)
    }

    fn extends(&self, done: &[Done], left: &[usize], state: &State, end: &State) -> bool {
        if left.is_empty() {
            return state == end;
        }
        left.iter().any(|&next| {
            if left.iter().any(|&t| done[t].ended < done[next].began) {
                return false;
            }
            let (model, trace) = replay(&self.case.scripts[next], state);
            let others: Vec<usize> = left.iter().copied().filter(|&t| t != next).collect();
            trace == done[next].trace && self.extends(done, &others, &model.state, end)
        })
    }
}

/// Runs a script on `base`, without other transactions.
fn replay(script: &Script, base: &State) -> (ModelTxn, Trace) {
    let (mut model, mut trace) = (ModelTxn::new(base), Trace::default());
    for step in script {
        if step(&mut Ctx::model(&mut model, &mut trace)) == Flow::Abort {
            break;
        }
    }
    (model, trace)
}
