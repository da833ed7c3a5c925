//! The memory that a kernel takes at most, besides the graph.

use std::fmt;

/// An upper bound on the memory that a kernel has allocated at any time, with its result and without the
/// graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// Bytes for each id of the domain, holes included.
    pub per_id: u64,
    /// Bytes for each edge; an undirected edge is one.
    pub per_edge: u64,
    /// Bytes for each thread.
    pub per_thread: u64,
    /// Bytes for any graph.
    pub fixed: u64,
    /// A condition on the graph for this bound, if there is one.
    pub provided: &'static str,
}

/// The sizes on which [`Memory::bytes`] depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// One more than the largest vertex id that could be live.
    pub ids: u64,
    /// Edges; an undirected edge is one.
    pub edges: u64,
    /// Threads that compute.
    pub threads: u64,
}

impl Memory {
    /// Returns the bound of most kernels: `per_id` bytes for each id, 64 KiB for each thread, and 64 KiB
    /// once.
    pub(crate) const fn per_id(per_id: u64) -> Memory {
        Memory { per_id, per_edge: 0, per_thread: 64 << 10, fixed: 64 << 10, provided: "" }
    }

    /// Returns the bound for a graph of this size.
    pub fn bytes(&self, size: Size) -> u64 {
        let parts = [(self.per_id, size.ids), (self.per_edge, size.edges), (self.per_thread, size.threads)];
        let part = |(each, count): (u64, u64)| each.saturating_mul(count);
        parts.into_iter().map(part).fold(self.fixed, u64::saturating_add)
    }
}

impl fmt::Display for Memory {
    /// Writes the formula.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [(self.per_id, "vertices"), (self.per_edge, "edges"), (self.per_thread, "threads")];
        for (each, of) in parts.into_iter().filter(|(each, _)| *each > 0) {
            write!(f, "{} · {of} + ", Bytes(each))?;
        }
        write!(f, "{}", Bytes(self.fixed))
    }
}

/// A number of bytes, in the largest unit that divides it.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            bytes if bytes > 0 && bytes.is_multiple_of(1 << 20) => write!(f, "{} MiB", bytes >> 20),
            bytes if bytes > 0 && bytes.is_multiple_of(1 << 10) => write!(f, "{} KiB", bytes >> 10),
            bytes => write!(f, "{bytes}"),
        }
    }
}
