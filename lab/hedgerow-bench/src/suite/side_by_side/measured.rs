//! The figures of several engines, round by round.

use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The identity of a figure.
#[derive(Clone, Debug, PartialEq)]
struct Of {
    engine: &'static str,
    metric: String,
    unit: &'static str,
    threads: usize,
}

/// The measurements of each figure, in the order of their first measurements.
#[derive(Debug, Default)]
pub(crate) struct Measured(Vec<(Of, Vec<f64>)>);

impl Measured {
    pub(crate) fn add(
        &mut self,
        engine: &'static str,
        metric: impl Into<String>,
        unit: &'static str,
        threads: usize,
        value: f64,
    ) {
        self.push(Of { engine, metric: metric.into(), unit, threads }, [value]);
    }

    fn push(&mut self, of: Of, values: impl IntoIterator<Item = f64>) {
        match self.0.iter_mut().find(|(known, _)| *known == of) {
            Some((_, known)) => known.extend(values),
            None => self.0.push((of, values.into_iter().collect())),
        }
    }

    /// Adds the measurements of another round.
    pub(crate) fn extend(&mut self, round: Measured) {
        round.0.into_iter().for_each(|(of, values)| self.push(of, values));
    }

    /// Records all figures, each with a ratio to the CSR if the CSR was measured too.
    pub(crate) fn record(&self, recorder: &mut Recorder) -> Result<()> {
        for (of, values) in &self.0 {
            let reference = |(other, _): &&(Of, Vec<f64>)| *other == Of { engine: "csr", ..of.clone() };
            let reference = self.0.iter().find(reference).map(|(_, values)| values.as_slice());
            let metric = Metric { name: &of.metric, unit: of.unit, threads: of.threads };
            recorder.add(of.engine, metric, values, reference)?;
        }
        Ok(())
    }
}
