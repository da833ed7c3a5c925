//! Neighborhoods of many sizes against rings of sets; sources that cannot be.

use hedgerow_core::{Direction, VertexId};

use crate::testing::{graphs, plain_graph, sources};
use hedgerow_kernels::KernelError;
use hedgerow_kernels::khop::{k_hop_neighborhood, verify};

#[test]
fn neighborhoods_end_where_they_are_told() {
    for g in graphs() {
        for source in sources(&g, 2) {
            for (hops, direction) in [
                (0, Direction::Out),
                (1, Direction::In),
                (2, Direction::Out),
                (3, Direction::In),
                (9, Direction::Out),
            ] {
                let expected = verify::k_hop_neighborhood(&g, source, hops, direction);
                let found = k_hop_neighborhood(&g, source, hops, direction).expect("live");
                assert_eq!(found, expected, "{hops} hops from {source:?}");
            }
        }
    }
}

#[test]
fn sources_must_be_live() {
    let refused = k_hop_neighborhood(&plain_graph(3, &[(0, 1)], true), VertexId(3), 2, Direction::Out);
    assert_eq!(refused, Err(KernelError::SourceNotLive { source: VertexId(3), vertex_bound: 3 }));
}
