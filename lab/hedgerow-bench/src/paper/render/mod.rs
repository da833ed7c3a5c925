//! Our figures next to the published figures: as text, as a page, and as a summary.

mod bars;
mod counted;
mod drawing;
mod glossary;
mod lines;
mod page;
mod plot;
mod score;
mod standing;
mod summary;
mod text;

#[cfg(test)]
mod tests;

pub(super) use page::page;
pub(super) use summary::summary;
pub(super) use text::{print, print_summary};
