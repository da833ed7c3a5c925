//! Requests.

use super::graph::LinkBench;
use super::mix::Mix;
use super::payload::payload;
use super::zipf::Zipf;
use crate::rng::Rng;

/// The probability with which a request of each kind names a link that was loaded.
mod existing {
    pub(super) const GET: f64 = 0.5;
    pub(super) const ADD: f64 = 0.05;
    pub(super) const UPDATE: f64 = 0.9;
    pub(super) const DELETE: f64 = 0.9;
}

/// The number of links of one request: the parameter of a geometric distribution, and the most links.
const MULTI_GET: (f64, usize) = (0.382, 128);

/// One request. Links are named by their source, type and destination.
#[derive(Clone, Debug, PartialEq)]
pub enum Request {
    /// Adds a link, or sets the bytes and the time of one that exists.
    PutLink {
        /// The link.
        link: (u64, u32, u64),
        /// Its bytes.
        data: Vec<u8>,
    },
    /// Removes a link.
    DeleteLink((u64, u32, u64)),
    /// Counts the links of a type.
    CountLinks(u64, u32),
    /// Reads some links from one node.
    GetLinks(u64, u32, Vec<u64>),
    /// Reads the newest links of a type.
    GetLinkList(u64, u32),
    /// Adds a node.
    AddNode(Vec<u8>),
    /// Sets the bytes of a node, if it exists.
    UpdateNode(u64, Vec<u8>),
    /// Removes a node; its links stay, as in LinkBench.
    DeleteNode(u64),
    /// Reads a node.
    GetNode(u64),
}

/// An endless stream of requests of one client, fixed by its seed.
#[derive(Clone, Debug)]
pub struct Requests<'a> {
    bench: &'a LinkBench,
    mix: Mix,
    rng: Rng,
    link_reads: Zipf,
    link_writes: Zipf,
    node_reads: Zipf,
    node_updates: Zipf,
}

impl<'a> Requests<'a> {
    /// Returns the requests of client number `client`.
    pub fn new(bench: &'a LinkBench, mix: Mix, client: u64) -> Requests<'a> {
        let zipf = |exponent| Zipf::new(bench.nodes, exponent);
        Requests {
            bench,
            mix,
            rng: Rng::part(5, client),
            link_reads: zipf(bench.skews.link_reads),
            link_writes: zipf(bench.skews.link_writes),
            node_reads: zipf(bench.skews.node_reads),
            node_updates: zipf(bench.skews.node_updates),
        }
    }
    /// Draws a node by its demand, which follows its degree except for a share of the requests.
    fn source(&mut self, zipf: Zipf, unrelated: f64) -> u64 {
        let place = zipf.draw(&mut self.rng);
        let is_unrelated = self.rng.chance(unrelated);
        if is_unrelated { self.bench.by_demand.at(place) } else { self.bench.by_degree.at(place) }
    }

    fn written(&mut self) -> (u64, u32) {
        let node = self.source(self.link_writes, self.bench.skews.unrelated_writes);
        (node, self.kind())
    }

    fn read(&mut self) -> (u64, u32) {
        let node = self.source(self.link_reads, self.bench.skews.unrelated_reads);
        (node, self.kind())
    }

    fn kind(&mut self) -> u32 {
        self.rng.below(u64::from(self.bench.types)) as u32
    }

    /// Draws a destination; the link was loaded with about the probability `existing`.
    fn target(&mut self, (node, kind): (u64, u32), existing: f64) -> u64 {
        let range = (self.bench.links_of(node, kind) as f64 / existing).ceil().max(1.0) as u64;
        let n = self.rng.below(range);
        self.bench.target(node, n)
    }

    fn put(&mut self, existing: f64) -> Request {
        let (node, kind) = self.written();
        let target = self.target((node, kind), existing);
        Request::PutLink { link: (node, kind, target), data: payload(&mut self.rng, self.bench.link_bytes) }
    }

    fn some_links(&mut self) -> Request {
        let (node, kind) = self.read();
        let (parameter, most) = MULTI_GET;
        let further = ((1.0 - self.rng.unit()).ln() / (1.0 - parameter).ln()) as usize;
        let mut targets: Vec<u64> =
            (0..(1 + further).min(most)).map(|_| self.target((node, kind), existing::GET)).collect();
        targets.sort_unstable();
        targets.dedup();
        Request::GetLinks(node, kind, targets)
    }

    fn node_bytes(&mut self) -> Vec<u8> {
        payload(&mut self.rng, self.bench.node_bytes)
    }

    /// Returns the next request.
    pub fn next_request(&mut self) -> Request {
        match self.mix.draw(&mut self.rng) {
            0 => self.put(existing::ADD),
            1 => {
                let (node, kind) = self.written();
                Request::DeleteLink((node, kind, self.target((node, kind), existing::DELETE)))
            }
            2 => self.put(existing::UPDATE),
            3 => {
                let (node, kind) = self.read();
                Request::CountLinks(node, kind)
            }
            4 => self.some_links(),
            5 => {
                let (node, kind) = self.read();
                Request::GetLinkList(node, kind)
            }
            6 => Request::AddNode(self.node_bytes()),
            7 => {
                let place = self.node_updates.draw(&mut self.rng);
                Request::UpdateNode(self.bench.by_demand.at(place), self.node_bytes())
            }
            // Uniform over all nodes: the nodes in most demand must not all be removed.
            8 => Request::DeleteNode(self.rng.below(self.bench.nodes)),
            _ => {
                let place = self.node_reads.draw(&mut self.rng);
                Request::GetNode(self.bench.by_demand.at(place))
            }
        }
    }
}
