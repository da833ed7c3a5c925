//! The arguments of `run`.

use std::path::PathBuf;

use clap::ArgMatches;
use hedgerow_kernels::registry::Kernel;

use crate::selection::Chosen;
use crate::show::Show;
use crate::size::bytes;

/// Arguments of `run`: a kernel, and what was given of its options.
pub(crate) struct RunArgs {
    pub(super) kernel: &'static Kernel,
    pub(super) matches: ArgMatches,
}

/// The graph to compute on, and the parameters.
#[derive(clap::Args)]
pub(super) struct Machine {
    /// The directory of the store
    pub(super) store: PathBuf,
    #[command(flatten)]
    pub(super) chosen: Chosen,
    /// Compute on the vertices of this kind; several may be given; "" is the default kind [default: the kinds
    /// that the labels state of their ends; all where one of them states none, or no label is given]
    #[arg(long, value_name = "KIND")]
    pub(super) kinds: Vec<String>,
    /// Threads to compute with; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    pub(super) threads: Option<u16>,
    /// The most memory that the store may take, as 8GiB: it reads the rest from its files as needed
    #[arg(long, value_name = "SIZE", value_parser = bytes)]
    pub(super) memory_limit: Option<u64>,
}

/// Arguments that all kernels share whose results have rows.
#[derive(clap::Args)]
pub(super) struct Common {
    #[command(flatten)]
    pub(super) machine: Machine,
    /// Write the full result to this file, `KEY VALUE` a line (`KEY,VALUE` with --csv), of paths
    /// `LENGTH KEY KEY ...` (`PATH,STEP,KEY`), of pairs `KEY KEY VALUE`; `-` for standard output, then
    /// without the summary
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
