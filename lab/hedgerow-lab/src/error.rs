//! What containers refuse.

/// Why a container refuses something.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The container holds a graph that cannot change.
    #[error("this container takes no updates")]
    Static,
    /// An id that no vertex of the container can have.
    #[error("a vertex id is at most {most}, found {vertex}")]
    Vertex {
        /// The id.
        vertex: u32,
        /// The largest one.
        most: u32,
    },
    /// A weight that is not a number.
    #[error("the weight of the edge from {src} to {dst} is not a number")]
    Weight {
        /// The source of the edge.
        src: u32,
        /// Its destination.
        dst: u32,
    },
    /// As many snapshots are open as the container can keep apart.
    #[error("at most {slots} snapshots can be open at a time")]
    Readers {
        /// Their number.
        slots: usize,
    },
    /// A file or its directory could not be made, written or read.
    #[error("the container's files: {op}: {kind}")]
    Disk {
        /// What was tried.
        op: &'static str,
        /// What the system said of it.
        kind: std::io::ErrorKind,
    },
}
