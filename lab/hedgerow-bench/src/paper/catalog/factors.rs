//! The factors of equation 1 of the study, for each container and operation: the cost of the structure, the
//! factor of versions, and the additional factor of locks.

use super::super::context::Context;
use super::super::measure::Measurement;
use crate::record::Record;
use hedgerow_report::failure::Result;

const OPERATIONS: [&str; 3] = ["insert", "search", "scan"];

/// Returns the factors of each container that has all three forms.
pub(super) fn factors(context: &Context<'_>) -> Result<Vec<Record>> {
    let forms = context.records(Measurement::Forms)?;
    let find = |engine: &str, metric: &str| {
        let is_it = |r: &&Record| r.engine == engine && r.metric == metric && r.threads == 1;
        forms.iter().find(is_it)
    };
    let containers = forms.iter().filter_map(|record| record.engine.strip_suffix(" plain"));
    let mut containers: Vec<&str> = containers.collect();
    containers.dedup();
    containers.sort_unstable();
    containers.dedup();
    let mut factors = Vec::new();
    for operation in OPERATIONS {
        for container in &containers {
            let of = |suffix: &str| find(&format!("{container}{suffix}"), operation);
            let (Some(plain), Some(versions), Some(whole)) = (of(" plain"), of(" versions"), of("")) else {
                continue;
            };
            let factor = |metric: String, unit: &str, value: f64| Record {
                engine: (*container).to_owned(),
                metric,
                unit: unit.to_owned(),
                value,
                min: value,
                max: value,
                ratio: None,
                ..plain.clone()
            };
            factors.push(factor(format!("{operation}, structure"), "ns", 1e9 / plain.value));
            let (with_versions, with_locks) = (plain.value / versions.value, versions.value / whole.value);
            factors.push(factor(format!("{operation}, versions"), "x", with_versions));
            factors.push(factor(format!("{operation}, locks"), "x", with_locks));
        }
    }
    Ok(factors)
}
