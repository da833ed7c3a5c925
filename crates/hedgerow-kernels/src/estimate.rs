//! Results that take a search from each vertex. If searches from all vertices are affordable, the result is
//! exact; else it is estimated from a sample.

/// The greatest work for which a kernel without `samples` is exact: the number of vertices that have edges,
/// times the number of edges. It takes seconds on a processor.
pub const AFFORDABLE: u64 = 1_000_000_000;

/// The greatest number of cleared entries for which a kernel without `samples` is exact: the number of
/// vertices that have edges, times the number of ids of the store. Each search clears an array of all ids,
/// even if few of the ids have edges in the graph.
pub const AFFORDABLE_IDS: u64 = 10_000_000_000;

/// The default number of searches for an estimate.
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
