//! Slow answers from first principles, to check the kernels against: single-threaded, textbook algorithms
//! that share no code with them. Each is in the folder of its kernel.

pub use crate::betweenness::verify::{betweenness, weighted_betweenness};
pub use crate::bfs::verify::{bfs, bfs_parents, check_parents, k_hop_neighborhood};
pub use crate::cdlp::verify::label_propagation;
pub use crate::closeness::verify::{closeness, closeness_to, weighted_closeness, weighted_closeness_to};
pub use crate::communities::verify::{louvain, louvain as leiden};
pub use crate::cycles::verify::cycles_through;
pub use crate::degrees::verify::vertex_degrees;
pub use crate::kcore::verify::core_numbers;
pub use crate::kpaths::verify::k_shortest_paths;
pub use crate::lcc::verify::local_clustering;
pub use crate::matching::verify::{count_pairs, maximal as maximal_matching, maximum as maximum_matching};
pub use crate::msf::verify::minimum_spanning_forest;
pub use crate::pagerank::verify::{pagerank, personalized_pagerank, weighted_pagerank};
pub use crate::path::verify::{shortest_path, shortest_weighted_path};
pub use crate::scc::verify::scc;
pub use crate::similarity::verify::{adamic_adar, jaccard};
pub use crate::sssp::verify::sssp;
pub use crate::tc::verify::triangle_count;
pub use crate::walks::verify::{random_walks, weighted_random_walks};
pub use crate::wcc::verify::wcc;

/// True if two labellings put the same vertices into groups, whatever the labels are.
pub fn same_partition(a: &[u32], b: &[u32]) -> bool {
    let mut forth = std::collections::HashMap::new();
    let mut back = std::collections::HashMap::new();
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(&x, &y)| *forth.entry(x).or_insert(y) == y && *back.entry(y).or_insert(x) == x)
}
