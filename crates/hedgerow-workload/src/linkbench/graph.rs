//! The graph and its description.

use std::path::Path;

use super::error::LinkBenchError;
use super::mix::Mix;
use super::payload::payload;
use super::shuffle::Shuffle;
use super::{degrees, properties};
use crate::rng::Rng;

/// The skew of requests of each kind over nodes: exponents of Zipf distributions, from 0 (uniform) on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Skews {
    pub(super) link_reads: f64,
    pub(super) link_writes: f64,
    pub(super) node_reads: f64,
    pub(super) node_updates: f64,
    /// The share of link reads, and of link writes, that choose nodes independently of their numbers of
    /// links.
    pub(super) unrelated_reads: f64,
    pub(super) unrelated_writes: f64,
}

/// A graph and the requests to it.
#[derive(Clone, Debug)]
pub struct LinkBench {
    pub(super) nodes: u64,
    pub(super) types: u32,
    /// The numbers of links, descending.
    pub(super) degrees: Vec<u32>,
    /// The place of each node in the order by degree.
    pub(super) by_degree: Shuffle,
    /// The place of each node in the order by demand, for requests that choose independently of degrees.
    pub(super) by_demand: Shuffle,
    pub(super) skews: Skews,
    pub(super) mix: Mix,
    pub(super) link_bytes: f64,
    pub(super) node_bytes: f64,
}

impl LinkBench {
    /// Returns a graph of `nodes` nodes (at least 2), by the files in `folder`.
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

    /// Returns the number of nodes that are loaded.
    pub fn nodes(&self) -> u64 {
        self.nodes
    }

    /// Returns the number of link types.
    pub fn types(&self) -> u32 {
        self.types
    }

    /// Returns the mix of requests in the file of properties: LinkBench's own.
    pub fn mix(&self) -> Mix {
        self.mix
    }

    /// Returns the number of links that are loaded for a node, of one type.
    pub fn links_of(&self, node: u64, kind: u32) -> u64 {
        let all = u64::from(self.degrees[self.by_degree.place_of(node) as usize]);
        let types = u64::from(self.types);
        // No node has two links of a type to the same other node.
        (all / types + u64::from(u64::from(kind) < all % types)).min(self.nodes - 1)
    }

    /// Returns the number of links that are loaded for all nodes.
    pub fn links(&self) -> u64 {
        let of = |node| (0..self.types).map(|kind| self.links_of(node, kind)).sum::<u64>();
        (0..self.nodes).map(of).sum()
    }

    /// Returns the node to which the `n`-th link of a node leads.
    pub fn target(&self, node: u64, n: u64) -> u64 {
        (node % self.nodes + n % self.nodes) % self.nodes
    }

    /// Returns the bytes of a node that is loaded, always the same.
    pub fn node_data(&self, node: u64) -> Vec<u8> {
        payload(&mut Rng::part(3, node), self.node_bytes)
    }

    /// Returns the bytes of a link that is loaded, always the same.
    pub fn link_data(&self, node: u64, kind: u32, n: u64) -> Vec<u8> {
        payload(&mut Rng::part(4 + u64::from(kind), node ^ n << 40), self.link_bytes)
    }
}
