//! The errors of containers.

/// The reason why a container refuses a request.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum LabError {
    /// The container holds a graph that cannot change.
    #[error("this container takes no updates")]
    Static,
    /// A vertex id above the largest id of the container.
    #[error("a vertex id is at most {most}, found {vertex}")]
    Vertex {
        /// The refused id.
        vertex: u32,
        /// The largest id.
        most: u32,
    },
    /// A weight that is not a number.
    #[error("the weight of the edge from {src} to {dst} is not a number")]
    Weight {
        /// The source of the edge.
        src: u32,
        /// The destination of the edge.
        dst: u32,
    },
    /// The maximum number of snapshots is open.
    #[error("at most {slots} snapshots can be open at a time")]
    Readers {
        /// The maximum number.
        slots: usize,
    },
    /// Making, writing or reading a file or its directory failed.
    #[error("the container's files: {op}: {kind}")]
    Disk {
        /// The operation that failed.
        op: &'static str,
        /// The kind of error that the system returned.
        kind: std::io::ErrorKind,
    },
}
