//! `hedgerow run tc`.

use super::work::{Machine, Work};
use crate::error::CliError;
use crate::output::Report;

/// Arguments of `run tc`.
#[derive(clap::Args)]
pub(super) struct TriangleArgs {
    #[command(flatten)]
    pub(super) machine: Machine,
}

/// The number of triangles.
pub(super) fn tc(work: &Work<'_>) -> Result<Report, CliError> {
    let (triangles, milliseconds) = work.timed(|| hedgerow_kernels::triangle_count(work.view()))?;
    Ok(work.summary("tc", milliseconds).field("triangles", triangles))
}
