//! What a kernel of `run` works on, and where its full result goes.

use std::io::{self, Write};
use std::path::Path;
use std::time::Instant;

use hedgerow::{Schema, Snapshot, Topology, VertexId, VertexKey, VertexKeyRef, View};
use hedgerow_kernels::registry::{Arguments, Outcome};
use hedgerow_kernels::{Cancel, KernelError};

use crate::error::CliError;
use crate::keys::{parse_argument, spelled};
use crate::output::{Report, Style, quoted};
use crate::target::Target;

/// What a kernel works on, and where its result goes.
pub(super) struct Work<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// The label whose edges are followed, and its view if it is not the default one.
    pub(super) label: &'a str,
    pub(super) own: Option<&'a View>,
    pub(super) schema: &'a Schema,
    /// The type of keys of the default kind.
    pub(super) keys: hedgerow::KeyKind,
    /// Where the full result goes, if anywhere.
    pub(super) out: Option<&'a Path>,
    pub(super) style: Style,
}

impl Work<'_> {
    /// The graph to compute on.
    pub(super) fn view(&self) -> Result<&View, CliError> {
        Ok(match self.own {
            Some(own) => own,
            None => self.snapshot.view()?,
        })
    }

    /// Runs the kernel on a view that is there already; gives its result and how many milliseconds it took.
    pub(super) fn timed(&self, arguments: &Arguments, view: &View) -> Result<(Outcome, f64), CliError> {
        let start = Instant::now();
        let outcome = arguments.run(view, &Cancel::new()).map_err(|error| match error {
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
            (Some(from), Some(to)) => {
                let [from, to] = [from, to].map(|key| spelled(self.schema, key.as_ref()));
                CliError::Failed(format!(
                    "the edge between {from} and {to} weighs {weight}, expected 0 or more"
                ))
            }
            _ => CliError::Failed(format!("an edge weighs {weight}, expected 0 or more")),
        })
    }

    /// The vertex that `argument` names as `text`.
    pub(super) fn vertex(&self, argument: &str, text: &str) -> Result<VertexId, CliError> {
        let key = parse_argument(self.schema, self.keys, argument, text)?;
        let id = self.snapshot.vertex_id(&key)?;
        let shown = || spelled(self.schema, key.as_ref());
        id.ok_or_else(|| CliError::Failed(format!("{argument}: no vertex {} in the store", shown())))
    }

    /// Whether vertices have kinds, which results then tell.
    pub(super) fn has_kinds(&self) -> bool {
        !self.schema.kinds().is_empty()
    }

    /// Whether standard output takes the full result, so that a summary has no place in it.
    pub(super) fn only_result(&self) -> bool {
        self.out.is_some_and(|path| path.as_os_str() == "-")
    }

    /// The report's first lines.
    pub(super) fn summary(&self, algorithm: &'static str, milliseconds: f64) -> Result<Report, CliError> {
        let report = Report::default().field("algorithm", algorithm);
        let report = if self.label.is_empty() { report } else { report.field("label", self.label) };
        Ok(report
            .field("timestamp", self.snapshot.timestamp().0)
            .field("vertices", self.snapshot.vertex_count())
            .field("edges", self.view()?.edge_count())
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
            let kind = if self.has_kinds() { "kind," } else { "" };
            out.write(|w| writeln!(w, "{kind}key,value"))?;
        }
        for vertex in self.snapshot.vertices()? {
            let (id, key) = vertex?;
            let value = value(id)?;
            out.write(|w| match (&key, csv) {
                (key, _) if self.has_kinds() => self.write_of_kind(w, key.as_ref(), &value.to_string()),
                (VertexKey::U64(n), false) => writeln!(w, "{n} {value}"),
                (VertexKey::U64(n), true) => writeln!(w, "{n},{value}"),
                (key, false) => writeln!(w, "{key} {value}"),
                (key, true) => {
                    writeln!(w, "{},{}", quoted(&key.to_string(), b','), quoted(&value.to_string(), b','))
                }
            })?;
        }
        out.finish()
    }

    /// Writes the value of a vertex in a store with kinds.
    fn write_of_kind(&self, out: &mut dyn Write, key: VertexKeyRef<'_>, value: &str) -> io::Result<()> {
        if self.style != Style::Csv {
            return writeln!(out, "{} {value}", spelled(self.schema, key));
        }
        let (kind, key) = key.split();
        let (kind, key) = (self.schema.kind_name(kind), key.to_string());
        let [kind, key, value] = [kind, &key, value].map(|text| quoted(text, b','));
        writeln!(out, "{kind},{key},{value}")
    }
}
