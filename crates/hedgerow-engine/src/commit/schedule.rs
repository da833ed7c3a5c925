//! Which of the schedules of a commit a transaction takes.

use super::request::{Outcome, Request};
use super::{batch, general};
use crate::error::{Error, Result};
use crate::state::store::Engine;

/// Commits up to and including the mark in the ring: by the batch where the transaction is large and blind, else by the general
/// schedule. Blocks for other committers of the same subgraphs.
///
/// # Errors
/// Those of [`WriteTxn::commit`](super::txn::WriteTxn::commit).
pub(crate) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Outcome> {
    let batched = batch::commit_unpublished(engine, request);
    let committed = match batched {
        Ok(None) => general::commit_unpublished(engine, request),
        Ok(Some(outcome)) => Ok(outcome),
        Err(error) => Err(error),
    };
    committed.map_err(Error::of_commit)
}
