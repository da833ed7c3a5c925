//! Parts of measurements that several experiments show.

use super::super::context::Context;
use super::super::measure::Measurement;
use crate::record::Record;
use hedgerow_report::failure::Result;

/// What one thread does on all forms of the containers. Their insertions are of the first half of the edges,
/// and say so.
pub(super) fn forms(context: &Context<'_>, metrics: &[&str]) -> Result<Vec<Record>> {
    let records = by_one_thread(context.pick(Measurement::Forms, metrics)?);
    Ok(renamed(records, "insert", "insert edges=half"))
}

/// As [`forms`], of the structures alone, the structures with versions, and the whole containers: without
/// variants.
pub(super) fn three_forms(context: &Context<'_>, metrics: &[&str]) -> Result<Vec<Record>> {
    let mut records = forms(context, metrics)?;
    records.retain(|record| !record.engine.contains(", "));
    Ok(records)
}

/// The structures alone, without versions and locks; beside them the store, which has no such form, as it is.
pub(super) fn structures(context: &Context<'_>, metrics: &[&str]) -> Result<Vec<Record>> {
    let mut records = forms(context, metrics)?;
    let is_structure = |engine: &str| engine == "csr" || engine.ends_with(" plain");
    records.retain(|record| is_structure(&record.engine));
    records.extend(store(context, Measurement::Kernels, metrics)?);
    Ok(records)
}

/// PageRank of readers, by the writers beside them.
pub(super) fn ranks_beside_writers(context: &Context<'_>) -> Result<Vec<Record>> {
    context.pick(Measurement::Mixed, &["pr"])
}

/// Edges that writers insert, and remove before that, by the readers beside them.
pub(super) fn writes_beside_readers(context: &Context<'_>) -> Result<Vec<Record>> {
    Ok(renamed(context.pick(Measurement::Mixed, &["write"])?, "write", "insert"))
}

/// Insertions of batches, by their size.
pub(super) fn batches(context: &Context<'_>) -> Result<Vec<Record>> {
    let mut records = context.pick(Measurement::Ingest, &["insert"])?;
    records.retain(|record| record.metric.contains("batch="));
    Ok(records)
}

/// What one thread of the store does in a measurement that has it.
pub(super) fn store(
    context: &Context<'_>,
    measurement: Measurement,
    metrics: &[&str],
) -> Result<Vec<Record>> {
    let mut records = context.pick(measurement, metrics)?;
    records.retain(|record| record.engine == "hedgerow" && record.threads == 1);
    Ok(records)
}

/// Metrics without parameters, of a measurement.
pub(super) fn exact(
    context: &Context<'_>,
    measurement: Measurement,
    metrics: &[&str],
) -> Result<Vec<Record>> {
    let mut records = context.pick(measurement, metrics)?;
    records.retain(|record| metrics.contains(&record.metric.as_str()));
    Ok(records)
}

/// Those with as many threads as were measured, or with one.
pub(super) fn by_most_threads(mut records: Vec<Record>) -> Vec<Record> {
    let most = records.iter().map(|record| record.threads).max().unwrap_or(1);
    records.retain(|record| record.threads == most);
    records
}

/// Those with one thread.
pub(super) fn by_one_thread(mut records: Vec<Record>) -> Vec<Record> {
    records.retain(|record| record.threads == 1);
    records
}

/// Those of these engines or forms.
pub(super) fn of(mut records: Vec<Record>, engines: &[&str]) -> Vec<Record> {
    records.retain(|record| engines.contains(&record.engine.as_str()));
    records
}

/// Those with this parameter, as `mix=tao`.
pub(super) fn with(mut records: Vec<Record>, parameter: &str) -> Vec<Record> {
    records.retain(|record| record.metric.split(' ').any(|word| word == parameter));
    records
}

/// Records under another metric, with the parameters that they have.
pub(super) fn renamed(mut records: Vec<Record>, from: &str, to: &str) -> Vec<Record> {
    for record in &mut records {
        if let Some(rest) = record.metric.strip_prefix(from) {
            record.metric = format!("{to}{rest}");
        }
    }
    records
}

/// Several parts, one after the other.
pub(super) fn join(parts: impl IntoIterator<Item = Result<Vec<Record>>>) -> Result<Vec<Record>> {
    let parts: Vec<Vec<Record>> = parts.into_iter().collect::<Result<_>>()?;
    Ok(parts.concat())
}
