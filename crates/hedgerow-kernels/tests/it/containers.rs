//! Kernels on the containers that change, against the same kernels on a plain CSR of the same edges.

use hedgerow_core::{DynamicGraph, GraphSnapshot, Update, VertexId};
use hedgerow_kernels::{BfsConfig, PageRankConfig, bfs, pagerank, triangle_count, wcc};
use hedgerow_lab::rapidstore::{RapidStore, RapidStoreOptions};
use hedgerow_lab::{Adjlst, Csr, CsrOptions, GraphForm};
use hedgerow_workload::rng::Rng;

use crate::testing::close;

const IDS: u32 = 2_000;

/// Edges of which many end at one vertex, so that its list is long.
fn edges(seed: u64) -> Vec<(u32, u32)> {
    let mut rng = Rng::new(seed);
    let mut any = || rng.below(u64::from(IDS)) as u32;
    (0..12_000).map(|i| if i % 5 == 0 { (7, any()) } else { (any(), any()) }).collect()
}

/// Inserts the edges, and others that are removed again; a snapshot that is taken between is the one that kernels run on.
fn snapshot<G: DynamicGraph>(graph: &G, edges: &[(u32, u32)]) -> G::Snapshot {
    let id = VertexId;
    let vertices: Vec<Update> = (0..IDS).map(|v| Update::InsertVertex(id(v))).collect();
    graph.write(&vertices).expect("valid ids");
    let (single, batch) = edges.split_at(edges.len() / 2);
    for &(src, dst) in single {
        graph.insert_edge(id(src), id(dst), 1.0).expect("valid ids");
    }
    let batch: Vec<Update> =
        batch.iter().map(|&(src, dst)| Update::InsertEdge(id(src), id(dst), 1.0)).collect();
    graph.write(&batch).expect("valid ids");
    let snapshot = graph.snapshot().expect("a snapshot");
    for &(src, dst) in edges.iter().step_by(3) {
        graph.remove_edge(id(src), id(dst)).expect("valid ids");
    }
    snapshot
}

fn same_answers<S: GraphSnapshot>(snapshot: &S, csr: &Csr) {
    let (source, config) = (VertexId(7), BfsConfig::default());
    let hops = |of: Result<Vec<u32>, _>| of.expect("a live source");
    assert_eq!(bfs(snapshot, source, &config).expect("a live source"), hops(bfs(csr, source, &config)));
    assert_eq!(wcc(snapshot).expect("few vertices"), wcc(csr).expect("few vertices"));
    let config = PageRankConfig::default();
    let (mine, plain) = (pagerank(snapshot, &config).expect("valid"), pagerank(csr, &config).expect("valid"));
    close(&mine, &plain, 1e-12).expect("the same scores");
    assert_eq!(triangle_count(snapshot).expect("few vertices"), triangle_count(csr).expect("few vertices"));
}

#[test]
fn kernels_agree_on_containers() {
    for directed in [false, true] {
        let edges = edges(u64::from(directed));
        let options = CsrOptions { directed, ..CsrOptions::default() };
        let csr = Csr::from_edges(IDS as usize, &edges, &options).expect("in range");
        let form = GraphForm { directed, weighted: false };
        same_answers(&snapshot(&Adjlst::new(form), &edges), &csr);
        let options = RapidStoreOptions { segment: 64, longest_short: 32, ..RapidStoreOptions::default() };
        same_answers(&snapshot(&RapidStore::with_options(form, options), &edges), &csr);
    }
}
