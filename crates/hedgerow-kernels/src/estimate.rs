//! Results that take a search from each vertex: exact by searches from all of them if that is affordable,
//! else estimated from a sample.

/// The greatest product of vertices with edges and edges for which a kernel without `samples` is exact:
/// seconds on a processor.
pub const AFFORDABLE: u64 = 1_000_000_000;

/// The greatest product of vertices with edges and ids of the store for which a kernel without `samples` is
/// exact. A search clears an array of all ids, even if few of the ids have edges in the graph.
pub const AFFORDABLE_IDS: u64 = 10_000_000_000;

/// The searches of an estimate by default.
pub const SAMPLES: u32 = 64;

/// The extent of the sample of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    /// The number of searches that the kernel made.
    pub samples: u64,
    /// The number of searches of an exact result: one from each vertex with edges.
    pub of: u64,
}

impl Estimate {
    /// Returns the greatest error of the number of one vertex, as a share of the largest number that it could
    /// have. The error is no larger with a probability of 95 %, by Hoeffding's inequality: 0.17 for 64
    /// searches, 0.043 for 1,000.
    pub fn bound(&self) -> f64 {
        const PROBABILITY: f64 = 0.05;
        ((2.0 / PROBABILITY).ln() / (2.0 * self.samples as f64)).sqrt()
    }
}

/// The number of each vertex, and the extent of the sample if the numbers are estimates.
pub(crate) type Estimated = (Vec<f64>, Option<Estimate>);
