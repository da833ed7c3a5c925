//! A drawing, and the functions that all kinds of charts share.

use super::glossary::ENGINES;
use super::lines::is_rate;
use crate::record::Record;
use hedgerow_report::COLORS;

/// A drawing with the title above it.
pub(super) struct Drawing {
    pub(super) title: String,
    pub(super) svg: String,
}

/// Returns the engines in the order in which they were measured.
pub(super) fn engines<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<&'a str> {
    let mut engines: Vec<&str> = Vec::new();
    for record in records {
        if !engines.contains(&record.engine.as_str()) {
            engines.push(&record.engine);
        }
    }
    engines
}

/// Returns the better direction of a unit.
pub(super) fn direction(unit: &str) -> &'static str {
    if is_rate(unit) { "more is better" } else { "less is better" }
}

/// Returns the numbers of the colors of these engines or forms. An engine has the same color in all charts,
/// except in charts with several forms of one engine.
pub(super) fn colors(kinds: &[&str]) -> Vec<usize> {
    let containers: Vec<&str> =
        kinds.iter().map(|kind| kind.split([' ', ',']).next().unwrap_or_default()).collect();
    let is_several = |container: &&str| containers.iter().filter(|other| *other == container).count() > 1;
    if containers.iter().any(is_several) {
        return (0..kinds.len()).collect();
    }
    let number = |container: &&str| ENGINES.iter().position(|(name, _)| name == container);
    let known: Vec<Option<usize>> = containers.iter().map(number).collect();
    let others = (ENGINES.len()..COLORS.len()).chain(0..ENGINES.len());
    let mut free = others.filter(|number| !known.contains(&Some(*number)));
    known.iter().map(|known| known.or_else(|| free.next()).unwrap_or_default()).collect()
}
