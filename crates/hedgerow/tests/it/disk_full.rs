//! A disk that fills up, at every size from nothing to enough: commits fail cleanly, reads go on, the store
//! uses space that is freed, and no acknowledged commit is lost.
//!
//! If a sync of the directory finds no space, the store is poisoned.

use hedgerow::{CommitError, Error, Graph, KeyKind, Options, StateError, StorageError};
use hedgerow_testkit::sim_fs::{Damage, Fault, FaultClass, Repeat, errno};
use hedgerow_testkit::{Generator, Model, ModelConfig, SimFs, explored};

use crate::common;

fn config() -> ModelConfig {
    ModelConfig { directed: false, weighted: true, keys: hedgerow::KeyKind::U64, rich: false }
}

/// Commits until the end or the first error; `model` follows the acknowledged commits. Returns the number of
/// refusals.
fn fill(graph: &Graph, model: &mut Model, seed: u64) -> u64 {
    let mut generator = Generator::new(config(), seed, 0, 60);
    let mut full = 0;
    for i in 0..20 {
        let mut after = model.clone();
        let mut tx = graph.write().unwrap();
        for op in generator.transaction(Some(model), 60) {
            after.apply(&op);
            common::apply(&mut tx, true, &op).unwrap();
        }
        match tx.commit() {
            Ok(_) => *model = after,
            Err(Error::Commit(CommitError::DiskFull)) => full += 1,
            Err(error) => panic!("commit {i}: {error}"),
        }
        if i % 7 == 6 {
            match graph.checkpoint() {
                Ok(_) => {}
                Err(Error::Storage(StorageError::DiskFull { .. })) => full += 1,
                Err(error) => panic!("checkpoint {i}: {error}"),
            }
        }
        common::same(&graph.snapshot().unwrap(), config(), model).unwrap();
    }
    full
}

#[test]
fn every_size_of_a_disk() {
    let options = common::options(config()).log_segment_bytes(4096);
    let (mut sizes, mut full, mut too_small) = (0, 0, 0);
    for quota in (0..120_000u64).step_by(991) {
        let disk = SimFs::new();
        disk.set_quota(Some(quota));
        let mut model = Model::new(config());
        sizes += 1;
        match options.clone().open_on(disk.handle()) {
            Ok(graph) => {
                let refusals = fill(&graph, &mut model, quota);
                full += refusals;
                disk.set_quota(None);
                let again = fill(&graph, &mut model, quota + 1);
                assert_eq!(again, 0, "with space the store goes on, quota {quota}");
                common::sound(&graph).unwrap();
                if quota % 2 == 0 {
                    graph.close().unwrap();
                }
            }
            Err(Error::Storage(StorageError::DiskFull { .. })) => too_small += 1,
            Err(error) => panic!("quota {quota}: {error}"),
        }
        disk.set_quota(None);
        let graph = options.clone().open_on(disk.handle()).unwrap_or_else(|e| panic!("quota {quota}: {e}"));
        common::same(&graph.snapshot().unwrap(), config(), &model)
            .unwrap_or_else(|e| panic!("quota {quota}: {e}"));
        common::sound(&graph).unwrap();
    }
    println!("{too_small} disks too small for a store");
    explored("sizes of a full disk", sizes, 100);
    explored("commits and checkpoints refused by a full disk", full, 100);
}

/// The edges of a store from [`stored`].
const EDGES: [(u64, u64); 3] = [(1, 2), (2, 3), (4, 5)];

/// Makes a store on `disk` with a checkpoint and later commits: the next checkpoint removes the files of this
/// one.
fn stored(disk: &SimFs) -> Graph {
    let options = crate::common::small().background_settling(false).checkpoint_log_bytes(u64::MAX);
    let graph = options.log_segment_bytes(4096).open_on(disk.handle()).unwrap();
    assert!(graph.insert_edge((EDGES[0].0, EDGES[0].1)).unwrap());
    graph.checkpoint().unwrap();
    assert!(graph.insert_edges(&EDGES[1..]).is_ok());
    graph
}

/// Checks that `graph` refuses writes, that its readers go on, and that `disk` has all acknowledged commits.
fn is_poisoned(graph: Graph, disk: &SimFs, what: &str) {
    let poisoned = |error: Option<Error>| matches!(error, Some(Error::State(StateError::Poisoned)));
    assert!(poisoned(graph.insert_edge((8, 9)).err()), "{what}: an edge is taken");
    assert!(poisoned(graph.write().err()), "{what}: a transaction is opened");
    assert!(poisoned(graph.flush().err()), "{what}: a flush succeeds");
    assert!(poisoned(graph.checkpoint().err()), "{what}: a checkpoint succeeds");
    let holds = |graph: &Graph| {
        let snapshot = graph.snapshot().unwrap();
        assert!(EDGES.iter().all(|&(src, dst)| snapshot.contains_edge((src, dst)).unwrap()), "{what}");
        assert_eq!(snapshot.edge_count().unwrap(), EDGES.len() as u64, "{what}");
    };
    holds(&graph);
    assert!(poisoned(graph.close().err()), "{what}: closing says nothing");
    drop(graph);
    let graph = Options::new().open_on(disk.handle()).unwrap_or_else(|e| panic!("{what}: {e}"));
    holds(&graph);
    common::sound(&graph).unwrap();
    assert!(graph.insert_edge((8, 9)).unwrap(), "{what}: opened again, it takes writes");
}

/// After a failed sync of the directory, for any reason, the state of the directory after a crash is unknown.
/// A later sync that succeeds does not change that. So this error of a full disk, unlike all other ones, ends
/// all writes.
#[test]
fn a_sync_of_the_directory_that_finds_no_space_poisons_the_store() {
    let clean = SimFs::new();
    let graph = stored(&clean);
    let mut syncs = clean.operations_of(|| assert!(graph.checkpoint().is_ok()));
    syncs.retain(|(_, site)| &**site == "sync_dir:dir");
    drop(graph);
    // The syncs after the new segment, the new manifest, the removal of the older manifest, and the removal
    // of the old segment.
    assert_eq!(syncs.len(), 4, "{syncs:?}");
    for (step, at) in syncs.iter().map(|(index, _)| index.0).enumerate() {
        for errno in [errno::ENOSPC, errno::EDQUOT, errno::EIO] {
            let what = format!("sync {step} of the directory, error {errno}");
            let disk = SimFs::new();
            let graph = stored(&disk);
            disk.plan_fault(Fault { class: FaultClass::Change, at, site: None, repeat: Repeat::Once, errno });
            match (step, graph.checkpoint()) {
                (0 | 1, Err(Error::State(StateError::Poisoned))) => {}
                // At this step the new manifest is valid, so the checkpoint is valid too.
                (2 | 3, Ok(_)) => {}
                (_, other) => panic!("{what}: {other:?}"),
            }
            is_poisoned(graph, &disk, &what);
        }
    }
}

/// The edges of a commit, and the number of groups of them. The commits write one group after another, with
/// new weights each time, so that the log holds more than a checkpoint does.
const BATCH: u64 = 40;
const GROUPS: u64 = 4;
/// The longest segments of the log: one is as long as the first segment, one is longer, so that segments
/// grow.
const SEGMENTS: [u64; 2] = [16 << 10, 512 << 10];

fn with_segments(segment: u64) -> Options {
    Options::new().keys(KeyKind::U64).weighted(true).log_segment_bytes(segment).checkpoint_log_bytes(0)
}

/// The weight of the edges of each group, which is the number of the last commit that wrote them.
type Weights = [Option<u64>; GROUPS as usize];

fn edges_of(group: u64) -> impl Iterator<Item = (u64, u64)> {
    (group * BATCH..(group + 1) * BATCH).map(|v| (v, v + 1))
}

/// Commits batches until the disk is full, and records acknowledged weights in `weights`. Returns the number
/// of commits.
fn fill_in_batches(graph: &Graph, weights: &mut Weights) -> u64 {
    let first = weights.iter().flatten().max().map_or(0, |last| last + 1);
    for commit in first.. {
        let group = commit % GROUPS;
        let put = |tx: &mut hedgerow::WriteTxn| {
            edges_of(group).try_for_each(|(src, dst)| tx.put_edge((src, dst, commit as f64)))
        };
        match graph.transact(1, put) {
            Ok(_) => weights[group as usize] = Some(commit),
            Err(Error::Commit(CommitError::DiskFull)) => return commit - first,
            Err(error) => panic!("{error}"),
        }
    }
    unreachable!("the disk fills up")
}

fn holds(graph: &Graph, weights: &Weights, what: &str) {
    let snapshot = graph.snapshot().unwrap();
    for (group, weight) in (0..).zip(weights) {
        for (src, dst) in edges_of(group) {
            let found = snapshot.default_label().weight_between(src, dst).unwrap();
            assert_eq!(found, weight.map(|commit| commit as f64), "{what}: {src} -> {dst}");
        }
    }
}

fn is_full(error: &Error) -> bool {
    matches!(error, Error::Commit(CommitError::DiskFull) | Error::Storage(StorageError::DiskFull { .. }))
}

/// In each round the store fills its disk three times. Each time it is killed with no byte left, and opened
/// again. The store refuses a checkpoint or a removal that finds no room, and keeps the room for the next
/// opening.
#[test]
fn a_store_opens_on_the_disk_that_it_filled() {
    let (mut opened, mut checkpoints, mut removals) = (0, 0, 0);
    for segment in SEGMENTS {
        for (round, damage) in [Damage::KeepAll, Damage::LoseAll].into_iter().cycle().take(8).enumerate() {
            let room = 3 * segment + round as u64 * segment / 4;
            let what = format!("segments of {segment}, round {round}, {room} bytes");
            let mut fs = SimFs::new();
            let mut graph = with_segments(segment).open_on(fs.handle()).unwrap();
            fs.set_quota(Some(fs.used_bytes() + room));
            let mut weights = Weights::default();
            for _ in 0..3 {
                fill_in_batches(&graph, &mut weights);
                fs = fs.crash_clone(damage, round as u64);
                drop(graph);
                fs.set_quota(Some(fs.used_bytes()));
                let again = with_segments(segment).open_on(fs.handle());
                graph = again.unwrap_or_else(|error| panic!("{what}: {error}"));
                opened += 1;
                holds(&graph, &weights, &what);
                match graph.checkpoint() {
                    Ok(_) => checkpoints += 1,
                    Err(error) => assert!(is_full(&error), "{error}"),
                }
                match graph
                    .transact(1, |tx| edges_of(0).try_for_each(|(s, d)| tx.remove_edge((s, d)).map(drop)))
                {
                    Ok(_) => (weights[0], removals) = (None, removals + 1),
                    Err(error) => assert!(is_full(&error), "{error}"),
                }
            }
            common::sound(&graph).unwrap();
        }
    }
    explored("openings on a full disk", opened, 48);
    explored("checkpoints there", checkpoints, 30);
    explored("removals there", removals, 30);
}

/// Makes a closed store on a disk with no byte left. The store has several segments of the log, of at most
/// `segment` bytes.
fn filled(segment: u64, round: u64) -> (SimFs, Weights) {
    let fs = SimFs::new();
    let graph = with_segments(segment).open_on(fs.handle()).unwrap();
    fs.set_quota(Some(fs.used_bytes() + (3 + round) * segment));
    let mut weights = Weights::default();
    fill_in_batches(&graph, &mut weights);
    (fs, weights)
}

/// The test kills the program at each operation of an opening on a full disk, and of a checkpoint after it.
/// The kill leaves files in the room of the reserve. A later opening must still succeed, although the sealed
/// log has no tail whose removal would free room.
#[test]
fn a_store_opens_on_a_full_disk_whatever_was_killed_there() {
    let mut kills = 0;
    for (segment, round) in [(SEGMENTS[0], 0), (SEGMENTS[0], 1), (SEGMENTS[1], 0)] {
        let (fs, weights) = filled(segment, round);
        for with_checkpoint in [false, true] {
            for at in 0.. {
                let disk = fs.crash_clone(Damage::KeepAll, at);
                let room = disk.used_bytes();
                disk.set_quota(Some(room));
                let dies = Fault {
                    class: FaultClass::Change,
                    at: disk.op_count() + at,
                    site: None,
                    repeat: Repeat::Forever,
                    errno: errno::EIO,
                };
                disk.plan_fault(dies);
                let opened = with_segments(segment).open_on(disk.handle());
                let reached = match &opened {
                    Ok(graph) if with_checkpoint => graph.checkpoint().is_ok(),
                    opened => opened.is_ok(),
                };
                let disk = disk.crash_clone(Damage::KeepAll, at);
                drop(opened);
                disk.set_quota(Some(room));
                let what = format!(
                    "segments of {segment}, round {round}, checkpoint {with_checkpoint}, killed at {at}"
                );
                let again = with_segments(segment).open_on(disk.handle());
                let graph = again.unwrap_or_else(|error| panic!("{what}: {error}"));
                holds(&graph, &weights, &what);
                kills += 1;
                if reached || at > 200 {
                    break;
                }
            }
        }
    }
    explored("kills on a full disk", kills, 60);
}

/// A program opens a closed store on a full disk, commits until the disk is full, and is killed or closes the
/// store, again and again. Each close without a checkpoint leaves a segment in the room of the reserve. The
/// reserve is shorter for shorter segments.
#[test]
fn a_closed_store_opens_again_and_again_on_a_full_disk() {
    let mut opened = 0;
    for (segment, rounds) in [(SEGMENTS[0], 4), (SEGMENTS[1], 12)] {
        for damage in [Damage::KeepAll, Damage::LoseAll] {
            let (mut fs, mut weights) = filled(segment, 0);
            for round in 0..rounds {
                let room = fs.used_bytes();
                fs.set_quota(Some(room));
                let again = with_segments(segment).open_on(fs.handle());
                let graph = again
                    .unwrap_or_else(|e| panic!("segments of {segment}, {damage:?}, opening {round}: {e}"));
                holds(&graph, &weights, "opened again");
                fill_in_batches(&graph, &mut weights);
                if round % 2 == 0 {
                    fs = fs.crash_clone(damage, round);
                } else {
                    graph.close().unwrap();
                }
                opened += 1;
            }
        }
    }
    explored("openings of a closed store on a full disk", opened, 32);
}

/// A checkpoint in the same process, without an opening before it.
#[test]
fn a_checkpoint_frees_the_disk_that_its_store_has_filled() {
    let mut done = 0;
    for round in 0..8 {
        let fs = SimFs::new();
        let graph = with_segments(SEGMENTS[0]).open_on(fs.handle()).unwrap();
        fs.set_quota(Some(fs.used_bytes() + 3 * SEGMENTS[0] + round * SEGMENTS[0] / 8));
        let mut weights = Weights::default();
        fill_in_batches(&graph, &mut weights);
        graph.checkpoint().unwrap_or_else(|error| panic!("round {round}: {error}"));
        done += u64::from(fill_in_batches(&graph, &mut weights) > 0);
        holds(&graph, &weights, "after the checkpoint");
    }
    assert_eq!(done, 8, "commits go on after each checkpoint");
}

/// The reserve grows with the segments of the log. After a close it is as short as that of a new store.
#[test]
fn the_reserve_is_as_long_as_the_log_asks_for() {
    let fs = SimFs::new();
    let reserve = || fs.file("RESERVE").map_or(0, |bytes| bytes.len() as u64);
    let graph = with_segments(1 << 20).open_on(fs.handle()).unwrap();
    let of_new = reserve();
    assert!((256 << 10..1 << 20).contains(&of_new), "{of_new}");
    fs.set_quota(Some(8 << 20));
    fill_in_batches(&graph, &mut Weights::default());
    assert!(reserve() >= 1 << 20, "{}", reserve());
    graph.close().unwrap();
    assert_eq!(reserve(), of_new);
    // The test removes the reserve, as a user who needs the room may do; the next opening makes it again.
    assert!(fs.remove("RESERVE"));
    fs.set_quota(None);
    with_segments(1 << 20).open_on(fs.handle()).unwrap();
    assert_eq!(reserve(), of_new);
}
