//! What an algorithm works on and with, and where its result goes.

use std::path::{Path, PathBuf};
use std::time::Instant;

use hedgerow::{LabelId, Snapshot, Topology, VertexId, VertexKey, View};
use hedgerow_kernels::KernelError;

use crate::error::CliError;
use crate::keys::parse_argument;
use crate::output::{Report, Style, quoted};
use crate::store::{label_to_read, open_read_only};
use crate::target::Target;

/// What to compute on, and with.
#[derive(clap::Args)]
pub(super) struct Machine {
    /// The directory of the store
    store: PathBuf,
    /// Follow the edges of this label; "" is the default label [default: the label of all edges]
    #[arg(long, value_name = "NAME")]
    label: Option<String>,
    /// Threads to compute with; all cores by default
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// Arguments that all algorithms with a value per vertex share.
#[derive(clap::Args)]
pub(super) struct Common {
    #[command(flatten)]
    machine: Machine,
    /// Write the full result to this file, `KEY VALUE` a line (`KEY,VALUE` with --csv); `-` for standard output, then
    /// without the summary
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Rows of the summary's table
    #[arg(long, value_name = "K", default_value_t = 10)]
    pub(super) top: usize,
    /// Write the full result in the conventions of LDBC Graphalytics
    #[arg(long)]
    pub(super) graphalytics: bool,
}

impl Common {
    pub(super) fn execute(
        &self,
        style: Style,
        algorithm: impl FnOnce(&Work<'_>) -> Result<Report, CliError> + Send,
    ) -> Result<(), CliError> {
        self.machine.execute(self.out.as_deref(), style, algorithm)
    }
}

impl Machine {
    pub(super) fn execute(
        &self,
        out: Option<&Path>,
        style: Style,
        algorithm: impl FnOnce(&Work<'_>) -> Result<Report, CliError> + Send,
    ) -> Result<(), CliError> {
        // Fewer threads than asked for, down to none: the result is the same.
        let pool = self.threads.and_then(|threads| {
            rayon::ThreadPoolBuilder::new().num_threads(usize::from(threads)).build().ok()
        });
        match pool {
            Some(pool) => pool.install(|| self.execute_here(out, style, algorithm)),
            None => hedgerow_par::run(|| self.execute_here(out, style, algorithm)),
        }
    }

    /// Executes in the pool that is current.
    fn execute_here(
        &self,
        out: Option<&Path>,
        style: Style,
        algorithm: impl FnOnce(&Work<'_>) -> Result<Report, CliError>,
    ) -> Result<(), CliError> {
        let graph = open_read_only(&self.store)?;
        let snapshot = graph.snapshot()?;
        let id = label_to_read(&snapshot, self.label.as_deref(), "")?;
        let label = snapshot.schema().find_label(id)?.name().clone();
        let own = (id != LabelId::DEFAULT).then(|| snapshot.view_of(id)).transpose()?;
        let (own, kind) = (own.as_deref(), graph.config().keys);
        let work = Work { snapshot: &snapshot, label: &label, own, kind, out, style };
        let report = algorithm(&work)?;
        if work.only_result() { Ok(()) } else { report.print(style) }
    }
}

/// What an algorithm works on, and where its result goes.
pub(super) struct Work<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// The label whose edges are followed, and its view if it is not the default one.
    pub(super) label: &'a str,
    own: Option<&'a View>,
    kind: hedgerow::KeyKind,
    /// Where the full result goes, if anywhere.
    out: Option<&'a Path>,
    style: Style,
}

impl Work<'_> {
    /// The graph to compute on.
    pub(super) fn view(&self) -> &View {
        self.own.unwrap_or_else(|| self.snapshot.view())
    }

    /// Calls the kernel; gives its result and how many milliseconds it took. The view is built before.
    pub(super) fn timed<T>(
        &self,
        kernel: impl FnOnce() -> Result<T, KernelError>,
    ) -> Result<(T, f64), CliError> {
        self.view();
        let start = Instant::now();
        let result = kernel().map_err(|error| match error {
            // Not the caller's mistake: the graph is not one for this algorithm.
            KernelError::Weight { from, to, weight } => self.bad_weight(from, to, weight),
            error => CliError::Usage(error.to_string()),
        })?;
        let milliseconds = (start.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        Ok((result, milliseconds))
    }

    fn bad_weight(&self, from: VertexId, to: VertexId, weight: f64) -> CliError {
        match (self.snapshot.vertex_key(from), self.snapshot.vertex_key(to)) {
            (Some(from), Some(to)) => CliError::Failed(format!(
                "the edge between {from} and {to} weighs {weight}, expected 0 or more"
            )),
            _ => CliError::Failed(format!("an edge weighs {weight}, expected 0 or more")),
        }
    }

    /// The vertex that `argument` names as `text`.
    pub(super) fn vertex(&self, argument: &str, text: &str) -> Result<(VertexKey, VertexId), CliError> {
        let key = parse_argument(self.kind, argument, text)?;
        match self.snapshot.vertex_id(&key) {
            Some(id) => Ok((key, id)),
            None => Err(CliError::Failed(format!("{argument}: no vertex {key} in the store"))),
        }
    }

    /// Whether standard output takes the full result, so that a summary has no place in it.
    fn only_result(&self) -> bool {
        self.out.is_some_and(|path| path.as_os_str() == "-")
    }

    /// The report's first lines.
    pub(super) fn summary(&self, algorithm: &'static str, milliseconds: f64) -> Report {
        let report = Report::default().field("algorithm", algorithm);
        let report = if self.label.is_empty() { report } else { report.field("label", self.label) };
        report
            .field("timestamp", self.snapshot.timestamp().0)
            .field("vertices", self.snapshot.vertex_count())
            .field("edges", self.view().edge_count())
            .field("milliseconds", milliseconds)
    }

    /// Writes a value for every vertex, by ascending vertex id, if the full result was asked for.
    pub(super) fn write_result<V: std::fmt::Display>(
        &self,
        value: impl Fn(VertexId) -> V,
    ) -> Result<(), CliError> {
        let Some(path) = self.out else { return Ok(()) };
        let csv = self.style == Style::Csv;
        let mut out = Target::open(Some(path))?;
        if csv {
            out.write(|w| writeln!(w, "key,value"))?;
        }
        for (id, key) in self.snapshot.vertices() {
            let value = value(id);
            out.write(|w| match (&key, csv) {
                (VertexKey::U64(n), false) => writeln!(w, "{n} {value}"),
                (VertexKey::U64(n), true) => writeln!(w, "{n},{value}"),
                (VertexKey::Str(s), false) => writeln!(w, "{s} {value}"),
                (VertexKey::Str(s), true) => {
                    writeln!(w, "{},{}", quoted(s, b','), quoted(&value.to_string(), b','))
                }
            })?;
        }
        out.finish()
    }
}
