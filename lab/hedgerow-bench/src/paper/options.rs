//! The options of the command `paper`.

use std::path::PathBuf;

use hedgerow_subjects::Engine;
use hedgerow_workload::GraphSpec;

use super::published::Paper;
use crate::suite::SuiteOptions;

/// The requested papers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Which(pub(super) Vec<Paper>);

impl std::str::FromStr for Which {
    type Err = String;

    fn from_str(text: &str) -> Result<Which, String> {
        if text == "all" {
            return Ok(Which(Paper::ALL.to_vec()));
        }
        let unknown = || {
            let names: Vec<&str> = Paper::ALL.iter().map(|paper| paper.name()).collect();
            format!(
                "{text:?} is no paper of which there are experiments: known are {}, and all",
                names.join(", ")
            )
        };
        Paper::parse(text).map(|paper| Which(vec![paper])).ok_or_else(unknown)
    }
}

/// The experiments to run, and their graph and engines.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct PaperOptions {
    /// The paper whose experiments are run: dgs, rapidstore, teseo, livegraph, lsmgraph, or all
    #[arg(long, value_name = "PAPER")]
    which: Which,
    /// Less of everything: kron:16 as the default graph, smaller sets, three rounds; all papers take less
    /// than an hour on two cores
    #[arg(long)]
    pub(super) quick: bool,
    /// The graph [default: kron:18; with --quick kron:16]
    #[arg(long, value_name = "G")]
    graph: Option<GraphSpec>,
    /// The maximum number of threads of kernels, writers and readers [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
    /// Measurements of each figure
    #[arg(long, default_value_t = 3, value_name = "R", value_parser = clap::value_parser!(u16).range(1..))]
    repeat: u16,
    /// Only these engines [default: all]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "ENGINE")]
    engines: Vec<Engine>,
    /// Only places whose names begin with PLACE, such as "table 5"
    #[arg(long, value_delimiter = ',', value_name = "PLACE")]
    pub(super) only: Vec<String>,
    /// Write an HTML page with tables and plots to this file
    #[arg(long, value_name = "FILE")]
    pub(super) report: Option<PathBuf>,
    /// Write one JSON object per figure to this file, or to the standard output
    #[arg(long, value_name = "FILE|-")]
    pub(super) json: Option<PathBuf>,
    /// The folder of LinkBench's stores, which are removed at the end
    #[arg(long, default_value = "target/bench", value_name = "DIR")]
    pub(super) dir: PathBuf,
}

impl PaperOptions {
    pub(super) fn papers(&self) -> &[Paper] {
        &self.which.0
    }

    /// True if a place is requested.
    pub(super) fn wants(&self, place: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|only| is_within(place, only))
    }

    /// Returns the options that the suites share.
    pub(super) fn shared(&self) -> SuiteOptions {
        let default = if self.quick { 16 } else { 18 };
        let kron = || GraphSpec::Kron { scale: default, edge_factor: hedgerow_workload::spec::EDGE_FACTOR };
        let engines = match self.engines.is_empty() {
            true => <Engine as clap::ValueEnum>::value_variants().to_vec(),
            false => self.engines.clone(),
        };
        SuiteOptions {
            graph: self.graph.clone().unwrap_or_else(kron),
            engines,
            threads: self.threads,
            repeat: self.repeat,
            weighted: false,
            only: Vec::new(),
            json: None,
            report: None,
            dir: self.dir.clone(),
        }
    }
}

/// True if `place` is `only`, or begins with it and continues with no digit: "table 1" does not include
/// "table 10".
fn is_within(place: &str, only: &str) -> bool {
    place.strip_prefix(only).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_digit()))
}
