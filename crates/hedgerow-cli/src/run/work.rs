//! What a kernel of `run` works on, and where its full result goes.

use std::path::Path;
use std::time::Instant;

use hedgerow::{Snapshot, Topology, VertexId, VertexKey, View};
use hedgerow_kernels::registry::{Arguments, Outcome};
use hedgerow_kernels::{Cancel, KernelError};

use crate::error::CliError;
use crate::keys::parse_argument;
use crate::output::{Report, Style, quoted};
use crate::target::Target;

/// What a kernel works on, and where its result goes.
pub(super) struct Work<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// The labels whose edges are followed, if some are named, and the graph of these edges.
    pub(super) labels: &'a [String],
    pub(super) view: &'a View,
    pub(super) kind: hedgerow::KeyKind,
    /// Where the full result goes, if anywhere.
    pub(super) out: Option<&'a Path>,
    pub(super) style: Style,
}

impl Work<'_> {
    /// Runs the kernel; gives its result and how many milliseconds it took.
    pub(super) fn timed(&self, arguments: &Arguments) -> Result<(Outcome, f64), CliError> {
        let start = Instant::now();
        let outcome = arguments.run(self.view, &Cancel::new()).map_err(|error| match error {
            // Not the caller's mistake: the graph is not one for this algorithm.
            KernelError::Weight { from, to, weight } => {
                self.bad_weight(from, to, weight).unwrap_or_else(CliError::Store)
            }
            error => CliError::Usage(error.to_string()),
        })?;
        let milliseconds = (start.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        Ok((outcome, milliseconds))
    }

    fn bad_weight(&self, from: VertexId, to: VertexId, weight: f64) -> hedgerow::Result<CliError> {
        Ok(match (self.snapshot.vertex_key(from)?, self.snapshot.vertex_key(to)?) {
            (Some(from), Some(to)) => CliError::Failed(format!(
                "the edge between {from} and {to} weighs {weight}, expected 0 or more"
            )),
            _ => CliError::Failed(format!("an edge weighs {weight}, expected 0 or more")),
        })
    }

    /// The vertex that `argument` names as `text`.
    pub(super) fn vertex(&self, argument: &str, text: &str) -> Result<VertexId, CliError> {
        let key = parse_argument(self.kind, argument, text)?;
        let id = self.snapshot.vertex_id(&key)?;
        id.ok_or_else(|| CliError::Failed(format!("{argument}: no vertex {key} in the store")))
    }

    /// Whether standard output takes the full result, so that a summary has no place in it.
    pub(super) fn only_result(&self) -> bool {
        self.out.is_some_and(|path| path.as_os_str() == "-")
    }

    /// The report's first lines.
    pub(super) fn summary(&self, algorithm: &'static str, milliseconds: f64) -> Result<Report, CliError> {
        let report = Report::default().field("algorithm", algorithm);
        let named = self.labels.iter().any(|label| !label.is_empty());
        let report = if named { report.field("label", self.labels.join(", ")) } else { report };
        Ok(report
            .field("timestamp", self.snapshot.timestamp().0)
            .field("vertices", self.snapshot.vertex_count())
            .field("edges", self.view.edge_count())
            .field("milliseconds", milliseconds))
    }

    /// Writes a value for every vertex, by ascending vertex id, if the full result was asked for.
    pub(super) fn write_result<V: std::fmt::Display>(
        &self,
        value: impl Fn(VertexId) -> V,
    ) -> Result<(), CliError> {
        self.write_each(|id| Ok(value(id)))
    }

    /// As [`write_result`](Self::write_result), where finding a value may fail.
    pub(super) fn write_each<V: std::fmt::Display>(
        &self,
        value: impl Fn(VertexId) -> hedgerow::Result<V>,
    ) -> Result<(), CliError> {
        let Some(path) = self.out else { return Ok(()) };
        let csv = self.style == Style::Csv;
        let mut out = Target::open(Some(path))?;
        if csv {
            out.write(|w| writeln!(w, "key,value"))?;
        }
        for vertex in self.snapshot.vertices()? {
            let (id, key) = vertex?;
            let value = value(id)?;
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
