//! A drawing, and what every kind of chart asks of its figures.

use super::glossary::ENGINES;
use super::lines::is_rate;
use crate::record::Record;
use hedgerow_report::COLORS;

/// A drawing with the words above it.
pub(super) struct Drawing {
    pub(super) title: String,
    pub(super) svg: String,
}

/// The engines in the order in which they were measured.
pub(super) fn engines<'a>(records: impl Iterator<Item = &'a Record>) -> Vec<&'a str> {
    let mut engines: Vec<&str> = Vec::new();
    for record in records {
        if !engines.contains(&record.engine.as_str()) {
            engines.push(&record.engine);
        }
    }
    engines
}

/// Which way is better.
pub(super) fn direction(unit: &str) -> &'static str {
    if is_rate(unit) { "more is better" } else { "less is better" }
}

/// The colors of these engines or forms, by number: an engine has one in all charts, unless several forms of
/// it stand in this one.
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
