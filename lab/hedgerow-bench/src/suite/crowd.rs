//! `mixed --readers N`: two writers concurrent with a crowd of threads that open, read and drop snapshots.
//! The ratio is to the same writers concurrent with as many threads that only compute. A thread that loses
//! its processor inside the store must not stop the writers.

use std::hint::black_box;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use hedgerow::{Graph, Snapshot};
use hedgerow_workload::rng::Rng;

use super::load;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

const WRITERS: usize = 2;
/// The length of a phase: a hundred threads have many turns on two cores.
const PHASE: Duration = Duration::from_secs(5);
/// The sleep before a phase, and between checks that all threads run.
const WARM_UP: Duration = Duration::from_millis(500);
/// The stack size of a reader. The default size for a hundred threads would be most of the measurement.
const STACK_BYTES: usize = 256 << 10;

/// The work that the threads of the crowd repeat.
#[derive(Clone, Copy, PartialEq)]
enum Crowd {
    Spin,
    /// Open a snapshot, read an edge, drop the snapshot.
    Drop,
    /// The same, but each thread holds this number of snapshots.
    Hold(usize),
}

impl Crowd {
    fn name(self) -> String {
        match self {
            Crowd::Spin => "crowd_spin".to_owned(),
            Crowd::Drop => "crowd_drop".to_owned(),
            Crowd::Hold(count) => format!("crowd_hold_{count}"),
        }
    }
}

const CROWDS: [Crowd; 4] = [Crowd::Spin, Crowd::Drop, Crowd::Hold(4), Crowd::Hold(20)];

/// The figures of one phase: commits per second, and the slowest commit and opening in seconds.
#[derive(Default)]
struct Phase {
    commits: f64,
    slowest_commit: f64,
    slowest_opening: f64,
}

/// Runs the suite with `readers` threads and two writers.
pub(super) fn run(work: &Work<'_>, readers: usize, recorder: &mut Recorder) -> Result<()> {
    let edges = work.distinct_edges();
    let store = load::store_for(&work.graph)?;
    edges.iter().try_for_each(|edge| load::insert_one(&store, work, edge))?;
    let mut figures: Vec<[Vec<f64>; 3]> = CROWDS.iter().map(|_| Default::default()).collect();
    for _ in 0..work.options.repeat() {
        for (crowd, figures) in CROWDS.iter().zip(&mut figures) {
            let Phase { commits, slowest_commit, slowest_opening } =
                phase(work, &store, &edges, *crowd, readers)?;
            for (all, one) in figures.iter_mut().zip([commits, slowest_commit, slowest_opening]) {
                all.push(one);
            }
        }
    }
    let spinning = figures[0][0].clone();
    for (crowd, [commits, slowest_commit, slowest_opening]) in CROWDS.iter().zip(&figures) {
        let mut add = |name: &str, unit, figures: &[f64], reference| {
            let name = format!("{}.{name}", crowd.name());
            recorder.add(
                "hedgerow",
                Metric { name: &name, unit, threads: readers + WRITERS },
                figures,
                reference,
            )
        };
        add("commits_per_s", "1/s", commits, Some(&spinning[..]))?;
        add("slowest_commit", "s", slowest_commit, None)?;
        if *crowd != Crowd::Spin {
            add("slowest_opening", "s", slowest_opening, None)?;
        }
    }
    Ok(())
}

/// The longest of several times.
#[derive(Default)]
struct Slowest(AtomicU64);

impl Slowest {
    fn note(&self, begun: Instant) {
        self.0.fetch_max(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }

    fn forget(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    fn seconds(&self) -> f64 {
        self.0.load(Ordering::Relaxed) as f64 / 1e9
    }
}

fn phase(
    work: &Work<'_>,
    store: &Graph,
    edges: &[(u32, u32)],
    crowd: Crowd,
    readers: usize,
) -> Result<Phase> {
    // The writers remove and insert a fifth of the edges; the readers read the other edges.
    let (written, read) = edges.split_at(edges.len() / 5);
    let (done, commits, started) = (AtomicBool::new(false), AtomicU64::new(0), AtomicU64::new(0));
    let (commit, opening) = (Slowest::default(), Slowest::default());
    let mut seconds = 0.0;
    std::thread::scope(|scope| -> Result<()> {
        for thread in 0..readers {
            let (done, opening, started) = (&done, &opening, &started);
            let reader = move || {
                started.fetch_add(1, Ordering::Relaxed);
                beside(store, read, crowd, thread as u64, done, opening);
            };
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, reader)?;
        }
        let half = written.len() / WRITERS;
        let writers: Vec<_> = (0..WRITERS)
            .map(|thread| {
                let (done, commits, commit) = (&done, &commits, &commit);
                let own = &written[thread * half..][..half];
                scope.spawn(move || write(work, store, own, done, commits, commit))
            })
            .collect();
        // The system takes seconds to start a hundred threads, and no thread gets far in this time.
        while started.load(Ordering::Relaxed) < readers as u64 || commits.load(Ordering::Relaxed) < 1_000 {
            std::thread::sleep(WARM_UP);
        }
        std::thread::sleep(WARM_UP);
        commit.forget();
        opening.forget();
        let (begun, before) = (Instant::now(), commits.load(Ordering::Relaxed));
        std::thread::sleep(PHASE);
        let made = commits.load(Ordering::Relaxed) - before;
        seconds = made as f64 / begun.elapsed().as_secs_f64();
        done.store(true, Ordering::Relaxed);
        writers.into_iter().try_for_each(|writer| writer.join().expect("a writer does not panic"))
    })?;
    Ok(Phase { commits: seconds, slowest_commit: commit.seconds(), slowest_opening: opening.seconds() })
}

/// Runs one thread of the crowd.
fn beside(
    store: &Graph,
    edges: &[(u32, u32)],
    crowd: Crowd,
    seed: u64,
    done: &AtomicBool,
    opening: &Slowest,
) {
    let mut rng = Rng::new(seed + 1);
    let most = if let Crowd::Hold(count) = crowd { count } else { 0 };
    let mut held: Vec<Snapshot> = Vec::with_capacity(most + 1);
    while !done.load(Ordering::Relaxed) {
        let (src, dst) = edges[rng.below(edges.len() as u64) as usize];
        if crowd == Crowd::Spin {
            (0..200).for_each(|_| _ = black_box(rng.below(7)));
            continue;
        }
        let begun = Instant::now();
        let snapshot = store.snapshot().expect("the store is open");
        opening.note(begun);
        let found = snapshot.contains_edge((u64::from(src), u64::from(dst)));
        assert!(found.is_ok_and(|found| found), "an edge is gone");
        held.push(snapshot);
        if held.len() > most {
            held.swap_remove(rng.below(held.len() as u64) as usize);
        }
    }
}

/// Removes and inserts each of `edges`, one after the other, until `done`.
fn write(
    work: &Work<'_>,
    store: &Graph,
    edges: &[(u32, u32)],
    done: &AtomicBool,
    commits: &AtomicU64,
    slowest: &Slowest,
) -> Result<()> {
    for edge in edges.iter().cycle() {
        if done.load(Ordering::Relaxed) {
            break;
        }
        let begun = Instant::now();
        store.remove_edge((u64::from(edge.0), u64::from(edge.1)))?;
        slowest.note(begun);
        let begun = Instant::now();
        load::insert_one(store, work, edge)?;
        slowest.note(begun);
        commits.fetch_add(2, Ordering::Relaxed);
    }
    Ok(())
}
