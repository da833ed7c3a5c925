//! The benchmark suites.
use crate::failure::Result;
use std::path::{Path, PathBuf};
#[derive(Debug, clap::Args)]
pub(crate) struct SuiteOptions {
    #[arg(long)]
    json: Option<PathBuf>,
}
pub(crate) fn analytics(_: &SuiteOptions) -> Result<()> {
    Ok(())
}
pub(crate) fn insert(_: &SuiteOptions) -> Result<()> {
    Ok(())
}
pub(crate) fn recovery(_: &SuiteOptions) -> Result<()> {
    Ok(())
}
pub(crate) fn report(_: &[PathBuf], _: &Path) -> Result<()> {
    Ok(())
}
