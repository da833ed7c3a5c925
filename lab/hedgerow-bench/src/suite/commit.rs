//! The suite `commit`: durable commits of single edges by 1, 8 and 64 clients, and commits in the other
//! durability modes. It also measures the time of a sync of the disk, and commits during a checkpoint that
//! writes everything.

use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use hedgerow::io::{RealFs, Vfs};
use hedgerow::{Durability, Graph};
use hedgerow_subjects::Engine;

use super::load;
use super::recovery::stores::Place;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::{Context, Result};
use hedgerow_report::figures::median;

/// The numbers of concurrent clients; each is a thread that waits for its commit.
const CLIENTS: [usize; 3] = [1, 8, 64];
/// The number of clients that commit during a checkpoint.
const BESIDE: usize = 8;
/// The time that clients commit for one measurement.
const PHASE: Duration = Duration::from_millis(1500);
/// The interval of the mode `group`.
const INTERVAL: Duration = Duration::from_millis(10);
/// The number of syncs in a median; each sync writes [`SYNC_BYTES`] bytes.
const SYNCS: usize = 200;
const SYNC_BYTES: usize = 4096;
/// The number of edges in a transaction during loading.
const BATCH: usize = 1_000;

/// Runs the suite.
pub(super) fn run(work: &Work<'_>, recorder: &mut Recorder) -> Result<()> {
    if !work.options.has(Engine::Hedgerow) {
        return Ok(());
    }
    let place = Place::new(&work.options.dir, "commit")?;
    let repeat = work.options.repeat();
    let mut add =
        |name: &str, unit: &str, threads: usize, measured: &[f64], beside: Option<(&str, &[f64])>| {
            recorder.add_beside("hedgerow", Metric { name, unit, threads }, measured, beside)
        };
    let times = |f: &dyn Fn() -> Result<f64>| -> Result<Vec<f64>> { (0..repeat).map(|_| f()).collect() };

    let syncs = times(&|| sync_seconds(&place.0))?;
    add("fsync.seconds", "s", 1, &syncs, None)?;
    let most = CLIENTS[CLIENTS.len() - 1];
    let rate = |durability, clients| times(&|| rate_of_new(work, &place.0, durability, clients));
    let manual = rate(Durability::Manual, most)?;
    add("manual.commits_per_s", "commits/s", most, &manual, None)?;
    let group = rate(Durability::Group(INTERVAL), most)?;
    add("group.commits_per_s", "commits/s", most, &group, None)?;
    // The limit is the rate of one sync for each group of all clients, or the store's rate without syncs if
    // that is lower.
    let limit = median(&manual).min(most as f64 / median(&syncs));
    for clients in CLIENTS {
        let measured = rate(Durability::Sync, clients)?;
        let limits = vec![limit; measured.len()];
        let beside = (clients == most).then_some(("limit", limits.as_slice()));
        add(&format!("sync_{clients}.commits_per_s"), "commits/s", clients, &measured, beside)?;
    }
    beside_checkpoint(work, &place, &mut add)
}

/// Measures the seconds of a small write and its sync: the median of many, in a file with allocated space.
fn sync_seconds(dir: &Path) -> Result<f64> {
    std::fs::create_dir_all(dir).context(dir.display())?;
    let fs = RealFs::open_dir(dir).context(dir.display())?;
    let file = fs.create("syncs.tmp").context(dir.display())?;
    file.allocate((SYNCS * SYNC_BYTES) as u64).context(dir.display())?;
    file.sync_all().context(dir.display())?;
    let mut taken = Vec::with_capacity(SYNCS);
    for i in 0..SYNCS {
        let begun = Instant::now();
        file.write_at(&[i as u8 | 1; SYNC_BYTES], (i * SYNC_BYTES) as u64).context(dir.display())?;
        file.sync_data().context(dir.display())?;
        taken.push(begun.elapsed().as_secs_f64());
    }
    fs.unlink("syncs.tmp").context(dir.display())?;
    std::fs::remove_dir_all(dir).context(dir.display())?;
    Ok(median(&taken))
}

/// Measures the commits per second of a store that has the vertices and no edges yet.
fn rate_of_new(work: &Work<'_>, path: &Path, durability: Durability, clients: usize) -> Result<f64> {
    let store = load::options(work.graph.directed).durability(durability).open(path)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    let rate = commit_for(&store, &Stream::of(&work.graph.edges), clients)?;
    store.close()?;
    std::fs::remove_dir_all(path).context(path.display())?;
    Ok(rate)
}

/// A stream that gives out each edge once. The insertion of an existing edge is no commit, but waits like
/// one.
struct Stream<'a> {
    edges: &'a [(u32, u32)],
    next: AtomicUsize,
}

impl<'a> Stream<'a> {
    fn of(edges: &'a [(u32, u32)]) -> Stream<'a> {
        Stream { edges, next: AtomicUsize::new(0) }
    }

    fn take(&self) -> Option<(u64, u64)> {
        let (u, v) = *self.edges.get(self.next.fetch_add(1, Ordering::Relaxed))?;
        Some((u64::from(u), u64::from(v)))
    }
}

/// Lets clients insert edges for [`PHASE`], or until no edges are left. Returns the commits per second.
fn commit_for(store: &Graph, edges: &Stream<'_>, clients: usize) -> Result<f64> {
    let (begun, commits) = (Instant::now(), AtomicU64::new(0));
    let client = || -> hedgerow::Result<()> {
        while begun.elapsed() < PHASE {
            let Some((u, v)) = edges.take() else { break };
            if store.insert_edge((u, v))? {
                commits.fetch_add(1, Ordering::Relaxed);
            }
        }
        Ok(())
    };
    std::thread::scope(|scope| -> Result<()> {
        let client = &client;
        let running: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        for thread in running {
            thread.join().map_err(|_| "a client panicked")??;
        }
        Ok(())
    })?;
    Ok(commits.into_inner() as f64 / begun.elapsed().as_secs_f64())
}

type Add<'a> = dyn FnMut(&str, &str, usize, &[f64], Option<(&str, &[f64])>) -> Result<()> + 'a;

/// Measures durable commits during checkpoints that write everything, one after the other, and the same
/// commits without checkpoints.
fn beside_checkpoint(work: &Work<'_>, place: &Place, add: &mut Add<'_>) -> Result<()> {
    let options = load::options(work.graph.directed);
    let store = options.clone().durability(Durability::Manual).open(&place.0)?;
    load::insert_vertices(&store, work.graph.vertices)?;
    let (known, new) = work.graph.edges.split_at(work.graph.edges.len() / 2);
    known.chunks(BATCH).try_for_each(|batch| load::put_batch(&store, batch))?;
    store.close()?;
    let store = options.open(&place.0)?;
    let new = &Stream::of(new);
    let (mut alone, mut beside) = (Vec::new(), Vec::new());
    for _ in 0..work.options.repeat() {
        alone.push(commit_for(&store, new, BESIDE)?);
        let over = AtomicBool::new(false);
        beside.push(std::thread::scope(|scope| -> Result<f64> {
            let checkpoints = scope.spawn(|| -> hedgerow::Result<()> {
                while !over.load(Ordering::Relaxed) {
                    store.compact()?;
                }
                Ok(())
            });
            let rate = commit_for(&store, new, BESIDE);
            over.store(true, Ordering::Relaxed);
            checkpoints.join().map_err(|_| "the checkpoint panicked")??;
            rate
        })?);
    }
    store.close()?;
    let name = format!("sync_{BESIDE}_beside_checkpoint.commits_per_s");
    add(&name, "commits/s", BESIDE, &beside, Some(("alone", &alone)))
}
