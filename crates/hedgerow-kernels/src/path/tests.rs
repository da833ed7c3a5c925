//! Lengths against one search, paths edge by edge; ends that cannot be.

use hedgerow_core::{Direction, Resident, Topology, VertexId};

use crate::testing::{graphs, plain_graph, random_graph, sources};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::path::{shortest_path, verify};

#[test]
fn paths_are_there_and_no_longer_than_they_must_be() {
    let mut joined = 0;
    for g in graphs() {
        let ends = sources(&g, 400);
        for (i, &source) in ends.iter().enumerate().step_by(1 + ends.len() / 4) {
            let target = ends[(i * 7 + ends.len() / 2) % ends.len()];
            for direction in [Direction::Out, Direction::In] {
                let expected = verify::shortest_path(&g, source, target, direction);
                let found = shortest_path(&g, source, target, direction).expect("live");
                assert!(found.agrees_with(&expected, 0.0), "{source:?} {target:?}: {found:?}");
                for (path, length) in found.iter() {
                    joined += 1;
                    assert_eq!(path.len() as f64, length + 1.0);
                    assert_eq!((path[0], path[path.len() - 1]), (source, target));
                    let follows = |pair: &[VertexId]| g.neighbors(pair[0], direction).contains(pair[1]);
                    assert!(path.windows(2).all(follows), "{path:?}");
                }
            }
        }
    }
    assert!(joined > 500, "only {joined} pairs were joined");
}

#[test]
fn ends_must_be_live() {
    let g = random_graph(10, 0, false, 1.0, 1);
    let refused = shortest_path(&g, VertexId(3), VertexId(3), Direction::Out);
    assert_eq!(
        refused,
        Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: g.vertex_bound() })
    );
    let g = plain_graph(3, &[(0, 1)], true);
    let refused = shortest_path(&g, VertexId(0), VertexId(9), Direction::Out);
    assert_eq!(refused, Err(KernelError::TargetNotLive { target: VertexId(9), vertex_bound: 3 }));
    assert!(refused.unwrap_err().to_string().contains("target vertex 9"));
    let itself = shortest_path(&g, VertexId(2), VertexId(2), Direction::Out).expect("live");
    assert_eq!((itself.path(0), itself.lengths()), (&[VertexId(2)][..], &[0.0][..]));
}
