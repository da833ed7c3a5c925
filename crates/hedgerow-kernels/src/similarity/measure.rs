//! The vertices that are compared, and the measure.

use hedgerow_core::VertexId;

/// The vertices that a call compares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Compared {
    /// The given pairs, in this order.
    Pairs(Vec<(VertexId, VertexId)>),
    /// Each source with all other vertices, of which the most similar ones are returned.
    Nearest {
        /// The sources.
        sources: Vec<VertexId>,
        /// The most vertices for each source, 1 or more.
        k: u32,
    },
}

/// The measure of similarity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    Jaccard,
    AdamicAdar,
}

/// The factor that turns a weight of Adamic and Adar, 1/ln(degree), into an integer. It is so large that the
/// integer loses no bit of the weight of any 32-bit degree.
const PARTS: f64 = (1u64 << 60) as f64;

impl Measure {
    /// Returns the weight of a shared neighbour of this degree.
    pub(super) fn weight(self, degree: usize) -> u64 {
        match self {
            Measure::Jaccard => 1,
            Measure::AdamicAdar if degree < 2 => 0,
            Measure::AdamicAdar => (PARTS / (degree as f64).ln()) as u64,
        }
    }

    /// Returns the score of two vertices from the sum of the weights of the neighbours that they share.
    /// `together` is the number of neighbours that they have together.
    pub(super) fn score(self, sum: u128, together: usize) -> f64 {
        match self {
            Measure::Jaccard if together == 0 => 0.0,
            Measure::Jaccard => sum as f64 / together as f64,
            Measure::AdamicAdar => sum as f64 / PARTS,
        }
    }
}
