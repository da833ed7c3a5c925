//! The interface that LinkBench requires of an engine.

use std::path::Path;

use hedgerow_report::failure::Failure;

type Result<T> = std::result::Result<T, Failure>;

/// A link; at most one link of a type leads from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The source.
    pub src: u64,
    /// The type.
    pub kind: u32,
    /// The destination.
    pub dst: u64,
    /// The time of its last put. The newest links of a node have the greatest times.
    pub time: u64,
    /// Its bytes.
    pub data: &'a [u8],
}

/// The links that a request found. Its memory is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// The destination, the time, and the end of the bytes of each link.
    links: Vec<(u64, u64, usize)>,
    data: Vec<u8>,
}

impl Found {
    /// Removes all links.
    pub fn clear(&mut self) {
        self.links.clear();
        self.data.clear();
    }

    /// Adds a link.
    pub fn push(&mut self, dst: u64, time: u64, data: &[u8]) {
        self.data.extend_from_slice(data);
        self.links.push((dst, time, self.data.len()));
    }

    /// Returns the number of links.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// True if there are no links.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }
}

/// An engine under LinkBench. Several clients use it at the same time, and each request is atomic and
/// isolated from all other requests.
///
/// A node exists while it has bytes. Links lead between nodes that exist or not: the removal of a node leaves
/// its links.
#[allow(clippy::missing_errors_doc, reason = "all of them fail where the engine does")]
pub trait LinkStore: Send + Sync {
    /// Adds nodes `first..` with their bytes, during loading.
    fn load_nodes(&self, first: u64, data: &[Vec<u8>]) -> Result<()>;
    /// Adds links, none of them twice, during loading.
    fn load_links(&self, links: &[Link<'_>]) -> Result<()>;
    /// Ends the loading, and brings the loaded data into the form for reads.
    fn finish_loading(&self) -> Result<()>;
    /// Adds a node. Returns its number, which is new.
    fn add_node(&self, data: &[u8]) -> Result<u64>;
    /// Gives a node new bytes, if it exists. Returns whether the node exists.
    fn update_node(&self, node: u64, data: &[u8]) -> Result<bool>;
    /// Removes a node. Returns whether it existed.
    fn delete_node(&self, node: u64) -> Result<bool>;
    /// Copies the bytes of a node to `data`, which is empty. Returns whether the node exists.
    fn get_node(&self, node: u64, data: &mut Vec<u8>) -> Result<bool>;
    /// Adds a link, or gives an existing link these bytes and this time. Returns whether the link is new.
    fn put_link(&self, link: Link<'_>) -> Result<bool>;
    /// Removes a link. Returns whether it existed.
    fn delete_link(&self, src: u64, kind: u32, dst: u64) -> Result<bool>;
    /// Finds the existing links to these targets, in the order of the targets.
    fn get_links(&self, src: u64, kind: u32, targets: &[u64], found: &mut Found) -> Result<()>;
    /// Finds the links with the greatest times, at most `limit`, newest first.
    fn newest_links(&self, src: u64, kind: u32, limit: usize, found: &mut Found) -> Result<()>;
    /// Returns the number of links.
    fn count_links(&self, src: u64, kind: u32) -> Result<u64>;
}

/// The options to open an engine.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// An empty directory.
    pub path: &'a Path,
    /// The first number that no loaded node has.
    pub nodes: u64,
    /// The number of link types.
    pub types: u32,
    /// True if each request is on stable media before its answer. If false, an engine with a log still writes
    /// it.
    pub durable: bool,
}

/// An engine.
#[derive(Clone, Copy)]
pub struct Rival {
    /// Its name in figures.
    pub name: &'static str,
    /// True if the engine can be durable. If false, it is measured only with requests that need not be
    /// durable.
    pub can_be_durable: bool,
    /// The function that opens the engine.
    pub open: fn(Open<'_>) -> Result<Box<dyn LinkStore>>,
}
