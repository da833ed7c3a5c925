//! A store that commits random transactions, and a model of its required content.

use std::sync::{Mutex, MutexGuard, PoisonError, mpsc};
use std::time::{Duration, Instant};

use hedgerow::{CommitError, Error, Graph, KeyKind, Options, StateError};
use hedgerow_testkit::{Damage, FOR_EVER, Generator, Model, ModelConfig, SimFs};

use crate::common;

/// The result of a run, with a message for a failure.
pub(crate) type Verdict<T> = Result<T, String>;

pub(crate) const CONFIG: ModelConfig =
    ModelConfig { directed: true, weighted: true, keys: KeyKind::U64, rich: false };
/// The time after which a run counts as a deadlock. A run has a few waits in sequence.
const DEADLOCK: Duration = FOR_EVER.saturating_mul(3);

/// Returns the guard that each test holds, because an armed point affects the whole process.
pub(crate) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Keeps the panics that the tests cause out of the output.
pub(crate) fn hush() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !panic.payload_as_str().is_some_and(|text| text.starts_with("a test has a panic")) {
                before(panic);
            }
        }));
    });
}

/// Runs `work` in a separate thread, and checks that it ends.
pub(crate) fn in_time<T: Send + 'static>(
    what: &str,
    work: impl FnOnce() -> Verdict<T> + Send + 'static,
) -> Verdict<T> {
    let (done, wait) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let result = work();
        let _ = done.send(());
        result
    });
    match wait.recv_timeout(DEADLOCK) {
        Err(mpsc::RecvTimeoutError::Timeout) => Err(format!("{what}: somebody waits for ever")),
        _ => thread.join().map_err(|_| format!("{what}: the thread of the test panicked"))?,
    }
    .map_err(|error| format!("{what}: {error}"))
}

/// A store with a short log, which therefore rotates often and has frequent background checkpoints.
pub(crate) struct World {
    pub(crate) disk: SimFs,
    pub(crate) graph: Graph,
    /// The acknowledged commits.
    pub(crate) acked: Model,
    /// The acknowledged commits, and the one commit with an unknown outcome.
    pub(crate) attempted: Option<Model>,
    generator: Generator,
}

pub(crate) fn options() -> Options {
    common::options(CONFIG).log_segment_bytes(4096).checkpoint_log_bytes(6_000)
}

impl World {
    pub(crate) fn open(disk: SimFs, options: Options, seed: u64) -> hedgerow::Result<World> {
        let graph = options.open_on(disk.handle())?;
        let generator = Generator::new(CONFIG, seed, 0, 150);
        Ok(World { disk, graph, acked: Model::new(CONFIG), attempted: None, generator })
    }

    /// Commits one transaction. Returns whether the store still accepts transactions.
    pub(crate) fn commit(&mut self) -> Verdict<bool> {
        self.commit_by(|tx| tx.commit().map(drop))
    }

    /// Does the same as [`commit`](Self::commit), through a ticket.
    pub(crate) fn submit(&mut self) -> Verdict<bool> {
        self.commit_by(|tx| tx.submit()?.wait().map(drop))
    }

    fn commit_by(&mut self, how: impl FnOnce(hedgerow::WriteTxn) -> hedgerow::Result<()>) -> Verdict<bool> {
        let ops = self.generator.transaction(Some(&self.acked), 20);
        let mut after = self.acked.clone();
        let mut tx = match self.graph.write() {
            Ok(tx) => tx,
            Err(Error::State(StateError::Poisoned)) => return Ok(false),
            Err(error) => return Err(format!("write: {error}")),
        };
        for op in &ops {
            after.apply(op);
            common::apply(&mut tx, CONFIG.weighted, op).map_err(|e| e.to_string())?;
        }
        match how(tx) {
            Ok(()) => self.acked = after,
            Err(Error::Commit(CommitError::OutcomeUnknown)) => {
                self.attempted = Some(after);
                return Ok(false);
            }
            Err(Error::State(StateError::Poisoned)) => return Ok(false),
            Err(Error::Commit(CommitError::DiskFull)) => {}
            Err(error) => return Err(format!("commit: {error}")),
        }
        Ok(true)
    }

    /// Commits until `enough` holds or the store accepts no more. Returns whether it still accepts commits.
    pub(crate) fn commit_until(&mut self, enough: impl Fn(&World) -> bool) -> Verdict<bool> {
        let until = Instant::now() + FOR_EVER;
        while !enough(self) {
            if !self.commit()? {
                return Ok(false);
            }
            if Instant::now() > until {
                return Err("what was waited for does not happen".into());
            }
        }
        Ok(true)
    }

    pub(crate) fn is_poisoned(&self) -> bool {
        matches!(self.graph.write(), Err(Error::State(StateError::Poisoned)))
    }

    /// Checks that readers of the running store see every acknowledged commit, even if the store is poisoned.
    pub(crate) fn reads_right(&self) -> Verdict<()> {
        let snapshot = self.graph.snapshot().map_err(|e| e.to_string())?;
        let same = common::same_in_all_reads(&snapshot, CONFIG, &self.acked);
        same.map_err(|e| format!("the running store: {e}"))
    }

    /// Ends a poisoned store that acknowledges commits before they are durable. Checks that the commits up to
    /// `durable_ts` are there.
    pub(crate) fn end_durable(self) -> Verdict<()> {
        self.reads_right()?;
        let durable = self.graph.durable_ts();
        drop(self.graph);
        let graph = options().open_on(self.disk.handle()).map_err(|e| format!("open: {e}"))?;
        if graph.published_ts() < durable {
            return Err(format!("{durable} was durable, {} is left", graph.published_ts()));
        }
        common::sound(&graph)
    }

    /// Closes the store and keeps only durable bytes. The log must then have a seal, and every acknowledged
    /// commit must be there.
    pub(crate) fn end_sealed(self) -> Verdict<()> {
        self.graph.close().map_err(|e| format!("close: {e}"))?;
        let disk = self.disk.crash_clone(Damage::LoseAll, 7);
        let last = disk.files().into_iter().rev().find(|(name, _)| name.ends_with(".wal"));
        let (name, log) = last.ok_or("no log")?;
        // The log reserves space in whole blocks, and the seal cuts off the rest of it.
        if log.len().is_multiple_of(4096) {
            return Err(format!("{name} ends without a seal"));
        }
        for disk in [disk, self.disk] {
            let graph = options().open_on(disk.handle()).map_err(|e| format!("open: {e}"))?;
            let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
            common::same(&snapshot, CONFIG, &self.acked)?;
            common::sound(&graph)?;
        }
        Ok(())
    }

    /// Ends the store. The files after a crash before the end must have every acknowledged commit, and so
    /// must the files after the end.
    pub(crate) fn end(self) -> Verdict<()> {
        self.reads_right()?;
        let poisoned = self.is_poisoned();
        if !poisoned {
            common::sound(&self.graph)?;
        }
        let crashed = self.disk.crash_clone(Damage::LoseAll, 7);
        match self.graph.close() {
            Ok(()) if !poisoned => {}
            Err(Error::State(StateError::Poisoned)) if poisoned => {}
            other => return Err(format!("close of a store, poisoned: {poisoned}: {other:?}")),
        }
        drop(self.graph);
        for (what, disk) in [("a crash", crashed), ("closing", self.disk)] {
            let graph = options().open_on(disk.handle()).map_err(|e| format!("open after {what}: {e}"))?;
            let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
            let mut found = common::same(&snapshot, CONFIG, &self.acked);
            if let (Err(_), Some(attempted)) = (&found, &self.attempted) {
                found = common::same(&snapshot, CONFIG, attempted);
            }
            found.map_err(|e| format!("after {what}: {e}"))?;
            common::sound(&graph)?;
        }
        Ok(())
    }
}
