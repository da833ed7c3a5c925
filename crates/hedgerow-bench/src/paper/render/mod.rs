//! Our figures beside the published ones: as text, as a page, and as a score.

mod lines;
mod page;
mod plot;
mod score;
mod text;

#[cfg(test)]
mod tests;

pub(super) use page::page;
pub(super) use score::score;
pub(super) use text::{print, print_score};
