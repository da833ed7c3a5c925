//! Each engine answers LinkBench's requests as plain maps do.

use hedgerow_bench::agrees;
use hedgerow_rivals::RIVALS;
use hedgerow_workload::linkbench::{FOLDER, LinkBench};
use hedgerow_workload::require_data;

#[test]
fn engines_answer_as_plain_maps_do() {
    let Some(folder) = require_data(FOLDER, "LinkBench on engines of others").unwrap() else { return };
    let bench = LinkBench::load(&folder, 500).unwrap();
    for rival in RIVALS {
        let dir = tempfile::tempdir().unwrap();
        agrees(rival, &bench, dir.path(), 5_000).unwrap();
    }
}
