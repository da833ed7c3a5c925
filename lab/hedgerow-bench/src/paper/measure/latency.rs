//! Latencies of operations that are timed together.

use std::time::Duration;

use crate::suite::Measured;
use hedgerow_report::figures::percentile;

/// The time of each group of operations, in nanoseconds.
#[derive(Debug, Default)]
pub(super) struct Latencies(Vec<f64>);

impl Latencies {
    pub(super) fn push(&mut self, taken: Duration) {
        self.0.push(taken.as_nanos() as f64);
    }

    /// Adds the requested figures in seconds: p50, p95, p99, max or mean. The names of the metric and the
    /// figure form the new metric. Adds nothing if no operation was timed.
    pub(super) fn add(
        mut self,
        engine: &'static str,
        metric: &str,
        figures: &[&str],
        threads: usize,
        measured: &mut Measured,
    ) {
        self.0.sort_unstable_by(f64::total_cmp);
        let mean = self.0.iter().sum::<f64>() / self.0.len() as f64;
        for figure in figures.iter().filter(|_| !self.0.is_empty()) {
            let nanoseconds = match *figure {
                "p50" => percentile(&self.0, 0.5),
                "p95" => percentile(&self.0, 0.95),
                "p99" => percentile(&self.0, 0.99),
                "max" => percentile(&self.0, 1.0),
                _ => mean,
            };
            measured.add(engine, named(metric, figure), "s", threads, nanoseconds * 1e-9);
        }
    }
}

/// Returns the metric with the name of the figure before its parameters: `insert, mean progress=10`.
fn named(metric: &str, figure: &str) -> String {
    match metric.split_once(" progress=") {
        Some((before, progress)) => format!("{before}, {figure} progress={progress}"),
        None => format!("{metric}, {figure}"),
    }
}
