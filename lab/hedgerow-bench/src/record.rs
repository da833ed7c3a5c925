//! One measured figure, as a line of JSON and as a row of a table.

use std::fs::File;
use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use hedgerow_report::failure::{Context, Result};
use hedgerow_report::figures::{median, range, seconds};

mod origin;

pub(crate) use origin::Origin;

/// A figure: the median of several measurements of one metric on one engine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Record {
    pub(crate) suite: String,
    pub(crate) graph: String,
    pub(crate) engine: String,
    pub(crate) metric: String,
    pub(crate) value: f64,
    pub(crate) unit: String,
    pub(crate) threads: usize,
    /// The number of measurements.
    pub(crate) repeat: usize,
    pub(crate) min: f64,
    pub(crate) max: f64,
    /// The engine of the comparison, and the median of the ratios. Each ratio is of two values measured one
    /// after the other.
    pub(crate) ratio: Option<(String, f64)>,
}

impl Record {
    /// Returns one line of JSON, without the line end.
    pub(crate) fn to_line(&self, origin: &Origin) -> String {
        let (ratio_to, ratio) = self.ratio.clone().unzip();
        json!({
            "suite": self.suite, "graph": self.graph, "engine": self.engine, "metric": self.metric,
            "value": self.value, "unit": self.unit, "threads": self.threads, "repeat": self.repeat,
            "min": self.min, "max": self.max, "ratio_to": ratio_to, "ratio": ratio,
            "date": origin.date, "machine": origin.machine, "commit": origin.commit,
            "command": origin.command, "optimised": origin.is_optimised,
        })
        .to_string()
    }

    /// Reads a line that [`to_line`](Self::to_line) wrote; `None` for any other text.
    pub(crate) fn parse(line: &str) -> Option<Record> {
        let value: Value = serde_json::from_str(line).ok()?;
        let text = |name: &str| value[name].as_str().map(str::to_owned);
        let count = |name: &str| value[name].as_u64().map(|n| n as usize);
        Some(Record {
            suite: text("suite")?,
            graph: text("graph")?,
            engine: text("engine")?,
            metric: text("metric")?,
            value: value["value"].as_f64()?,
            unit: text("unit")?,
            threads: count("threads")?,
            repeat: count("repeat")?,
            min: value["min"].as_f64()?,
            max: value["max"].as_f64()?,
            ratio: text("ratio_to").zip(value["ratio"].as_f64()),
        })
    }

    /// Returns the value with its unit, for people.
    pub(crate) fn shown(&self) -> String {
        show(self.value, &self.unit)
    }

    /// Returns the value. Only times have their unit: a heading must name other units.
    pub(crate) fn brief(&self) -> String {
        match self.unit.as_str() {
            "s" => seconds(self.value),
            _ if self.value >= 1e6 => format!("{:.2} M", self.value / 1e6),
            _ if self.value >= 1e4 => format!("{:.1} k", self.value / 1e3),
            _ if self.value >= 100.0 => format!("{:.0}", self.value),
            _ => format!("{:.2}", self.value),
        }
    }

    fn row(&self) -> String {
        let ratio = self.ratio.as_ref().map_or(String::new(), |(to, r)| format!("  {r:.3} x {to}"));
        let (min, max) = (show(self.min, &self.unit), show(self.max, &self.unit));
        format!(
            "{:<9} {:<32} {:>2} threads  {:>14}  ({min} .. {max}){ratio}",
            self.engine,
            self.metric,
            self.threads,
            self.shown()
        )
    }
}

fn show(value: f64, unit: &str) -> String {
    match unit {
        "s" => seconds(value),
        _ if value >= 1e5 => format!("{:.3} M {unit}", value / 1e6),
        _ => format!("{value:.2} {unit}"),
    }
}

/// An output with a line of JSON for each record. Each line is flushed at once.
pub(crate) struct JsonLines {
    to: Box<dyn Write>,
    origin: Origin,
}

impl JsonLines {
    /// Opens a file, or the standard output for `-`.
    pub(crate) fn new(path: &Path) -> Result<JsonLines> {
        let to: Box<dyn Write> = match path == Path::new("-") {
            true => Box::new(std::io::stdout()),
            false => Box::new(File::create(path).context(path.display())?),
        };
        Ok(JsonLines { to, origin: Origin::of_this_run() })
    }

    pub(crate) fn write(&mut self, record: &Record) -> Result<()> {
        let line = record.to_line(&self.origin);
        writeln!(self.to, "{line}").and_then(|()| self.to.flush()).context("JSON output")
    }
}

/// The destination of the records of one run: a table on the standard error, and lines of JSON if requested.
pub(crate) struct Recorder {
    suite: &'static str,
    graph: String,
    json: Option<JsonLines>,
    records: Vec<Record>,
}

/// A metric's name, unit and number of threads.
#[derive(Clone, Copy)]
pub(crate) struct Metric<'a> {
    pub(crate) name: &'a str,
    pub(crate) unit: &'a str,
    pub(crate) threads: usize,
}

impl Recorder {
    /// Makes a recorder of `suite` on `graph`; `json` is a file, or `-` for the standard output.
    pub(crate) fn new(suite: &'static str, graph: String, json: Option<&Path>) -> Result<Recorder> {
        let json = json.map(JsonLines::new).transpose()?;
        eprintln!("{suite} on {graph}");
        Ok(Recorder { suite, graph, json, records: Vec::new() })
    }

    /// Records the measurements of `metric` on `engine`. With `reference`, also records the ratio to the
    /// measurements of the engine `csr`, measurement by measurement.
    pub(crate) fn add(
        &mut self,
        engine: &str,
        metric: Metric<'_>,
        measured: &[f64],
        reference: Option<&[f64]>,
    ) -> Result<()> {
        self.add_beside(engine, metric, measured, reference.map(|r| ("csr", r)))
    }

    /// Does the same as [`add`](Self::add), with the name of the engine that the ratio is to.
    pub(crate) fn add_beside(
        &mut self,
        engine: &str,
        metric: Metric<'_>,
        measured: &[f64],
        reference: Option<(&str, &[f64])>,
    ) -> Result<()> {
        let (min, max) = range(measured);
        let ratio = |(to, r): (&str, &[f64])| {
            let ratios: Vec<f64> = measured.iter().zip(r).map(|(mine, other)| mine / other).collect();
            (!ratios.is_empty()).then(|| (to.to_owned(), median(&ratios)))
        };
        let record = Record {
            suite: self.suite.to_owned(),
            graph: self.graph.clone(),
            engine: engine.to_owned(),
            metric: metric.name.to_owned(),
            value: median(measured),
            unit: metric.unit.to_owned(),
            threads: metric.threads,
            repeat: measured.len(),
            min,
            max,
            ratio: reference.and_then(ratio),
        };
        eprintln!("  {}", record.row());
        if let Some(json) = &mut self.json {
            json.write(&record)?;
        }
        self.records.push(record);
        Ok(())
    }

    /// Returns the records so far.
    pub(crate) fn records(&self) -> &[Record] {
        &self.records
    }
}

#[cfg(test)]
mod tests;
