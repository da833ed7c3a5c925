//! A disk that fills up, at every size from nothing to enough: commits fail cleanly, reads go on, space that is given
//! back is used, and nothing acknowledged is lost.

use hedgerow::{CommitError, Error, Graph, StorageError};
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
