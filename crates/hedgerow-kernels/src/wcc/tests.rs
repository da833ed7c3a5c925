//! Tests of components and their number, and of different components for another graph.

use crate::testing::{graphs, plain_graph};
use hedgerow_kernels::count_components;
use hedgerow_kernels::verify::same_partition;
use hedgerow_kernels::wcc::{NO_COMPONENT, verify, wcc};

#[test]
fn components_as_joined_one_by_one() {
    for g in graphs() {
        let components = wcc(&g).expect("ids fit");
        assert_eq!(components, verify::wcc(&g));
        let live = components.iter().filter(|&&c| c != NO_COMPONENT);
        assert_eq!(count_components(&components), live.collect::<std::collections::HashSet<_>>().len());
    }
}

#[test]
fn other_graphs_have_other_components() {
    let g = plain_graph(4, &[(0, 1), (2, 3)], false);
    let joined = plain_graph(4, &[(0, 1), (1, 2), (2, 3)], false);
    assert_ne!(verify::wcc(&g), wcc(&joined).expect("ids fit"));
    assert!(!same_partition(&verify::wcc(&g), &verify::wcc(&joined)));
    assert!(same_partition(&[7, 7, 9], &[0, 0, 2]));
    assert!(!same_partition(&[7, 7, 9], &[0, 1, 2]));
}
