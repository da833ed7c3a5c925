//! Two concurrent writers: the store groups their commits, and each run differs. Each writer marks its
//! transactions with a number and uses only its own vertices. The content alone therefore shows which
//! transactions survived a crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{Durability, Graph, KeyKind};
use hedgerow_testkit::sim_fs::{OpEvent, Phase};
use hedgerow_testkit::{Damage, Effort, SimFs, explored};
use parking_lot::Mutex;

use crate::common;
use crate::common::script::{CONFIG, Script};
use crate::verify::Verdict;

const TRANSACTIONS: u64 = 24;

#[derive(Debug, Default)]
struct Progress {
    attempted: AtomicU64,
    acked: AtomicU64,
}

struct Watch {
    scripts: Vec<Script>,
    progress: [Progress; 2],
    states: AtomicU64,
    grouped: AtomicU64,
    /// The timestamp of the last definition.
    defined: AtomicU64,
    failure: Mutex<Option<String>>,
}

impl Watch {
    fn crash_here(&self, event: &OpEvent, disk: &SimFs) {
        let n = self.states.fetch_add(1, Ordering::Relaxed);
        let mode = Damage::ALL[(n % 7) as usize];
        // Commits acknowledged before the crash must survive; commits attempted before the second read may
        // survive.
        let acked = self.progress.each_ref().map(|p| p.acked.load(Ordering::SeqCst));
        let clone = disk.crash_clone(mode, n);
        let attempted = self.progress.each_ref().map(|p| p.attempted.load(Ordering::SeqCst));
        self.grouped
            .fetch_add(u64::from(attempted[0] > acked[0] && attempted[1] > acked[1]), Ordering::Relaxed);
        if let Err(error) = self.judge(&clone, acked, attempted) {
            let at = format!("{:?} {}, {mode:?}", event.phase, event.site);
            self.failure.lock().get_or_insert(format!("{at}: {error}"));
        }
    }

    fn judge(&self, disk: &SimFs, acked: [u64; 2], attempted: [u64; 2]) -> Verdict<()> {
        let graph =
            common::options(CONFIG).open_on(disk.handle()).map_err(|e| format!("does not open: {e}"))?;
        let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
        let mut expected = hedgerow_testkit::Model::new(CONFIG);
        let mut commits = 0;
        for (w, script) in self.scripts.iter().enumerate() {
            let k = script.mark_in(&snapshot);
            if k < acked[w] || k > attempted[w] {
                return Err(format!("writer {w}: {k} of {} to {} commits", acked[w], attempted[w]));
            }
            expected.merge(&script.state_after(k));
            commits += k;
        }
        if snapshot.timestamp().0 != commits + self.defined.load(Ordering::SeqCst) {
            return Err(format!("{commits} commits at timestamp {}", snapshot.timestamp()));
        }
        common::same(&snapshot, CONFIG, &expected)?;
        common::sound(&graph)
    }
}

fn write(graph: &Graph, script: &Script, progress: &Progress) -> Verdict<()> {
    for i in 1..=TRANSACTIONS {
        progress.attempted.store(i, Ordering::SeqCst);
        let ops = script.transaction(i);
        let done = graph.transact(1000, |tx| {
            ops.iter().try_for_each(|op| common::apply(tx, CONFIG.weighted, op).map(drop))
        });
        done.map_err(|e| format!("transaction {i}: {e}"))?;
        progress.acked.store(i, Ordering::SeqCst);
    }
    Ok(())
}

/// Runs rounds until the effort is spent or a round fails. Returns the number of crashes, and the number of
/// crashes with two running commits.
pub(crate) fn explore(effort: &Effort) -> Verdict<(u64, u64)> {
    let (mut states, mut grouped) = (0, 0);
    while let Some(seed) = effort.next_seed() {
        let disk = SimFs::new();
        let watch = Arc::new(Watch {
            scripts: (0..2).map(|w| Script::new(seed, w)).collect(),
            progress: Default::default(),
            states: AtomicU64::new(0),
            grouped: AtomicU64::new(0),
            defined: AtomicU64::new(0),
            failure: Mutex::new(None),
        });
        let observing = Arc::clone(&watch);
        let options = common::options(CONFIG).log_segment_bytes(4096);
        let graph = options.open_on(disk.handle()).unwrap();
        common::rich::define_all(&graph).unwrap();
        watch.defined.store(graph.published_ts().0, Ordering::SeqCst);
        disk.set_observer(Some(Box::new(move |event, fs| observing.crash_here(event, fs))));
        std::thread::scope(|scope| {
            for (script, progress) in watch.scripts.iter().zip(&watch.progress) {
                let graph = &graph;
                scope.spawn(move || {
                    write(graph, script, progress).unwrap_or_else(|e| panic!("round {seed}: {e}"))
                });
            }
            for _ in 0..3 {
                std::thread::sleep(std::time::Duration::from_millis(50));
                graph.checkpoint().unwrap();
            }
        });
        disk.set_observer(None);
        if let Some(error) = watch.failure.lock().take() {
            return Err(format!("round {seed}: {error}"));
        }
        states += watch.states.load(Ordering::Relaxed);
        grouped += watch.grouped.load(Ordering::Relaxed);
    }
    Ok((states, grouped))
}

pub(crate) fn crashes_under_two_writers() {
    let (states, grouped) = explore(&Effort::rounds(6)).unwrap_or_else(|e| panic!("{e}"));
    explored("crash states under two writers", states, 600);
    explored("crash states with two commits under way", grouped, 100);
}

/// Runs flushes during which a commit arrives while the disk syncs. The flush does not make this commit
/// durable.
pub(crate) fn commits_during_syncs(flushes: u64) -> Verdict<u64> {
    let disk = SimFs::new();
    let options =
        crate::common::small().keys(KeyKind::Dense).durability(Durability::Manual).background_settling(false);
    let graph = options.clone().open_on(disk.handle()).map_err(|e| e.to_string())?;
    let late = Arc::new(AtomicU64::new(0));
    for i in 0..flushes {
        graph.insert_edge((i, i + 1)).map_err(|e| e.to_string())?;
        let (writer, count) = (graph.clone(), late.clone());
        disk.set_observer(Some(Box::new(move |event, _| {
            if &*event.site == "sync_data:wal" && event.phase == Phase::Inside {
                let done = writer.insert_edge((i, i + 2));
                count.fetch_add(u64::from(done.is_ok_and(|new| new)), Ordering::Relaxed);
            }
        })));
        let flushed = graph.flush();
        disk.set_observer(None);
        flushed.map_err(|e| format!("flush: {e}"))?;
        let told = graph.durable_ts();
        let after = options.clone().open_on(disk.crash_clone(Damage::LoseAll, i).handle());
        let found = after.map_err(|e| format!("does not open: {e}"))?.published_ts();
        if found < told {
            return Err(format!("commit {told} was said to be durable, {found} is the last"));
        }
    }
    Ok(late.load(Ordering::Relaxed))
}

pub(crate) fn commits_that_come_during_a_sync_are_not_part_of_it() {
    let late = commits_during_syncs(20).unwrap_or_else(|e| panic!("{e}"));
    explored("commits during a sync", late, 20);
}
