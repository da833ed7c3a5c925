//! Graph analytics that use only the trait [`hedgerow_core::Topology`]. The same compiled loops run on a
//! store's snapshot, on a plain CSR and on any container that implements the trait, which makes comparisons
//! fair.
//!
//! | kernel | result | cost |
//! | --- | --- | --- |
//! | [`bfs()`] | Hops from a source vertex to every other vertex | O(vertices + edges), usually far fewer edges |
//! | [`pagerank()`] | PageRank scores, which sum to 1 | O(vertices + edges) per iteration |
//! | [`sssp()`] | Least sums of weights along paths from a source vertex to every other vertex | O(vertices + edges) times a small factor |
//! | [`wcc()`] | Weakly connected components | O(vertices + edges), usually few edges |
//! | [`triangle_count()`] | The number of triangles, directions ignored | O(edges^1.5) at worst |
//! | [`betweenness()`] | How many shortest paths lead through each vertex, of all sources or of a sample | O(vertices + edges) per source |
//! | [`personalized_pagerank()`] | PageRank scores of a surfer who jumps back to some vertices | O(vertices + edges) per iteration |
//! | [`shortest_path()`] | A path with the fewest edges from one vertex to another | O(vertices + edges) at worst, usually far less |
//! | [`shortest_weighted_path()`] | A path with the least sum of weights from one vertex to another | O((vertices + edges) · log vertices) at worst, usually far less |
//! | [`k_shortest_paths()`] | The simple paths with the least sums of weights from one vertex to another | a run of `sssp` and a short search for each vertex of each path |
//! | [`k_hop_neighborhood()`] | The vertices within some hops of a source, and how many hops | O(vertices + edges) at worst, usually what is reached |
//! | [`cycles_through()`] | The first cycles through a vertex that are no longer than a bound, and on request how many there are | O(vertices + edges), and for each way that can become a cycle, until the limit is reached, the edges of its last vertex |
//! | [`random_walks()`] | Random walks, uniform or as node2vec has them | O(1) per step as a rule |
//! | [`louvain()`] | Communities by their modularity (Louvain) | O(edges) for each of a few rounds |
//! | [`leiden()`] | Communities by their modularity that hang together (Leiden) | O(edges) for each of a few rounds |
//! | [`local_clustering()`] | The share of the edges that there could be between the neighbors of each vertex (local clustering) | O(edges^1.5) at worst |
//! | [`label_propagation()`] | Communities by labels that vertices take from most of their neighbors, all at once (CDLP) | O(vertices + edges) per iteration, times log degree at worst |
//! | [`scc()`] | Strongly connected components: paths lead both ways | O(vertices + edges) |
//! | [`core_numbers()`] | The core number of each vertex: the largest k for which it is in the k-core | O(vertices + edges) |
//! | [`vertex_degrees()`] | The number of edges of each vertex in a direction, and how many vertices have each number | O(vertices), by the page O(vertices + edges) |
//! | [`minimum_spanning_forest()`] | The edges of least total weight that join what edges can join | O(edges · log vertices) at worst |
//! | [`closeness()`] | How near each vertex is to all that it reaches, exactly or by a sample | O(vertices + edges) per level of 64 searches at worst, a search for each sample |
//! | [`jaccard()`] | Which part of their neighbors vertices share: of pairs, or the most similar of each source | the lists of each pair; for the most similar those of the source's neighbors, and of some of theirs |
//! | [`adamic_adar()`] | How many neighbors vertices share, rare ones counting more: of pairs, or the most similar of each source | the lists of each pair and of the vertices that it shares; for the most similar those of the source's neighbors |
//! | [`matching()`] | Pairs of vertices that edges join, no vertex in two: as many as can be, or until none can be added | O(edges · √vertices) at worst, usually a few passes; one pass until none can be added |
//! | [`bfs_parents()`] | The next vertex on a shortest path from each vertex back to a source | O(vertices + edges), usually far fewer edges |
//! | [`weighted_betweenness()`] | How many paths with the least sum of weights lead through each vertex, of all sources or of a sample | a run of `sssp` and O(vertices + edges) per source |
//! | [`weighted_closeness()`] | How near each vertex is to all that it reaches by the least sums of weights, exactly or by a sample | a run of `sssp` for each sample or source |
//! | [`weighted_pagerank()`] | PageRank scores of a surfer who follows edges by their weights, and jumps anywhere or back to some vertices | O(vertices + edges) per iteration |
//! | [`weighted_random_walks()`] | Random walks that go to neighbors by the weights of the edges, each step alone or as node2vec has it | the lists of the vertices that walks of an item are at, for each step |
//!
//! The [`registry`] lists them, with their parameters, their memory and the papers that they come from.
//!
//! Kernels are parallel: they run in the rayon pool that is current in the caller (`ThreadPool::install`), or
//! else in the global one. If no thread can be started, they run on the calling thread. A [`Cancel`] ends a
//! kernel early; the functions whose names end in `_until` take one. Results do not depend on the number of
//! threads, not even in the last bit of a score. The [`verify`] module holds slow, independent,
//! single-threaded answers to compare with.
#![forbid(unsafe_code)]

pub mod betweenness;
pub mod bfs;
mod cancel;
pub mod cdlp;
pub mod closeness;
pub mod communities;
pub mod cycles;
pub mod degrees;
mod error;
pub mod estimate;
mod frontier;
mod grouping;
pub mod kcore;
mod kernel;
pub mod kpaths;
pub mod lcc;
mod lengths;
mod lists;
pub mod maintain;
pub mod matching;
pub mod msf;
pub mod pagerank;
mod pairs;
mod par;
pub mod path;
mod paths;
mod progress;
mod random;
mod ranked;
pub mod registry;
pub mod scc;
pub mod similarity;
mod sources;
pub mod sssp;
pub mod summary;
pub mod tc;
pub mod verify;
pub mod walks;
mod watch;
pub mod wcc;

// Kernels that share a folder, by their own names.
pub use betweenness::weighted as wbetweenness;
pub use bfs::{khop, parents as bfs_parents};
pub use closeness::weighted as wcloseness;
pub use communities::{leiden, louvain};
pub use pagerank::{personal as ppr, weighted as wpagerank};
pub use path::weighted as wpath;
pub use similarity::{adamic_adar, jaccard};
pub use walks::weighted as wwalks;

pub use adamic_adar::{adamic_adar, adamic_adar_until};
pub use betweenness::{Sources, betweenness, betweenness_until};
pub use bfs::{BfsConfig, NO_VERTEX, UNREACHED, bfs, bfs_until};
pub use bfs_parents::{bfs_parents, bfs_parents_until};
pub use cancel::Cancel;
pub use cdlp::{label_propagation, label_propagation_until};
pub use closeness::{ClosenessOf, closeness, closeness_until};
pub use communities::{CommunityConfig, modularity};
pub use cycles::{CycleConfig, cycles_through, cycles_through_until};
pub use degrees::{vertex_degrees, vertex_degrees_until};
pub use error::KernelError;
pub use grouping::Communities;
pub use jaccard::{jaccard, jaccard_until};
pub use kcore::{core_numbers, core_numbers_until};
pub use khop::{k_hop_neighborhood, k_hop_neighborhood_until};
pub use kpaths::{k_shortest_paths, k_shortest_paths_until};
pub use lcc::{local_clustering, local_clustering_until};
pub use leiden::{leiden, leiden_until};
pub use louvain::{louvain, louvain_until};
pub use matching::{MatchingSize, matching, matching_until};
pub use msf::{minimum_spanning_forest, minimum_spanning_forest_until};
pub use pagerank::{PageRankConfig, pagerank, pagerank_from, pagerank_until, pagerank_with};
pub use pairs::Pairs;
pub use path::{shortest_path, shortest_path_until};
pub use paths::Paths;
pub use ppr::{personalized_pagerank, personalized_pagerank_until};
pub use progress::Progress;
pub use scc::{scc, scc_until};
pub use similarity::Compared;
pub use sssp::{SsspConfig, sssp, sssp_until};
pub use summary::{count_components, histogram, top_k};
pub use tc::{triangle_count, triangle_count_until};
pub use walks::{WalkConfig, random_walks, random_walks_until};
pub use wbetweenness::{weighted_betweenness, weighted_betweenness_until};
pub use wcc::{NO_COMPONENT, wcc, wcc_until};
pub use wcloseness::{weighted_closeness, weighted_closeness_until};
pub use wpagerank::{weighted_pagerank, weighted_pagerank_until};
pub use wpath::{shortest_weighted_path, shortest_weighted_path_until};
pub use wwalks::{weighted_random_walks, weighted_random_walks_until};
