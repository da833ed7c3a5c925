//! What experiments take their figures from: measurements that are made when the first experiment asks for
//! them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::bench::Bench;
use super::measure::Measurement;
use crate::record::Record;
use hedgerow_report::failure::{Context as _, Result};

type Made = Rc<Vec<Record>>;
type Make<'a> = Box<dyn Fn(Measurement) -> Result<Vec<Record>> + 'a>;

/// The measurements that were made.
pub(super) struct Context<'a> {
    make: Make<'a>,
    made: RefCell<BTreeMap<Measurement, Made>>,
}

impl<'a> Context<'a> {
    /// Measures on these engines.
    pub(super) fn new(bench: &'a Bench<'a>) -> Context<'a> {
        Context::with(move |measurement| measurement.make(bench))
    }

    /// Measurements that are made so.
    pub(super) fn with(make: impl Fn(Measurement) -> Result<Vec<Record>> + 'a) -> Context<'a> {
        Context { make: Box::new(make), made: RefCell::default() }
    }

    /// The records of a measurement, made once.
    pub(super) fn records(&self, measurement: Measurement) -> Result<Made> {
        if let Some(made) = self.made.borrow().get(&measurement) {
            return Ok(made.clone());
        }
        let records: Made = Rc::new((self.make)(measurement).context(format!("{measurement:?}"))?);
        self.made.borrow_mut().insert(measurement, records.clone());
        Ok(records)
    }

    /// Those of a measurement whose metrics are these, whatever their parameters: `insert` has
    /// `insert |N|=16` too.
    pub(super) fn pick(&self, measurement: Measurement, metrics: &[&str]) -> Result<Vec<Record>> {
        let is_one = |record: &&Record| metrics.contains(&without_parameters(&record.metric));
        Ok(self.records(measurement)?.iter().filter(is_one).cloned().collect())
    }

    /// All that was measured so far.
    pub(super) fn all(&self) -> Vec<(Measurement, Made)> {
        self.made.borrow().iter().map(|(measurement, made)| (*measurement, made.clone())).collect()
    }
}

/// A metric without its parameters, which are words with an equals sign: `pr readers=1 writers=2` is `pr`.
pub(super) fn without_parameters(metric: &str) -> &str {
    let end = metric.match_indices(' ').find(|(at, _)| {
        let word = metric[at + 1..].split(' ').next().unwrap_or_default();
        word.contains('=')
    });
    end.map_or(metric, |(at, _)| &metric[..at])
}
