//! Tests of segments that a call writes while checkpoints end concurrently.

use std::sync::Arc;

use hedgerow_core::{KeyKind, SubgraphId};
use hedgerow_io::Vfs;
use hedgerow_pager::pager::room::buffers::Writing;
use hedgerow_testkit::SimFs;
use hedgerow_tier::{Manifest, SegmentReader, TierError};

use super::write::{ImageMode, Target};
use crate::config::Durability;
use crate::durable::checkpoint::write::write_run;
use crate::graph::Graph;
use crate::options::Options;
use crate::state::pin::pin;

/// A segment copies images of a page from files. Meanwhile a checkpoint writes another subgraph of that page,
/// and an eviction removes this subgraph from memory. The segment must have the last written state of the
/// subgraph, not the state of the images that were read before.
#[test]
fn a_run_beside_a_checkpoint_has_what_was_taken_out_of_memory_since() {
    let options =
        Options::new().keys(KeyKind::Dense).durability(Durability::Manual).background_settling(false);
    let graph: Graph = options.open_on(SimFs::new().handle()).unwrap();
    graph.insert_edges([(1_u64, 300), (70, 300)]).unwrap();
    graph.checkpoint().unwrap();
    assert!(graph.internals().evict().unwrap() > 0);
    graph.insert_edge((70_u64, 301_u64)).unwrap();
    let pinned = pin(&graph.engine);
    let fs: Arc<dyn Vfs> = SimFs::new().handle();
    let manifest = graph.engine.durable.as_ref().unwrap().manifest.lock().clone();
    let Manifest { store, config, next_file_id: file_id, .. } = manifest;
    let mut waits = true;
    let target = Target { fs: fs.clone(), file_id, store, config, writing: Writing::Checkpoint, below: None };
    let written = write_run(&graph.engine, pinned.timestamp(), target, |id| {
        if id.subgraph == SubgraphId(1) && std::mem::take(&mut waits) {
            graph.checkpoint()?;
            assert!(graph.internals().evict()? > 0);
        }
        Ok(ImageMode::Image)
    });
    let reader = SegmentReader::open(fs, &written.unwrap().info, store).unwrap();
    let mut degrees = Vec::new();
    for page in 0..reader.page_count() {
        let degree = |image: hedgerow_tier::SubgraphImage| {
            degrees.extend(image.parts.iter().map(|part| (image.id.subgraph.0, part.neighbors.len())));
            Ok::<(), TierError>(())
        };
        reader.read_page(page, |_| true, degree).unwrap();
    }
    assert_eq!(degrees, [(0, 1), (1, 2), (4, 3)]);
}
