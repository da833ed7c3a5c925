//! LinkBench: requests to a social graph, after what Facebook measured on its own.
//!
//! T. Armstrong, V. Ponnekanti, D. Borthakur, M. Callaghan, *LinkBench: a Database Benchmark Based on the Facebook Social Graph*, SIGMOD
//! 2013. Its words are kept here: a *node* is a vertex with bytes, a *link* an edge of one of a few *link types*, with bytes and a time, and
//! there is at most one link of a type from one node to another. How many links nodes have is read from the file of measured
//! distributions, and the mix of requests, the skew of accesses and the sizes of payloads from the file of properties that come with it.
//! The mix [`Mix::tao`] is that of Facebook's cache: N. Bronson et al., *TAO: Facebook's Distributed Data Store for the Social Graph*, USENIX
//! ATC 2013, table in section 6, as LiveGraph (PVLDB 13(7), section 7.1) takes it.
//!
//! As in LinkBench, the `n`-th link of node `i` leads to node `i + n`, here modulo the number of nodes, and a request takes a link that was
//! loaded with a stated probability ([`requests`](self)). Deviations: to delete a link removes it, where LinkBench hides it; payloads are
//! random bytes; requests for the links before the last that a list gave are not made (0.3 % of the lists).

use std::path::{Path, PathBuf};

mod degrees;
mod properties;
mod requests;
mod shuffle;
#[cfg(test)]
mod tests;
mod zipf;

pub use requests::{Mix, Request, Requests};
use shuffle::Shuffle;

use crate::rng::Rng;

/// The folder of the files, in the data folder.
pub const FOLDER: &str = "ldbc/linkbench-workload";

/// Why a description of the workload cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkBenchError {
    /// A file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// A line is not what it should be.
    #[error("{}, line {line}: {what}", path.display())]
    Line {
        /// The file.
        path: PathBuf,
        /// Its line, from 1.
        line: usize,
        /// What is wrong with it.
        what: String,
    },
    /// A file lacks something.
    #[error("{}: no {what}", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
        /// What is not there.
        what: String,
    },
}

/// How unequally requests of one kind choose nodes: exponents of Zipf distributions, from 0 (all alike) on.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Skews {
    link_reads: f64,
    link_writes: f64,
    node_reads: f64,
    node_updates: f64,
    /// The share of link reads, and of link writes, that choose nodes without regard to how many links these have.
    unrelated_reads: f64,
    unrelated_writes: f64,
}

/// A graph and the requests to it.
#[derive(Clone, Debug)]
pub struct LinkBench {
    nodes: u64,
    types: u32,
    /// The numbers of links, descending.
    degrees: Vec<u32>,
    /// Which node has which place among the degrees.
    by_degree: Shuffle,
    /// Which node has which place among those that are asked for most, where that has nothing to do with its degree.
    by_demand: Shuffle,
    skews: Skews,
    mix: Mix,
    link_bytes: f64,
    node_bytes: f64,
}

impl LinkBench {
    /// A graph of so many nodes (at least 2), as the files in `folder` describe it.
    ///
    /// # Errors
    /// [`LinkBenchError`] names file and line.
    pub fn load(folder: &Path, nodes: u64) -> Result<LinkBench, LinkBenchError> {
        let nodes = nodes.max(2);
        let properties = properties::read(&folder.join("FBWorkload.properties"))?;
        let share = |name: &str| Ok::<_, LinkBenchError>((properties.number(name)? / 100.0).clamp(0.0, 1.0));
        Ok(LinkBench {
            nodes,
            types: (properties.number("link_type_count")? as u32).clamp(1, 1 << 10),
            degrees: degrees::read(&folder.join("Distribution.dat.zst"), nodes)?,
            by_degree: Shuffle::new(nodes, 1),
            by_demand: Shuffle::new(nodes, 2),
            skews: Skews {
                link_reads: properties.number("read_shape")?,
                link_writes: properties.number("write_shape")?,
                node_reads: properties.number("node_read_shape")?,
                node_updates: properties.number("node_update_shape")?,
                unrelated_reads: share("read_uncorr_blend")?,
                unrelated_writes: share("write_uncorr_blend")?,
            },
            mix: Mix::of(&properties)?,
            link_bytes: properties.number("link_datasize")?,
            node_bytes: properties.number("node_datasize")?,
        })
    }

    /// The number of nodes that are loaded.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// The number of link types.
    pub fn types(&self) -> u32 {
        self.types
    }

    /// The mix of requests that the file of properties says: LinkBench's own.
    pub fn mix(&self) -> Mix {
        self.mix
    }

    /// The number of links that are loaded for a node, of one type.
    pub fn links_of(&self, node: u64, kind: u32) -> u64 {
        let all = u64::from(self.degrees[self.by_degree.place_of(node) as usize]);
        let types = u64::from(self.types);
        // No node has two links of a type to the same other one.
        (all / types + u64::from(u64::from(kind) < all % types)).min(self.nodes - 1)
    }

    /// The number of links that are loaded for all nodes.
    pub fn links(&self) -> u64 {
        let of = |node| (0..self.types).map(|kind| self.links_of(node, kind)).sum::<u64>();
        (0..self.nodes).map(of).sum()
    }

    /// The node to which the `n`-th link of a node leads.
    pub fn target(&self, node: u64, n: u64) -> u64 {
        (node % self.nodes + n % self.nodes) % self.nodes
    }

    /// The bytes of a node that is loaded, always the same.
    pub fn node_data(&self, node: u64) -> Vec<u8> {
        payload(&mut Rng::part(3, node), self.node_bytes)
    }

    /// The bytes of a link that is loaded, always the same.
    pub fn link_data(&self, node: u64, kind: u32, n: u64) -> Vec<u8> {
        payload(&mut Rng::part(4 + u64::from(kind), node ^ n << 40), self.link_bytes)
    }
}

/// The longest payload.
const MOST_BYTES: f64 = 4096.0;

/// Random bytes: their number is distributed as the logarithm of a normal distribution with deviation 1, as LinkBench has it.
fn payload(rng: &mut Rng, median: f64) -> Vec<u8> {
    let (radius, angle) = ((-2.0 * (1.0 - rng.unit()).ln()).sqrt(), rng.unit() * std::f64::consts::TAU);
    let len = (median * (radius * angle.cos()).exp()).min(MOST_BYTES) as usize;
    let mut bytes = vec![0; len];
    for part in bytes.chunks_mut(8) {
        let word = rng.next_u64().to_le_bytes();
        part.copy_from_slice(&word[..part.len()]);
    }
    bytes
}
