//! The source of the experiments' figures. A measurement runs when the first experiment requests it.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::bench::Bench;
use super::measure::Measurement;
use crate::record::Record;
use hedgerow_report::failure::{Context as _, Result};

type Made = Rc<Vec<Record>>;
type Make<'a> = Box<dyn Fn(Measurement) -> Result<Vec<Record>> + 'a>;

/// The measurements that ran so far.
pub(super) struct Context<'a> {
    make: Make<'a>,
    made: RefCell<BTreeMap<Measurement, Made>>,
}

impl<'a> Context<'a> {
    /// Makes a context that measures these engines.
    pub(super) fn new(bench: &'a Bench<'a>) -> Context<'a> {
        Context::with(move |measurement| measurement.make(bench))
    }

    /// Makes a context that makes the records of a measurement with `make`.
    pub(super) fn with(make: impl Fn(Measurement) -> Result<Vec<Record>> + 'a) -> Context<'a> {
        Context { make: Box::new(make), made: RefCell::default() }
    }

    /// Returns the records of a measurement; runs it on the first call.
    pub(super) fn records(&self, measurement: Measurement) -> Result<Made> {
        if let Some(made) = self.made.borrow().get(&measurement) {
            return Ok(made.clone());
        }
        let records: Made = Rc::new((self.make)(measurement).context(format!("{measurement:?}"))?);
        self.made.borrow_mut().insert(measurement, records.clone());
        Ok(records)
    }

    /// Returns the records of a measurement whose metrics are these, with any parameters: `insert` selects
    /// `insert |N|=16` too.
    pub(super) fn pick(&self, measurement: Measurement, metrics: &[&str]) -> Result<Vec<Record>> {
        let is_one = |record: &&Record| metrics.contains(&without_parameters(&record.metric));
        Ok(self.records(measurement)?.iter().filter(is_one).cloned().collect())
    }

    /// Returns all measurements so far, with their records.
    pub(super) fn all(&self) -> Vec<(Measurement, Made)> {
        self.made.borrow().iter().map(|(measurement, made)| (*measurement, made.clone())).collect()
    }
}

/// Returns a metric without its parameters, the words with an equals sign: `pr` for `pr readers=1 writers=2`.
pub(super) fn without_parameters(metric: &str) -> &str {
    let end = metric.match_indices(' ').find(|(at, _)| {
        let word = metric[at + 1..].split(' ').next().unwrap_or_default();
        word.contains('=')
    });
    end.map_or(metric, |(at, _)| &metric[..at])
}
