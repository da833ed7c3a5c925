//! Communities, as kernels give them.

/// A community for every vertex.
#[derive(Clone, Debug, PartialEq)]
pub struct Communities {
    /// The least vertex of the community of each vertex; [`NO_COMPONENT`](crate::NO_COMPONENT) for holes.
    pub labels: Vec<u32>,
    /// How much more lies inside than edges at random would.
    pub modularity: f64,
}
