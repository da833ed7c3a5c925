//! The tests of single kernels, which are in the folders of the kernels. This program compiles them, not the
//! library: it has each kernel for plain graphs once, and compiling kernels takes most of the build time of
//! the tests.

#[path = "../../src/betweenness/tests.rs"]
mod betweenness;
#[path = "../../src/bfs/tests.rs"]
mod bfs;
#[path = "../../src/cdlp/tests.rs"]
mod cdlp;
#[path = "../../src/closeness/tests.rs"]
mod closeness;
#[path = "../../src/communities/tests.rs"]
mod communities;
#[path = "../../src/cycles/tests.rs"]
mod cycles;
#[path = "../../src/degrees/tests.rs"]
mod degrees;
#[path = "../../src/kcore/tests.rs"]
mod kcore;
#[path = "../../src/kpaths/tests.rs"]
mod kpaths;
#[path = "../../src/lcc/tests.rs"]
mod lcc;
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
#[path = "../../src/wcc/tests.rs"]
mod wcc;
