//! A process that is killed with SIGKILL while it commits, repeatedly on the same store. No acknowledged
//! commit may be missing. The content must be a prefix of the transactions of each writer.
//!
//! The test program starts itself as the writing child; an environment variable selects this role.
#![allow(missing_docs, reason = "a test program")]
#![allow(clippy::disallowed_methods, reason = "acknowledgements go to files outside the store")]

#[path = "../common/mod.rs"]
mod common;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use hedgerow::Graph;
use hedgerow_testkit::sim_fs::SplitMix64;
use hedgerow_testkit::{Effort, FOR_EVER, Model, explored};

use common::script::{CONFIG, Script};

const CYCLES: u64 = 200;
const MOST_WRITERS: u64 = 4;
/// The variable with the child's arguments, set only in the child: `DIRECTORY SEED WRITERS`.
const CHILD: &str = "HEDGEROW_KILL9_CHILD";

fn store(dir: &Path) -> PathBuf {
    dir.join("store")
}

fn acks(dir: &Path, writer: u64) -> PathBuf {
    dir.join(format!("acknowledged-{writer}"))
}

fn open(dir: &Path) -> hedgerow::Result<Graph> {
    common::options(CONFIG).log_segment_bytes(64 << 10).open(store(dir))
}

/// A child process writes until the parent kills it.
#[test]
fn child() {
    let Ok(part) = std::env::var(CHILD) else { return };
    let mut words = part.rsplitn(3, ' ');
    let writers: u64 = words.next().and_then(|w| w.parse().ok()).expect("a number of writers");
    let seed: u64 = words.next().and_then(|w| w.parse().ok()).expect("a seed");
    let dir = PathBuf::from(words.next().expect("a directory"));
    let graph = open(&dir).expect("the store opens");
    common::rich::define_labels(&graph).expect("definitions");
    // The parent kills this process much earlier. The limit matters only if the parent ends first.
    let parent_is_gone = Instant::now() + FOR_EVER.saturating_mul(2);
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (graph, dir) = (&graph, &dir);
            scope.spawn(move || {
                let script = Script::new(seed, writer);
                let mut ack =
                    OpenOptions::new().create(true).append(true).open(acks(dir, writer)).expect("a file");
                let mut i = script.mark_in(&graph.snapshot().expect("a snapshot"));
                while Instant::now() < parent_is_gone {
                    i += 1;
                    let ops = script.transaction(i);
                    let all = |tx: &mut hedgerow::WriteTxn| {
                        ops.iter().try_for_each(|op| common::apply(tx, CONFIG.weighted, op).map(drop))
                    };
                    graph.transact(1_000_000, all).expect("a commit");
                    ack.write_all(&i.to_le_bytes()).expect("an acknowledgement");
                }
            });
        }
        while Instant::now() < parent_is_gone {
            std::thread::sleep(Duration::from_millis(23));
            graph.checkpoint().expect("a checkpoint");
        }
    });
}

fn spawn(dir: &Path, seed: u64, writers: u64) -> Child {
    let program = std::env::current_exe().expect("this program");
    Command::new(program)
        .args(["child", "--exact", "--nocapture"])
        .env(CHILD, format!("{} {seed} {writers}", dir.display()))
        .stdout(Stdio::null())
        .spawn()
        .expect("a child")
}

/// Returns the last transaction that `writer` acknowledged. A write that the kill interrupted does not count.
fn acknowledged(dir: &Path, writer: u64) -> u64 {
    let mut bytes = Vec::new();
    if let Ok(mut file) = File::open(acks(dir, writer)) {
        file.read_to_end(&mut bytes).expect("acknowledgements");
    }
    bytes.chunks_exact(8).next_back().map_or(0, |b| u64::from_le_bytes(b.try_into().expect("8 bytes")))
}

/// The parent's data on each writer: the number of its transactions in the store, and their result.
struct Known {
    script: Script,
    count: u64,
    state: Model,
}

#[derive(Default)]
struct Seen {
    cycles: u64,
    commits: u64,
    in_flight: u64,
}

/// Waits until the child has made more than `before` acknowledgements.
fn wait_for_acknowledgement(dir: &Path, child: &mut Child, before: u64) {
    let sum = || (0..MOST_WRITERS).map(|w| acknowledged(dir, w)).sum::<u64>();
    let give_up = Instant::now() + FOR_EVER;
    while sum() <= before {
        assert!(child.try_wait().expect("a child").is_none(), "the child ended on its own");
        assert!(Instant::now() < give_up, "the child acknowledges nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Opens the store after a kill and compares it. Returns the number of commits in the store without an
/// acknowledgement.
fn verify(dir: &Path, known: &mut [Known]) -> Result<u64, String> {
    let graph = open(dir).map_err(|e| format!("does not open: {e}"))?;
    let snapshot = graph.snapshot().map_err(|e| e.to_string())?;
    let mut expected = Model::new(CONFIG);
    let mut in_flight = 0;
    for (w, writer) in known.iter_mut().enumerate() {
        let acked = acknowledged(dir, w as u64).max(writer.count);
        let found = writer.script.mark_in(&snapshot);
        if found < acked || found > acked + 1 {
            return Err(format!("writer {w} acknowledged {acked}, the store holds {found}"));
        }
        in_flight += found - acked;
        writer.script.advance(&mut writer.state, writer.count, found);
        writer.count = found;
        expected.merge(&writer.state);
    }
    common::same(&snapshot, CONFIG, &expected)?;
    common::sound(&graph)?;
    drop(snapshot);
    graph.close().map_err(|e| format!("close: {e}"))?;
    Ok(in_flight)
}

#[test]
fn kill_nine_loses_nothing() {
    if std::env::var_os(CHILD).is_some() {
        return;
    }
    let mut seen = Seen::default();
    let effort = Effort::rounds(CYCLES / 20);
    while let Some(seed) = effort.next_seed() {
        let dir = tempfile::tempdir().expect("a directory");
        let mut rng = SplitMix64::new(seed);
        let fresh = |w| Known { script: Script::new(seed, w), count: 0, state: Model::new(CONFIG) };
        let mut known: Vec<Known> = (0..MOST_WRITERS).map(fresh).collect();
        for cycle in 0..20 {
            let before: u64 = (0..MOST_WRITERS).map(|w| acknowledged(dir.path(), w)).sum();
            let mut child = spawn(dir.path(), seed, 1 + rng.below(MOST_WRITERS));
            // The test waits for one acknowledgement in every second cycle, and for three in the remaining
            // cycles. On a busy machine a child makes none in the sleep below, and the floor requires two
            // commits per cycle on average.
            wait_for_acknowledgement(dir.path(), &mut child, before + cycle % 2 * 2);
            std::thread::sleep(Duration::from_micros(5_000 + rng.below(55_000)));
            child.kill().expect("a kill");
            child.wait().expect("a dead child");
            let verdict = verify(dir.path(), &mut known);
            seen.in_flight += verdict.unwrap_or_else(|e| panic!("round {seed}, cycle {cycle}: {e}"));
            seen.cycles += 1;
        }
        seen.commits += known.iter().map(|k| k.count).sum::<u64>();
    }
    println!("{} commits in flight were found though not acknowledged", seen.in_flight);
    explored("commits before kills", seen.commits, CYCLES * 2);
    explored("kill -9 cycles", seen.cycles, CYCLES);
}
