//! Slow answers from first principles, to check the kernels against: single-threaded, textbook algorithms
//! that share no code with them. Each is in the folder of its kernel.

pub use crate::adamic_adar::verify::adamic_adar;
pub use crate::betweenness::verify::betweenness;
pub use crate::bfs::verify::bfs;
pub use crate::bfs_parents::verify::{bfs_parents, check_parents};
pub use crate::cdlp::verify::label_propagation;
pub use crate::closeness::verify::{closeness, closeness_to};
pub use crate::cycles::verify::cycles_through;
pub use crate::degrees::verify::vertex_degrees;
pub use crate::jaccard::verify::jaccard;
pub use crate::kcore::verify::core_numbers;
pub use crate::khop::verify::k_hop_neighborhood;
pub use crate::kpaths::verify::k_shortest_paths;
pub use crate::lcc::verify::local_clustering;
pub use crate::leiden::verify::leiden;
pub use crate::louvain::verify::louvain;
pub use crate::matching::verify::{count_pairs, maximal as maximal_matching, maximum as maximum_matching};
pub use crate::msf::verify::minimum_spanning_forest;
pub use crate::pagerank::verify::pagerank;
pub use crate::path::verify::shortest_path;
pub use crate::ppr::verify::personalized_pagerank;
pub use crate::scc::verify::scc;
pub use crate::sssp::verify::sssp;
pub use crate::tc::verify::triangle_count;
pub use crate::walks::verify::random_walks;
pub use crate::wbetweenness::verify::weighted_betweenness;
pub use crate::wcc::verify::wcc;
pub use crate::wcloseness::verify::{weighted_closeness, weighted_closeness_to};
pub use crate::wpagerank::verify::weighted_pagerank;
pub use crate::wpath::verify::shortest_weighted_path;
pub use crate::wwalks::verify::weighted_random_walks;

/// True if two labellings put the same vertices together, under any labels.
pub fn same_partition(a: &[u32], b: &[u32]) -> bool {
    let mut forth = std::collections::HashMap::new();
    let mut back = std::collections::HashMap::new();
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(&x, &y)| *forth.entry(x).or_insert(y) == y && *back.entry(y).or_insert(x) == x)
}
