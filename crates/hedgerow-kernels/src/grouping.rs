//! Communities, as kernels give them.

/// A community for every vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Communities {
    /// The least vertex of the community of each vertex; [`NO_COMPONENT`](crate::NO_COMPONENT) for holes.
    pub labels: Vec<u32>,
    /// The modularity: the weight inside communities, beyond that of edges at random, as a share.
    pub modularity: f64,
}
