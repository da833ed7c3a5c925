//! One round: a workload on the simulated disk, and a crash at each phase of each of its operations.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use hedgerow::{Durability, Graph, Snapshot};
use hedgerow_testkit::sim_fs::OpEvent;

use hedgerow_testkit::{Damage, Generator, Model, ModelOp, SimFs, vertex_key};
use parking_lot::Mutex;

use crate::common;
use crate::kinds::define_next;
use crate::plan::Plan;
use crate::tally::Tally;
use crate::verify::{Found, History, Verdict, commit, commit_ops, crash_recovery, live_on, open_and_verify};

/// The state that the observer of the disk and the workload share.
struct Watch {
    plan: Plan,
    history: Arc<Mutex<History>>,
    tally: Mutex<Tally>,
    failure: Mutex<Option<String>>,
    /// True while the store closes.
    closing: AtomicBool,
    /// The content of each opened store, by the hash of all its files. Many crashes leave the same bytes.
    /// Between two syncs, all crashes that lose all unsynced changes are equal. If all bytes are synced, the
    /// crashes of all modes are equal.
    judged: Mutex<HashMap<u64, Found>>,
}

/// Returns a hash of the names and the bytes of all files.
fn hash_of(disk: &SimFs) -> u64 {
    let mut hasher = DefaultHasher::new();
    disk.files().hash(&mut hasher);
    hasher.finish()
}

impl Watch {
    /// Takes one crash in every mode and checks each.
    fn crash_here(&self, event: &OpEvent, disk: &SimFs) {
        if self.failure.lock().is_some() {
            return;
        }
        let history = self.history.lock().clone();
        for mode in Damage::ALL {
            let n = {
                let mut tally = self.tally.lock();
                tally.count(&event.site, mode);
                if self.closing.load(Ordering::Relaxed) {
                    *tally.sites_of_close.entry(event.site.clone()).or_default() += 1;
                }
                tally.states
            };
            let seed = self.plan.seed.wrapping_mul(0x2545_f491_4f6c_dd1d) ^ n;
            if let Err(error) = self.judge(disk, mode, seed, n, &history) {
                let at = format!("{:?} {} (operation {}), {mode:?}", event.phase, event.site, event.index.0);
                *self.failure.lock() = Some(format!("{at}: {error}"));
                return;
            }
        }
    }

    fn judge(&self, disk: &SimFs, mode: Damage, seed: u64, n: u64, history: &History) -> Verdict<()> {
        let clone = disk.crash_clone(mode, seed);
        if !n.is_multiple_of(self.plan.again_every) {
            return self.judge_once(&clone, history);
        }
        let second = crash_recovery(&self.plan, &clone, history, seed)?;
        self.tally.lock().recovery_crashes += 1;
        if n.is_multiple_of(self.plan.again_every * 3) {
            self.tally.lock().third_lives += 1;
            live_on(&self.plan, &second, history, seed)?;
        }
        Ok(())
    }

    /// Opens the store on `disk` and checks it. Skips this if a store with the same bytes was opened before
    /// and `history` allows its content.
    fn judge_once(&self, disk: &SimFs, history: &History) -> Verdict<()> {
        let hash = hash_of(disk);
        if self.judged.lock().get(&hash).is_some_and(|found| history.allows(found)) {
            return Ok(());
        }
        self.tally.lock().opened += 1;
        let (_, ts) = open_and_verify(&self.plan, disk, history)?;
        self.judged.lock().insert(hash, history.found(ts)?);
        Ok(())
    }

    fn check(&self) -> Verdict<()> {
        self.failure.lock().clone().map_or(Ok(()), Err)
    }
}

/// Runs a round.
pub(crate) fn run(plan: &Plan) -> Verdict<Tally> {
    let disk = SimFs::new();
    plan.fault.plant(&disk);
    let watch = Arc::new(Watch {
        plan: plan.clone(),
        history: Arc::new(Mutex::new(History::new(0, Arc::new(Model::new(plan.config))))),
        tally: Mutex::default(),
        failure: Mutex::default(),
        closing: AtomicBool::new(false),
        judged: Mutex::default(),
    });
    let observing = Arc::clone(&watch);
    disk.set_observer(Some(Box::new(move |event, fs| observing.crash_here(event, fs))));
    let worked = work(plan, &watch, &disk);
    disk.set_observer(None);
    watch.check()?;
    worked?;
    let mut tally = watch.tally.lock().clone();
    // The first opening and the second opening each make a log segment.
    tally.rotations = disk.sites().get("create:wal").copied().unwrap_or(0).saturating_sub(2);
    Ok(tally)
}

fn work(plan: &Plan, watch: &Watch, disk: &SimFs) -> Verdict<()> {
    let mut graph = plan.options().open_on(disk.handle()).map_err(|e| format!("create: {e}"))?;
    let mut generator = Generator::new(plan.config, plan.seed, 0, plan.universe);
    if plan.vertices > 0 {
        let vertex = |n| ModelOp::InsertVertex(vertex_key(plan.config, n));
        let ops: Vec<ModelOp> = (0..plan.vertices).map(vertex).collect();
        commit_ops(plan, &graph, &watch.history, &ops)?;
    }
    let mut held = None;
    for i in 1..=plan.transactions {
        let changed = commit(plan, &graph, &watch.history, &mut generator)?;
        watch.tally.lock().commits += u64::from(changed);
        watch.check()?;
        if plan.defines_kind_after(i) {
            define_next(plan, &graph, &watch.history)?;
            watch.tally.lock().kinds += 1;
        }
        if i.is_multiple_of(plan.checkpoint_every) {
            let done = graph.checkpoint().map_err(|e| format!("checkpoint: {e}"))?;
            let mut tally = watch.tally.lock();
            tally.checkpoints += 1;
            tally.most_runs = tally.most_runs.max(done.segments as u64);
            drop(tally);
            note_durable(plan, watch, &graph);
            take_out_of_memory(plan, watch, &graph, &mut held)?;
        } else if plan.durability != Durability::Sync && i % 5 == 0 {
            graph.flush().map_err(|e| format!("flush: {e}"))?;
            note_durable(plan, watch, &graph);
        }
        if i == plan.transactions / 2 {
            held = None;
            close(plan, watch, &graph)?;
            let last = watch.history.lock().last();
            watch.history.lock().acked = last;
            graph = plan.options().open_on(disk.handle()).map_err(|e| format!("reopen: {e}"))?;
        }
        watch.check()?;
    }
    drop(held);
    close(plan, watch, &graph)
}

fn close(plan: &Plan, watch: &Watch, graph: &Graph) -> Verdict<()> {
    watch.closing.store(true, Ordering::Relaxed);
    let closed = graph.close();
    watch.closing.store(false, Ordering::Relaxed);
    closed.map_err(|e| format!("close: {e}"))?;
    if let Some(error) = graph.checkpoint_error() {
        return Err(format!("the checkpoint of close: {error}"));
    }
    watch.tally.lock().checkpoints_at_close += u64::from(plan.checkpoints_at_close);
    Ok(())
}

/// An open snapshot, and its expected content.
type Held = Option<(Snapshot, Arc<Model>)>;

/// Runs directly after a checkpoint. Writes the content of the held snapshot as page versions, and then cools
/// or evicts every chain that the files contain. Compares the held snapshot with its model, and holds a new
/// snapshot instead.
fn take_out_of_memory(plan: &Plan, watch: &Watch, graph: &Graph, held: &mut Held) -> Verdict<()> {
    if !plan.holds {
        return Ok(());
    }
    let written = graph.internals().write_page_versions().map_err(|e| format!("page versions: {e}"))? as u64;
    let evicts = watch.tally.lock().checkpoints.is_multiple_of(2);
    let taken = if evicts { graph.internals().evict() } else { graph.internals().cool() };
    let taken = taken.map_err(|e| format!("evicting: {e}"))? as u64;
    let mut tally = watch.tally.lock();
    tally.page_versions += written;
    *(if evicts { &mut tally.evicted } else { &mut tally.cooled }) += taken;
    drop(tally);
    if let Some((snapshot, model)) = held.take() {
        common::same(&snapshot, plan.config, &model).map_err(|e| format!("a held snapshot: {e}"))?;
    }
    let model = watch.history.lock().states.last().cloned().ok_or("no state")?;
    let snapshot = graph.snapshot().map_err(|e| format!("snapshot: {e}"))?;
    *held = Some((snapshot, model));
    Ok(())
}

/// Records the durable commits, which a flush or a checkpoint reports under weaker durability.
fn note_durable(plan: &Plan, watch: &Watch, graph: &Graph) {
    if plan.durability != Durability::Sync {
        watch.history.lock().acked = graph.durable_ts().0;
    }
}
