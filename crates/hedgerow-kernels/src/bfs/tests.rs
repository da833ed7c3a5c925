//! Both directions, all steps and every way to switch between them; sources that cannot be.

use hedgerow_core::{Direction, VertexId};

use crate::testing::{graphs, plain_graph, random_graph, sources};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::bfs::{BfsConfig, bfs, verify};

#[test]
fn depths_by_every_way_to_switch() {
    let configs = [
        BfsConfig::default(),
        BfsConfig { direction: Direction::In, ..BfsConfig::default() },
        BfsConfig { alpha: 0, ..BfsConfig::default() },
        BfsConfig { alpha: u32::MAX, beta: u32::MAX, ..BfsConfig::default() },
    ];
    for g in graphs() {
        for source in sources(&g, 3) {
            for config in &configs {
                let expected = verify::bfs(&g, source, config.direction);
                assert_eq!(
                    bfs(&g, source, config).expect("a live source"),
                    expected,
                    "{source:?} {config:?}"
                );
            }
        }
    }
}

#[test]
fn sources_must_be_live() {
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = bfs(&g, VertexId(3), &BfsConfig::default());
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
    let all_holes = random_graph(10, 0, false, 1.0, 1);
    assert!(bfs(&all_holes, VertexId(2), &BfsConfig::default()).is_err());
    assert!(bfs(&plain_graph(0, &[], false), VertexId(0), &BfsConfig::default()).is_err());
    assert!(refused.unwrap_err().to_string().contains("vertex 3"));
}
