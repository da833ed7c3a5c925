//! What a reader should know first: the score of the store, and how the engines stand to each other.

use super::super::measure::Measurement;
use super::counted::counted;
use super::score::{Score, score};
use super::standing::{Standings, standings};
use crate::record::Record;

/// Both.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::paper) struct Summary {
    pub(super) score: Score,
    pub(super) standings: Standings,
}

/// The summary of all that was measured, each row once.
pub(in crate::paper) fn summary<'a>(
    measured: impl IntoIterator<Item = (Measurement, &'a [Record])>,
) -> Summary {
    let rows = counted(measured);
    Summary { score: score(&rows), standings: standings(&rows) }
}
