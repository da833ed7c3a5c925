//! The choice of the way by which a transaction commits.

use hedgerow_catalog::error::{Error, Result};

use super::request::{Outcome, Request};
use super::{batch, few, general};
use crate::state::store::Engine;

/// Commits up to and including the mark in the ring. Blind transactions on a few plain edges commit by
/// [`few`], other blind ones as a batch, all others by the general way. Blocks for other committers of the
/// same subgraphs.
///
/// # Errors
/// Those of [`WriteTxn::commit`](super::txn::WriteTxn::commit).
pub(crate) fn commit_unpublished(engine: &Engine, request: &Request<'_>) -> Result<Outcome> {
    committed(engine, request).map_err(Error::of_commit)
}

fn committed(engine: &Engine, request: &Request<'_>) -> Result<Outcome> {
    for schedule in [few::commit_unpublished, batch::commit_unpublished] {
        if let Some(outcome) = schedule(engine, request)? {
            return Ok(outcome);
        }
    }
    general::commit_unpublished(engine, request)
}
