//! The tests of single kernels, which stand in the folders of the kernels. They are compiled here and not with the library: one program has
//! each kernel for plain graphs once, and compiling kernels takes most of the time of building tests.

#[path = "../../src/adamic_adar/tests.rs"]
mod adamic_adar;
#[path = "../../src/betweenness/tests.rs"]
mod betweenness;
#[path = "../../src/bfs/tests.rs"]
mod bfs;
#[path = "../../src/bfs_parents/tests.rs"]
mod bfs_parents;
#[path = "../../src/cdlp/tests.rs"]
mod cdlp;
#[path = "../../src/closeness/tests.rs"]
mod closeness;
#[path = "../../src/cycles/tests.rs"]
mod cycles;
#[path = "../../src/degrees/tests.rs"]
mod degrees;
#[path = "../../src/jaccard/tests.rs"]
mod jaccard;
#[path = "../../src/kcore/tests.rs"]
mod kcore;
#[path = "../../src/khop/tests.rs"]
mod khop;
#[path = "../../src/kpaths/tests.rs"]
mod kpaths;
#[path = "../../src/lcc/tests.rs"]
mod lcc;
#[path = "../../src/leiden/tests.rs"]
mod leiden;
#[path = "../../src/louvain/tests.rs"]
mod louvain;
#[path = "../../src/maintain/tests.rs"]
mod maintain;
#[path = "../../src/matching/tests.rs"]
mod matching;
#[path = "../../src/msf/tests.rs"]
mod msf;
#[path = "../../src/pagerank/tests.rs"]
mod pagerank;
#[path = "../../src/path/tests.rs"]
mod path;
#[path = "../../src/ppr/tests.rs"]
mod ppr;
#[path = "../../src/registry/tests.rs"]
mod registry;
#[path = "../../src/scc/tests.rs"]
mod scc;
#[path = "../../src/similarity/tests.rs"]
mod similarity;
#[path = "../../src/sssp/tests.rs"]
mod sssp;
#[path = "../../src/tc/tests.rs"]
mod tc;
#[path = "../../src/walks/tests.rs"]
mod walks;
#[path = "../../src/wbetweenness/tests.rs"]
mod wbetweenness;
#[path = "../../src/wcc/tests.rs"]
mod wcc;
#[path = "../../src/wcloseness/tests.rs"]
mod wcloseness;
#[path = "../../src/wpagerank/tests.rs"]
mod wpagerank;
#[path = "../../src/wpath/tests.rs"]
mod wpath;
#[path = "../../src/wwalks/tests.rs"]
mod wwalks;
