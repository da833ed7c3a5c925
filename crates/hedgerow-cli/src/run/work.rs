//! The input of a kernel of `run`, and the destination of its full result.

use std::path::Path;
use std::time::Instant;

use hedgerow::{EdgeSelection, KernelView, KeyColumn, Schema, Snapshot, VertexId, VertexKeyRef};
use hedgerow_kernels::registry::{Arguments, Outcome, Parameter};
use hedgerow_kernels::{Cancel, KernelError, Pairs, Paths};
use serde_json::Value as Json;

use crate::error::CliError;
use crate::keys::{parse_argument, spelled, to_json};
use crate::output::{Cell, Report, Rows, Style, between_blanks, number};
use crate::progress::Steps;
use crate::show::Show;

/// The input of a kernel, and the destination of its result.
pub(super) struct Work<'a> {
    pub(super) snapshot: &'a Snapshot,
    /// The labels whose edges are followed; empty for all labels.
    pub(super) labels: &'a [String],
    /// The edges that are followed, with their direction. Their labels determine the kind of a vertex that is
    /// named without one.
    pub(super) ends: EdgeSelection<'a>,
    pub(super) view: &'a KernelView,
    pub(super) schema: &'a Schema,
    /// The type of the keys of the default kind.
    pub(super) keys: hedgerow::KeyKind,
    /// The path for the full result, if it was requested.
    pub(super) out: Option<&'a Path>,
    pub(super) style: Style,
    /// The properties of vertices that `--show` adds to results.
    pub(super) show: &'a Show,
}

impl Work<'_> {
    /// Runs the kernel; returns its result and its time in milliseconds.
    pub(super) fn timed(&self, arguments: &Arguments) -> Result<(Outcome, f64), CliError> {
        let start = Instant::now();
        let cancel = Cancel::new();
        let bar = Steps::new(arguments.kernel(), &cancel);
        let outcome = hedgerow_analytics::run(arguments, self.view, &cancel);
        drop(bar);
        let outcome = outcome.map_err(|error| match error.split() {
            // The arguments are valid, but the algorithm cannot run on this graph.
            Ok(KernelError::Weight { from, to, weight }) => {
                self.bad_weight(from, to, weight, "expected 0 or more").unwrap_or_else(CliError::Store)
            }
            Ok(KernelError::NotFinite { from, to, weight }) => {
                self.bad_weight(from, to, weight, "expected a finite number").unwrap_or_else(CliError::Store)
            }
            Ok(KernelError::Endless { from, to, weight }) => self
                .bad_weight(from, to, weight, KernelError::EXPECTED_OF_CYCLES)
                .unwrap_or_else(CliError::Store),
            Ok(KernelError::WeightSum { vertex, sum }) => {
                self.bad_sum(vertex, sum).unwrap_or_else(CliError::Store)
            }
            Ok(KernelError::NotBipartite { from, to }) => {
                self.not_bipartite(from, to).unwrap_or_else(CliError::Store)
            }
            Ok(error) => CliError::Usage(error.to_string()),
            Err(error) => CliError::Store(error),
        })?;
        let milliseconds = (start.elapsed().as_secs_f64() * 1e6).round() / 1e3;
        Ok((outcome, milliseconds))
    }

    fn bad_weight(
        &self,
        from: VertexId,
        to: VertexId,
        weight: f64,
        expected: &str,
    ) -> hedgerow::Result<CliError> {
        Ok(match (self.snapshot.vertex_key(from)?, self.snapshot.vertex_key(to)?) {
            (Some(from), Some(to)) => {
                let [from, to] = [from, to].map(|key| spelled(self.schema, key.as_ref()));
                CliError::Failed(format!("the edge between {from} and {to} weighs {weight}, {expected}"))
            }
            _ => CliError::Failed(format!("an edge weighs {weight}, {expected}")),
        })
    }

    fn bad_sum(&self, vertex: VertexId, sum: f64) -> hedgerow::Result<CliError> {
        let (name, expected) = (self.name(vertex)?, KernelError::EXPECTED_OF_SUMS);
        Ok(CliError::Failed(format!(
            "the weights of the edges from {name} sum to {sum:e}, expected {expected}"
        )))
    }

    /// Returns the key of a vertex in the form of arguments.
    fn name(&self, vertex: VertexId) -> hedgerow::Result<String> {
        let key = self.snapshot.vertex_key(vertex)?;
        Ok(key.map(|key| spelled(self.schema, key.as_ref())).unwrap_or_default())
    }

    fn not_bipartite(&self, from: VertexId, to: VertexId) -> hedgerow::Result<CliError> {
        let [from, to] = [self.name(from)?, self.name(to)?];
        Ok(CliError::Failed(format!(
            "the graph is not bipartite: the edge between {from} and {to} closes a cycle of odd length"
        )))
    }

    /// Returns the vertex that a parameter names; `text` is the value of the parameter.
    pub(super) fn vertex(&self, parameter: &Parameter, text: &str) -> Result<VertexId, CliError> {
        let argument = format!("--{}", parameter.name);
        let key = parse_argument(self.schema, self.keys, &argument, text)?;
        let id = match parameter.is_end() {
            true => self.ends.clone().turned().kernel_vertex(self.snapshot, &key)?,
            false => self.ends.kernel_vertex(self.snapshot, &key)?,
        };
        let shown = || spelled(self.schema, key.as_ref());
        id.ok_or_else(|| CliError::Failed(format!("{argument}: no vertex {} in the store", shown())))
    }

    /// True if vertices have kinds. Results then show the kinds.
    pub(super) fn has_kinds(&self) -> bool {
        !self.schema.kinds().is_empty()
    }

    /// True if the full result goes to standard output, so that the summary is not printed.
    pub(super) fn only_result(&self) -> bool {
        self.out.is_some_and(|path| path.as_os_str() == "-")
    }

    /// Returns a report with its first lines.
    pub(super) fn summary(&self, algorithm: &'static str, milliseconds: f64) -> Result<Report, CliError> {
        let report = Report::default().field("algorithm", algorithm);
        let named = self.labels.iter().any(|label| !label.is_empty());
        let report = if named { report.field("label", self.labels.join(", ")) } else { report };
        Ok(report
            .field("timestamp", self.snapshot.timestamp().0)
            .field("vertices", self.view.vertex_count() as u64)
            .field("edges", self.view.edge_count())
            .field("milliseconds", milliseconds))
    }

    /// Returns the vertices of the graph, by ascending vertex id, and their keys.
    fn vertices(&self) -> hedgerow::Result<(Vec<VertexId>, KeyColumn)> {
        let ids: Vec<VertexId> = self.view.vertices().collect();
        let keys = self.snapshot.vertex_keys(&ids)?;
        Ok((ids, keys))
    }

    /// Writes a value for every vertex, by ascending vertex id, if the full result was requested.
    pub(super) fn write_result(&self, value: impl Fn(VertexId) -> Cell) -> Result<(), CliError> {
        if self.out.is_none() {
            return Ok(());
        }
        let (ids, keys) = self.vertices()?;
        self.write_rows(&keys, ids.into_iter().map(value))
    }

    /// Writes a vertex for every vertex, like [`write_result`](Self::write_result): its key is the value.
    pub(super) fn write_vertices(&self, vertex: impl Fn(VertexId) -> VertexId) -> Result<(), CliError> {
        if self.out.is_none() {
            return Ok(());
        }
        let (mut ids, keys) = self.vertices()?;
        ids.iter_mut().for_each(|id| *id = vertex(*id));
        let values = self.snapshot.vertex_keys(&ids)?;
        self.write_rows(&keys, values.iter().map(|key| self.named(key)))
    }

    /// Writes values that are vertices, like [`write_vertices`](Self::write_vertices), but only for vertices
    /// that have one.
    pub(super) fn write_some_vertices(
        &self,
        vertex: impl Fn(VertexId) -> Option<VertexId>,
    ) -> Result<(), CliError> {
        if self.out.is_none() {
            return Ok(());
        }
        let found = self.view.vertices().filter_map(|id| Some((id, vertex(id)?)));
        let (ids, values): (Vec<VertexId>, Vec<VertexId>) = found.unzip();
        let (keys, values) = (self.snapshot.vertex_keys(&ids)?, self.snapshot.vertex_keys(&values)?);
        self.write_rows(&keys, values.iter().map(|key| self.named(key)))
    }

    /// Writes all paths, if the full result was requested: the length of a path and its keys; in CSV each
    /// vertex of a path has a row.
    pub(super) fn write_paths(&self, paths: &Paths) -> Result<(), CliError> {
        if self.out.is_none() {
            return Ok(());
        }
        let columns: &[&str] =
            if self.style == Style::Csv { &["path", "step", "key"] } else { &["length", "path"] };
        let mut out = Rows::begin(self.style, self.out, &self.columns(columns))?;
        for (at, (path, length)) in paths.iter().enumerate() {
            let keys = self.snapshot.vertex_keys(path)?;
            match self.style {
                Style::Text => {
                    let names: Vec<String> = keys.iter().map(|key| spelled(self.schema, key)).collect();
                    let names = Cell::Key(between_blanks(&names).into());
                    out.write(&[Cell::Key(length.to_string().into()), names])?;
                }
                Style::Json => {
                    let mut row =
                        vec![Cell::Value(number(length)), list(keys.iter().map(|key| self.json(key)))];
                    let mut shown = vec![Vec::new(); self.show.columns("", &[]).len()];
                    for key in keys.iter() {
                        let values = self.show.values(self.snapshot, key)?;
                        shown.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
                    }
                    row.extend(shown.into_iter().map(list));
                    out.write(&row)?;
                }
                Style::Csv => {
                    for (step, key) in keys.iter().enumerate() {
                        let place = [at, step].map(|number| Cell::Value(number.into()));
                        let cells = place.into_iter().chain([self.named(key)]).chain(self.shown(key)?);
                        out.write(&cells.collect::<Vec<_>>())?;
                    }
                }
            }
        }
        out.finish()
    }

    /// Writes all pairs, if the full result was requested: both keys and the number of each.
    pub(super) fn write_pairs(&self, pairs: &Pairs) -> Result<(), CliError> {
        if self.out.is_none() {
            return Ok(());
        }
        let mut columns = ["from", "to", "value"].map(str::to_owned).to_vec();
        ["from", "to"].iter().for_each(|end| columns.extend(self.show.columns(end, &[])));
        let mut out = Rows::begin(self.style, self.out, &columns)?;
        let (from, to) = (self.snapshot.vertex_keys(pairs.from())?, self.snapshot.vertex_keys(pairs.to())?);
        for ((from, to), value) in from.iter().zip(to.iter()).zip(pairs.values()) {
            let mut row = vec![self.named(from), self.named(to), Cell::Exponent(*value)];
            row.extend(self.shown(from)?);
            row.extend(self.shown(to)?);
            out.write(&row)?;
        }
        out.finish()
    }

    fn write_rows(&self, keys: &KeyColumn, values: impl Iterator<Item = Cell>) -> Result<(), CliError> {
        // A line of text names a vertex by one word.
        let kinds = self.has_kinds() && self.style != Style::Text;
        let columns: &[&str] = if kinds { &["kind", "key", "value"] } else { &["key", "value"] };
        let mut out = Rows::begin(self.style, self.out, &self.columns(columns))?;
        for (key, value) in keys.iter().zip(values) {
            let name = match kinds {
                true => {
                    let kind = Cell::Value(self.schema.kind_name(key.kind()).into());
                    vec![kind, Cell::Key(to_json(&key.to_owned()))]
                }
                false => vec![self.named(key)],
            };
            let cells = name.into_iter().chain([value]).chain(self.shown(key)?);
            out.write(&cells.collect::<Vec<_>>())?;
        }
        out.finish()
    }

    /// Returns the key of a vertex in the form of arguments.
    fn named(&self, key: VertexKeyRef<'_>) -> Cell {
        Cell::Key(self.json(key))
    }

    fn json(&self, key: VertexKeyRef<'_>) -> Json {
        match key {
            _ if self.has_kinds() => spelled(self.schema, key).into(),
            VertexKeyRef::U64(number) => number.into(),
            other => to_json(&other.to_owned()),
        }
    }

    /// Returns these columns and the columns of `--show`.
    fn columns(&self, columns: &[&str]) -> Vec<String> {
        let shown = self.show.columns("", columns);
        columns.iter().map(|&column| column.to_owned()).chain(shown).collect()
    }

    /// Returns the last fields of a vertex's row: the values of the properties of `--show`.
    fn shown(&self, key: VertexKeyRef<'_>) -> hedgerow::Result<impl Iterator<Item = Cell> + use<>> {
        let values = if self.show.is_empty() { Vec::new() } else { self.show.values(self.snapshot, key)? };
        Ok(values.into_iter().map(Cell::Value))
    }
}

fn list(values: impl IntoIterator<Item = Json>) -> Cell {
    Cell::Value(Json::Array(values.into_iter().collect()))
}
