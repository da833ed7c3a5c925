//! Selections of records that several experiments show.

use super::super::context::Context;
use super::super::measure::Measurement;
use crate::record::Record;
use hedgerow_report::failure::Result;

/// Returns the figures of one thread on all forms of the containers. The insertions cover the first half of
/// the edges, and their metric says so.
pub(super) fn forms(context: &Context<'_>, metrics: &[&str]) -> Result<Vec<Record>> {
    let records = by_one_thread(context.pick(Measurement::Forms, metrics)?);
    Ok(renamed(records, "insert", "insert edges=half"))
}

/// Returns the figures of [`forms`] for the structures alone, the structures with versions, and the whole
/// containers. Leaves out the variants.
pub(super) fn three_forms(context: &Context<'_>, metrics: &[&str]) -> Result<Vec<Record>> {
    let mut records = forms(context, metrics)?;
    records.retain(|record| !record.engine.contains(", "));
    Ok(records)
}

/// Returns the figures of the structures alone, without versions and locks. Adds the figures of the whole
/// store, because it has no such form.
pub(super) fn structures(context: &Context<'_>, metrics: &[&str]) -> Result<Vec<Record>> {
    let mut records = forms(context, metrics)?;
    let is_structure = |engine: &str| engine == "csr" || engine.ends_with(" plain");
    records.retain(|record| is_structure(&record.engine));
    records.extend(store(context, Measurement::Kernels, metrics)?);
    Ok(records)
}

/// Returns the PageRank figures of readers, by the number of concurrent writers.
pub(super) fn ranks_beside_writers(context: &Context<'_>) -> Result<Vec<Record>> {
    context.pick(Measurement::Mixed, &["pr"])
}

/// Returns the figures of writers that remove edges and insert them, by the number of concurrent readers.
pub(super) fn writes_beside_readers(context: &Context<'_>) -> Result<Vec<Record>> {
    Ok(renamed(context.pick(Measurement::Mixed, &["write"])?, "write", "insert"))
}

/// Returns the figures of batch insertions, by the size of the batch.
pub(super) fn batches(context: &Context<'_>) -> Result<Vec<Record>> {
    let mut records = context.pick(Measurement::Ingest, &["insert"])?;
    records.retain(|record| record.metric.contains("batch="));
    Ok(records)
}

/// Returns the figures of the store with one thread, from a measurement of the store.
pub(super) fn store(
    context: &Context<'_>,
    measurement: Measurement,
    metrics: &[&str],
) -> Result<Vec<Record>> {
    let mut records = context.pick(measurement, metrics)?;
    records.retain(|record| record.engine == "hedgerow" && record.threads == 1);
    Ok(records)
}

/// Returns the records of a measurement whose metrics are these, without parameters.
pub(super) fn exact(
    context: &Context<'_>,
    measurement: Measurement,
    metrics: &[&str],
) -> Result<Vec<Record>> {
    let mut records = context.pick(measurement, metrics)?;
    records.retain(|record| metrics.contains(&record.metric.as_str()));
    Ok(records)
}

/// Keeps the records with the largest number of threads.
pub(super) fn by_most_threads(mut records: Vec<Record>) -> Vec<Record> {
    let most = records.iter().map(|record| record.threads).max().unwrap_or(1);
    records.retain(|record| record.threads == most);
    records
}

/// Keeps the records with one thread.
pub(super) fn by_one_thread(mut records: Vec<Record>) -> Vec<Record> {
    records.retain(|record| record.threads == 1);
    records
}

/// Keeps the records of these engines or forms.
pub(super) fn of(mut records: Vec<Record>, engines: &[&str]) -> Vec<Record> {
    records.retain(|record| engines.contains(&record.engine.as_str()));
    records
}

/// Keeps the records with this parameter, such as `mix=tao`.
pub(super) fn with(mut records: Vec<Record>, parameter: &str) -> Vec<Record> {
    records.retain(|record| record.metric.split(' ').any(|word| word == parameter));
    records
}

/// Renames a metric of the records, and keeps its parameters.
pub(super) fn renamed(mut records: Vec<Record>, from: &str, to: &str) -> Vec<Record> {
    for record in &mut records {
        if let Some(rest) = record.metric.strip_prefix(from) {
            record.metric = format!("{to}{rest}");
        }
    }
    records
}

/// Joins several selections, one after the other.
pub(super) fn join(parts: impl IntoIterator<Item = Result<Vec<Record>>>) -> Result<Vec<Record>> {
    let parts: Vec<Vec<Record>> = parts.into_iter().collect::<Result<_>>()?;
    Ok(parts.concat())
}
