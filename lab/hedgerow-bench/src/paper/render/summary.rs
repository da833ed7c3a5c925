//! The facts for a reader to know first: the score of the store, and the standings of the engines.

use super::super::measure::Measurement;
use super::counted::counted;
use super::score::{Score, score};
use super::standing::{Standings, standings};
use crate::record::Record;

/// The score of the store, and the standings of the engines.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::paper) struct Summary {
    pub(super) score: Score,
    pub(super) standings: Standings,
}

/// Makes the summary of all measurements; each row counts once.
pub(in crate::paper) fn summary<'a>(
    measured: impl IntoIterator<Item = (Measurement, &'a [Record])>,
) -> Summary {
    let rows = counted(measured);
    Summary { score: score(&rows), standings: standings(&rows) }
}
