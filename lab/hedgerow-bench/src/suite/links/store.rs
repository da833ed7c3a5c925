//! What LinkBench asks of an engine.

use std::path::Path;

use hedgerow_report::failure::Failure;

type Result<T> = std::result::Result<T, Failure>;

/// A link: at most one of a type leads from one node to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link<'a> {
    /// The source.
    pub src: u64,
    /// The type.
    pub kind: u32,
    /// The destination.
    pub dst: u64,
    /// When it was last put; the newest links of a node are those with the greatest times.
    pub time: u64,
    /// Its bytes.
    pub data: &'a [u8],
}

/// Links that were found. Its memory is used again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Destination, time, and the end of its bytes.
    links: Vec<(u64, u64, usize)>,
    data: Vec<u8>,
}

impl Found {
    /// Forgets all.
    pub fn clear(&mut self) {
        self.links.clear();
        self.data.clear();
    }

    /// Adds a link.
    pub fn push(&mut self, dst: u64, time: u64, data: &[u8]) {
        self.data.extend_from_slice(data);
        self.links.push((dst, time, self.data.len()));
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.links.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.links.is_empty()
    }
}

/// An engine under LinkBench: used by several clients at a time, each request atomic and isolated from all
/// others.
///
/// A node exists while it has bytes. Links lead between nodes that exist or not; removing a node leaves them.
#[allow(clippy::missing_errors_doc, reason = "all of them fail where the engine does")]
pub trait LinkStore: Send + Sync {
    /// Adds nodes `first..`, with their bytes. While loading.
    fn load_nodes(&self, first: u64, data: &[Vec<u8>]) -> Result<()>;
    /// Adds links, none of them twice. While loading.
    fn load_links(&self, links: &[Link<'_>]) -> Result<()>;
    /// Ends the loading, and brings what was loaded into the form in which it is read.
    fn finish_loading(&self) -> Result<()>;
    /// Adds a node. Returns its number, which no other had.
    fn add_node(&self, data: &[u8]) -> Result<u64>;
    /// Gives a node new bytes, if it exists. Returns whether it does.
    fn update_node(&self, node: u64, data: &[u8]) -> Result<bool>;
    /// Removes a node. Returns whether it existed.
    fn delete_node(&self, node: u64) -> Result<bool>;
    /// Copies the bytes of a node to `data`, which is empty. Returns whether it exists.
    fn get_node(&self, node: u64, data: &mut Vec<u8>) -> Result<bool>;
    /// Adds a link, or gives one that exists these bytes and this time. Returns whether it is new.
    fn put_link(&self, link: Link<'_>) -> Result<bool>;
    /// Removes a link. Returns whether it existed.
    fn delete_link(&self, src: u64, kind: u32, dst: u64) -> Result<bool>;
    /// Finds those links to these targets that exist, in their order.
    fn get_links(&self, src: u64, kind: u32, targets: &[u64], found: &mut Found) -> Result<()>;
    /// Finds the links with the greatest times, at most `limit`, newest first.
    fn newest_links(&self, src: u64, kind: u32, limit: usize, found: &mut Found) -> Result<()>;
    /// The number of links.
    fn count_links(&self, src: u64, kind: u32) -> Result<u64>;
}

/// How an engine is opened.
#[derive(Clone, Copy, Debug)]
pub struct Open<'a> {
    /// An empty directory.
    pub path: &'a Path,
    /// The first number that no node which is loaded has.
    pub nodes: u64,
    /// The number of link types.
    pub types: u32,
    /// Whether each request is on stable media before it is answered. If not, a log is written all the same,
    /// where there is one.
    pub durable: bool,
}

/// An engine.
#[derive(Clone, Copy)]
pub struct Rival {
    /// Its name in figures.
    pub name: &'static str,
    /// Whether it can be durable; one that cannot is measured only where requests need not be.
    pub can_be_durable: bool,
    /// Opens it.
    pub open: fn(Open<'_>) -> Result<Box<dyn LinkStore>>,
}
