//! Which of the schedules of a commit a transaction takes.

use super::request::{Outcome, Request};
use super::{batch, general};
use crate::error::Result;
use crate::state::store::Engine;

/// Commits up to and including the mark in the ring: by the batch where the transaction is large and blind, else by the general
/// schedule. Blocks for other committers of the same subgraphs.
pub(crate) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Outcome> {
    match batch::commit_unpublished(engine, request)? {
        Some(outcome) => Ok(outcome),
        None => general::commit_unpublished(engine, request),
    }
}
