//! The arguments of `run`.

use std::path::PathBuf;

use clap::ArgMatches;
use hedgerow_kernels::registry::Kernel;

use crate::selection::Chosen;
use crate::show::Show;
use crate::size::bytes;

/// Arguments of `run`: a kernel, and the options given for it.
pub(crate) struct RunArgs {
    pub(super) kernel: &'static Kernel,
    pub(super) matches: ArgMatches,
}

/// The graph to compute on, and the resources to use.
#[derive(clap::Args)]
pub(super) struct Machine {
    /// The directory of the store
    pub(super) store: PathBuf,
    #[command(flatten)]
    pub(super) chosen: Chosen,
    /// Compute on the vertices of this kind; several may be given; "" is the default kind [default: the kinds
    /// that the given labels state for their ends; all kinds if one of them states none, or no label is
    /// given]
    #[arg(long, value_name = "KIND")]
    pub(super) kinds: Vec<String>,
    /// Threads to compute with; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) threads: Option<u16>,
    /// The most memory that the store may take, as 8GiB; data that does not fit is read from its files as
    /// needed
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(super) memory_limit: Option<u64>,
}

/// Arguments of all kernels whose results have rows.
#[derive(clap::Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) machine: Machine,
    /// Write the full result to this file, or to standard output for `-`, then without the summary. A line
    /// has `KEY VALUE` (with --csv `KEY,VALUE`); for paths `LENGTH KEY KEY ...` (`PATH,STEP,KEY`), for pairs
    /// `KEY KEY VALUE`; with --json it is an object
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
    /// Rows of the summary's table
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(super) top: usize,
    #[command(flatten)]
    pub(super) show: Show,
    /// Write the full result in the conventions of LDBC Graphalytics
    #[arg(long, conflicts_with = "show")]
    pub(super) graphalytics: bool,
}
