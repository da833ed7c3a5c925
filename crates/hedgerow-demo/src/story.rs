//! The results of a demo.

use hedgerow_workload::Totals;

use super::checks::{End, Recovered};
use super::watch::Ingested;

/// The content of the table and the page.
pub(super) struct Story {
    pub(super) stream: String,
    pub(super) totals: Totals,
    pub(super) first: Ingested,
    pub(super) second: Ingested,
    pub(super) recovered: Recovered,
    pub(super) end: End,
    /// The moment at which the last check was done.
    pub(super) checked: f64,
    /// The duration of the demo in seconds, including one pass over the stream before the clock starts.
    pub(super) seconds: f64,
}
