//! A disk that fills up, at every size from nothing to enough: commits fail cleanly, reads go on, space that is given
//! back is used, and nothing acknowledged is lost.
//!
//! A sync of the directory that finds no space is another matter: it poisons the store.

use hedgerow::{CommitError, Error, Graph, Options, StateError, StorageError};
use hedgerow_testkit::sim_fs::{Fault, FaultClass, Repeat, errno};
use hedgerow_testkit::{Generator, Model, ModelConfig, SimFs, explored};

use crate::common;

fn config() -> ModelConfig {
    ModelConfig { directed: false, weighted: true, keys: hedgerow::KeyKind::U64, rich: false }
}

/// Commits until the end or the first error; `model` follows what was acknowledged. Returns the number of refusals.
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
    for quota in (0..40_000u64).step_by(331) {
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

/// The edges that a store of [`stored`] holds.
const EDGES: [(u64, u64); 3] = [(1, 2), (2, 3), (4, 5)];

/// A store on `disk` that has written a checkpoint, and more since: the next one removes what that one made.
fn stored(disk: &SimFs) -> Graph {
    let options = crate::common::small().background_settling(false).checkpoint_log_bytes(u64::MAX);
    let graph = options.log_segment_bytes(4096).open_on(disk.handle()).unwrap();
    assert!(graph.insert_edge(EDGES[0].0, EDGES[0].1).unwrap());
    graph.checkpoint().unwrap();
    assert!(graph.insert_edges(&EDGES[1..]).is_ok());
    graph
}

/// `graph` takes no write any more, its readers go on, and `disk` holds all that was acknowledged.
fn is_poisoned(graph: Graph, disk: &SimFs, what: &str) {
    let poisoned = |error: Option<Error>| matches!(error, Some(Error::State(StateError::Poisoned)));
    assert!(poisoned(graph.insert_edge(8, 9).err()), "{what}: an edge is taken");
    assert!(poisoned(graph.write().err()), "{what}: a transaction is opened");
    assert!(poisoned(graph.flush().err()), "{what}: a flush succeeds");
    assert!(poisoned(graph.checkpoint().err()), "{what}: a checkpoint succeeds");
    let holds = |graph: &Graph| {
        let snapshot = graph.snapshot().unwrap();
        assert!(EDGES.iter().all(|&(src, dst)| snapshot.contains_edge(src, dst).unwrap()), "{what}");
        assert_eq!(snapshot.edge_count().unwrap(), EDGES.len() as u64, "{what}");
    };
    holds(&graph);
    assert!(poisoned(graph.close().err()), "{what}: closing says nothing");
    drop(graph);
    let graph = Options::new().open_on(disk.handle()).unwrap_or_else(|e| panic!("{what}: {e}"));
    holds(&graph);
    common::sound(&graph).unwrap();
    assert!(graph.insert_edge(8, 9).unwrap(), "{what}: opened again, it takes writes");
}

/// Once a sync of the directory failed, for whatever reason, what it will show after a crash is unknown, and a later sync that
/// succeeds says nothing about it. So this error of a full disk, unlike all others, ends the writing.
#[test]
fn a_sync_of_the_directory_that_finds_no_space_poisons_the_store() {
    let clean = SimFs::new();
    let graph = stored(&clean);
    let mut syncs = clean.operations_of(|| assert!(graph.checkpoint().is_ok()));
    syncs.retain(|(_, site)| &**site == "sync_dir:dir");
    drop(graph);
    // Of the new segment, of the new manifest, of removing the older one, of removing the old segment.
    assert_eq!(syncs.len(), 4, "{syncs:?}");
    for (step, at) in syncs.iter().map(|(index, _)| index.0).enumerate() {
        for errno in [errno::ENOSPC, errno::EDQUOT, errno::EIO] {
            let what = format!("sync {step} of the directory, error {errno}");
            let disk = SimFs::new();
            let graph = stored(&disk);
            disk.plan_fault(Fault { class: FaultClass::Change, at, site: None, repeat: Repeat::Once, errno });
            match (step, graph.checkpoint()) {
                (0 | 1, Err(Error::State(StateError::Poisoned))) => {}
                // The manifest holds by then, so the checkpoint does too.
                (2 | 3, Ok(_)) => {}
                (_, other) => panic!("{what}: {other:?}"),
            }
            is_poisoned(graph, &disk, &what);
        }
    }
}
