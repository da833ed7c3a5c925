//! What is compared, and by which measure.

use hedgerow_core::VertexId;

/// What is compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// These pairs, in this order.
    Pairs(Vec<(VertexId, VertexId)>),
    /// Each of some vertices with all others, of which the most similar ones are wanted.
    Nearest {
        /// The vertices.
        sources: Vec<VertexId>,
        /// How many for each at most, 1 or more.
        k: u32,
    },
}

/// How similar two vertices are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Jaccard,
    AdamicAdar,
}

/// What one shared neighbour counts for in the sums of Adamic and Adar is a multiple of this part: no bit of 1/ln of a 32-bit number is lost.
const PARTS: f64 = (1u64 << 60) as f64;

impl Measure {
    /// What a shared neighbour of this degree counts for.
    pub(super) fn weight(self, degree: usize) -> u64 {
        match self {
            Measure::Jaccard => 1,
            Measure::AdamicAdar if degree < 2 => 0,
            Measure::AdamicAdar => (PARTS / (degree as f64).ln()) as u64,
        }
    }

    /// Returns the score of two vertices that have so many neighbours together, of the sum of what the shared
    /// ones count for.
    pub(super) fn score(self, sum: u128, together: usize) -> f64 {
        match self {
            Measure::Jaccard if together == 0 => 0.0,
            Measure::Jaccard => sum as f64 / together as f64,
            Measure::AdamicAdar => sum as f64 / PARTS,
        }
    }
}
