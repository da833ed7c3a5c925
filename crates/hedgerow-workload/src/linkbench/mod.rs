//! LinkBench: requests to a social graph, modelled on measurements at Facebook.
//!
//! T. Armstrong, V. Ponnekanti, D. Borthakur, M. Callaghan, *LinkBench: a Database Benchmark Based on the
//! Facebook Social Graph*, SIGMOD 2013. Its words are used here: a *node* is a vertex with bytes, a *link* an
//! edge of one of a few *link types*, with bytes and a time. There is at most one link of a type from one
//! node to another. The numbers of links come from the file of measured distributions. The mix of requests,
//! the skew of accesses and the sizes of payloads come from the file of properties beside it. The mix
//! [`Mix::tao`] comes from Facebook's cache: N. Bronson et al., *TAO: Facebook's Distributed Data Store for
//! the Social Graph*, USENIX ATC 2013, table in section 6, in the form of LiveGraph (PVLDB 13(7), section
//! 7.1).
//!
//! Like in LinkBench, the `n`-th link of node `i` leads to node `i + n`, here modulo the number of nodes, and
//! with a stated probability ([`requests`](self)) a request names a link that was loaded. Deviations:
//! deleting a link removes it, while LinkBench hides it; payloads are random bytes; requests for the older
//! links that follow a list are not made (0.3 % of the lists).

mod degrees;
mod error;
mod graph;
mod mix;
mod payload;
mod properties;
mod requests;
mod shuffle;
#[cfg(test)]
mod tests;
mod zipf;

pub use error::LinkBenchError;
pub use graph::LinkBench;
pub use mix::Mix;
pub use requests::{Request, Requests};

/// The folder of the files, in the data folder.
pub const FOLDER: &str = "ldbc/linkbench-workload";
