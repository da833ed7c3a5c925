//! Tests of whole transactions under a controlled scheduler. Small random programs of three threads each run
//! under many schedules of their atomic accesses and locks. Each committed transaction must read the state
//! that the transactions before it, in the order of their timestamps, leave. This order must respect real
//! time.

mod faults;
mod held;
mod history;
mod kinds;
mod names;
mod program;
mod reuse;
mod upkeep;
mod walks;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use hedgerow::{Graph, KeyKind, Options};
use hedgerow_testkit::{Effort, SimFs, explored};
use shuttle::scheduler::{PctScheduler, RandomScheduler, Scheduler};

use history::History;
use names::Names;
use program::Program;

/// The number of schedules of a program.
const SCHEDULES: usize = 40;

/// The number of programs of a test.
const PROGRAMS: u64 = 300;

#[derive(Clone, Copy)]
struct Setting {
    name: &'static str,
    directed: bool,
    keys: KeyKind,
    durable: bool,
    /// True if programs use a label, ranks and properties too.
    labels: bool,
}

impl Setting {
    fn open(self, names: Names) -> Graph {
        let options = Options::new().directed(self.directed).keys(self.keys).log_segment_bytes(64 << 10);
        let graph = if self.durable { options.open_on(SimFs::new().handle()) } else { options.in_memory() };
        let graph = graph.expect("a new store opens");
        if self.labels {
            program::define(&graph);
        }
        names.define(&graph, self.labels);
        graph
    }
}

/// The numbers of schedules, commits and conflicts so far.
#[derive(Clone, Default)]
struct Tally {
    schedules: Arc<AtomicU64>,
    commits: Arc<AtomicU64>,
    conflicts: Arc<AtomicU64>,
}

/// Runs the program of `seed` under its schedules.
fn run_program(setting: Setting, seed: u64, tally: &Tally) {
    let program = Arc::new(Program::generate(seed, setting));
    let tally = tally.clone();
    let run = move || {
        let graph = setting.open(program.names());
        let history = Arc::new(History::default());
        let threads: Vec<_> = (0..program.threads())
            .map(|i| {
                let (program, graph, history) = (program.clone(), graph.clone(), history.clone());
                shuttle::thread::spawn(move || program.run_thread(i, &graph, &history))
            })
            .collect();
        threads.into_iter().for_each(|t| t.join().expect("no thread panics"));
        program.run_last(&graph, &history);
        let (done, refused) = history.check(setting.directed);
        tally.schedules.fetch_add(1, Ordering::Relaxed);
        tally.commits.fetch_add(done, Ordering::Relaxed);
        tally.conflicts.fetch_add(refused, Ordering::Relaxed);
    };
    under(seed, run);
}

fn explore(setting: Setting) {
    let _sound = hedgerow_core::faults::sound();
    let effort = Effort::rounds(PROGRAMS);
    let tally = Tally::default();
    while let Some(seed) = effort.next_seed() {
        run_program(setting, seed, &tally);
    }
    let Tally { schedules, commits, conflicts } = tally;
    let (commits, conflicts) = (commits.load(Ordering::Relaxed), conflicts.load(Ordering::Relaxed));
    println!("{}: {commits} commits, {conflicts} conflicts", setting.name);
    assert!(commits > conflicts && conflicts > 0, "a test without commits or without conflicts shows little");
    let floor = PROGRAMS * SCHEDULES as u64;
    explored(&format!("shuttle schedules ({})", setting.name), schedules.load(Ordering::Relaxed), floor);
}

/// Runs half of the programs under a uniformly random scheduler, the other half under one that prefers few
/// preemptions.
fn under(seed: u64, run: impl Fn() + Send + Sync + 'static) {
    let scheduler: Box<dyn Scheduler + Send> = if seed.is_multiple_of(2) {
        Box::new(RandomScheduler::new_from_seed(seed, SCHEDULES))
    } else {
        Box::new(PctScheduler::new_from_seed(seed, 3, SCHEDULES))
    };
    let mut config = shuttle::Config::new();
    config.silence_warnings = true;
    config.stack_size = 256 << 10;
    shuttle::Runner::new(scheduler, config).run(run);
}

const DENSE: Setting =
    Setting { name: "dense", directed: false, keys: KeyKind::Dense, durable: false, labels: false };
const KEYED: Setting =
    Setting { name: "keyed", directed: true, keys: KeyKind::U64, durable: false, labels: false };
const DURABLE: Setting =
    Setting { name: "durable", directed: true, keys: KeyKind::U64, durable: true, labels: false };
const LABELS: Setting =
    Setting { name: "labels, dense", directed: false, keys: KeyKind::Dense, durable: false, labels: true };
const DURABLE_LABELS: Setting =
    Setting { name: "labels, durable", directed: true, keys: KeyKind::U64, durable: true, labels: true };

#[test]
fn dense_undirected_transactions_are_serializable() {
    explore(DENSE);
}

#[test]
fn keyed_directed_transactions_are_serializable() {
    explore(KEYED);
}

#[test]
fn durable_transactions_are_serializable() {
    explore(DURABLE);
}

#[test]
fn undirected_transactions_with_labels_are_serializable() {
    explore(LABELS);
}

#[test]
fn directed_transactions_with_labels_are_serializable() {
    explore(DURABLE_LABELS);
}

/// A single operation looks up its keys before it has the latches. Meanwhile another thread removes one of
/// the vertices, and its id goes to a new vertex.
#[test]
fn ids_that_are_given_out_again_are_looked_at_again() {
    let _sound = hedgerow_core::faults::sound();
    let effort = Effort::rounds(reuse::ROUNDS);
    let tally = reuse::Tally::default();
    while let Some(seed) = effort.next_seed() {
        under(seed, reuse::program(&tally));
    }
    let count = |n: &AtomicU64| n.load(Ordering::Relaxed);
    explored("shuttle schedules (ids reused)", count(&tally.schedules), reuse::ROUNDS * SCHEDULES as u64);
    explored("of these with the id given out again", count(&tally.moved), reuse::ROUNDS);
}

/// The test before, except that the new vertex has the number of the removed one, and another kind.
#[test]
fn ids_that_go_to_another_kind_are_looked_at_again() {
    let _sound = hedgerow_core::faults::sound();
    let effort = Effort::rounds(kinds::ROUNDS);
    let tally = kinds::Tally::default();
    while let Some(seed) = effort.next_seed() {
        under(seed, kinds::program(kinds::Way::of(seed), &tally));
    }
    let count = |n: &AtomicU64| n.load(Ordering::Relaxed);
    let floor = kinds::ROUNDS * SCHEDULES as u64;
    explored("shuttle schedules (ids go to another kind)", count(&tally.schedules), floor);
    explored("of these with the id of the other kind", count(&tally.moved), kinds::ROUNDS);
}

/// Versions end while a reader walks over them.
#[test]
fn versions_end_under_nobodys_feet() {
    let _sound = hedgerow_core::faults::sound();
    let effort = Effort::rounds(walks::ROUNDS);
    let tally = walks::Tally::default();
    while let Some(seed) = effort.next_seed() {
        under(seed, walks::program(&tally));
    }
    let schedules = tally.schedules.load(Ordering::Relaxed);
    explored("shuttle schedules (walks)", schedules, walks::ROUNDS * SCHEDULES as u64);
}

/// Snapshots release their slots to other snapshots, and versions wait for them.
#[test]
fn snapshots_that_are_held_leave_nothing() {
    let _sound = hedgerow_core::faults::sound();
    let effort = Effort::rounds(held::ROUNDS);
    let tally = held::Tally::default();
    while let Some(seed) = effort.next_seed() {
        under(seed, held::program(seed % 4 < 2, &tally));
    }
    let schedules = tally.schedules.load(Ordering::Relaxed);
    explored("shuttle schedules (held)", schedules, held::ROUNDS * SCHEDULES as u64);
}

/// A thread that settles holds latches, but it commits nothing, so it must cause no conflict.
#[test]
fn upkeep_is_no_conflict() {
    let _sound = hedgerow_core::faults::sound();
    let effort = Effort::rounds(upkeep::ROUNDS);
    let tally = upkeep::Tally::default();
    while let Some(seed) = effort.next_seed() {
        under(seed, upkeep::program(&tally));
    }
    let schedules = tally.schedules.load(Ordering::Relaxed);
    explored("shuttle schedules (upkeep)", schedules, upkeep::ROUNDS * SCHEDULES as u64);
}
