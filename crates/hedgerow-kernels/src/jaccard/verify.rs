//! Jaccard's coefficient by sets of neighbours.

use hedgerow_core::{Direction, Resident};

use crate::pairs::Pairs;
use crate::similarity::{Compared, Measure, verify};

/// Returns the scores of the given pairs, or the best ones of each source. All vertices are live.
pub fn jaccard<G: Resident>(g: &G, compared: &Compared, direction: Direction) -> Pairs {
    verify::compare(g, compared, Measure::Jaccard, direction)
}
