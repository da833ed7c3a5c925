//! Full results and summaries of `run`, for each kind of result.

use std::cmp::Reverse;

use hedgerow::{KernelView, VertexId, VertexKeyRef};
use hedgerow_kernels::registry::{Arguments, Kernel, Outcome, Value};
use hedgerow_kernels::{NO_VERTEX, Pairs, Paths, UNREACHED, count_components, histogram, top_k};
use serde_json::Value as Json;

use super::work::Work;
use crate::error::CliError;
use crate::keys::{spelled, to_json};
use crate::output::{Cell, Report, number};

/// The value that Graphalytics writes for a vertex that is not reached.
const GRAPHALYTICS_UNREACHED: i64 = i64::MAX;

/// Returns the first lines: the graph, the time, and the kernel's arguments.
pub(super) fn begin(work: &Work<'_>, arguments: &Arguments, milliseconds: f64) -> Result<Report, CliError> {
    let mut report = work.summary(arguments.kernel().name, milliseconds)?;
    let reported = arguments.kernel().parameters.iter().filter(|parameter| parameter.is_reported);
    for parameter in reported {
        let Some(value) = arguments.value(parameter.name) else { continue };
        let shown = match value {
            Value::Vertex(id) => name(work, *id)?,
            Value::Vertices(ids) => {
                ids.iter().map(|&id| name(work, id)).collect::<hedgerow::Result<Vec<Json>>>()?.into()
            }
            Value::Count(count) => (*count).into(),
            Value::Number(value) => number(*value),
            Value::Flag(flag) => (*flag).into(),
            Value::Direction(_) => value.to_string().into(),
        };
        report = report.field(parameter.name, shown);
    }
    Ok(report)
}

/// Writes the full result if it was requested, and adds the lines of the summary, with a table of `top` rows.
pub(super) fn finish(
    report: Report,
    work: &Work<'_>,
    kernel: &Kernel,
    outcome: Outcome,
    top: usize,
    graphalytics: bool,
) -> Result<Report, CliError> {
    match outcome {
        Outcome::Hops(hops) => {
            let unreached = if graphalytics { GRAPHALYTICS_UNREACHED } else { -1 };
            self::hops(report, work, &hops, top, unreached)
        }
        Outcome::Distances(distances) => {
            let unreached = if graphalytics { "infinity" } else { "inf" };
            self::distances(report, work, &distances, top, unreached)
        }
        Outcome::Scores(scores) => self::scores(report, work, &scores, top),
        Outcome::Estimates(scores, of) => {
            let report = report.field("estimated", true).field("searches", of.samples);
            let report = report.field("of", of.of).field("bound", number((of.bound() * 1e4).round() / 1e4));
            self::scores(report, work, &scores, top)
        }
        Outcome::Components(components) => self::components(report, work, &components, top),
        Outcome::Count(count) => Ok(report.field(kernel.result.name, count)),
        Outcome::Communities(found) => {
            let report = report.field("modularity", number(found.modularity));
            self::components(report, work, &found.labels, top)
        }
        Outcome::Paths(paths) => self::paths(report, work, &paths, top),
        Outcome::Labels(labels) => self::labels(report, work, &labels, top),
        Outcome::Numbers(numbers) => self::numbers(report, work, kernel.result.name, &numbers, top),
        Outcome::Edges(edges) => {
            let report = report.field("total", number(edges.total()));
            self::pairs(report, work, kernel, &edges, top)
        }
        Outcome::Pairs(pairs) => self::pairs(report, work, kernel, &pairs, top),
        Outcome::Vertices(vertices) | Outcome::Mates(vertices) => {
            self::vertices(report, work, kernel, &vertices, top)
        }
    }
}

/// Adds the number of paths returned, whether there are more, the total if all paths were counted, and the
/// first paths.
fn paths(report: Report, work: &Work<'_>, paths: &Paths, top: usize) -> Result<Report, CliError> {
    work.write_paths(paths)?;
    let row = |(path, length): (&[VertexId], f64)| {
        let keys = work.snapshot.vertex_keys(path)?;
        let name = |key: VertexKeyRef<'_>| match work.has_kinds() {
            true => spelled(work.schema, key).into(),
            false => to_json(&key.to_owned()),
        };
        let mut row = vec![number(length), Json::Array(keys.iter().map(name).collect())];
        // Each property's column lists its values along the path.
        let mut shown = vec![Vec::new(); work.show.columns("", &[]).len()];
        for key in keys.iter() {
            let values = work.show.values(work.snapshot, key)?;
            shown.iter_mut().zip(values).for_each(|(column, value)| column.push(value));
        }
        row.extend(shown.into_iter().map(Json::Array));
        Ok(row)
    };
    let rows = paths.iter().take(top).map(row).collect::<hedgerow::Result<_>>()?;
    let report = report.field("paths", paths.len() as u64).field("more", paths.more());
    let report = match paths.count().filter(|_| paths.more()) {
        Some(all) => report.field("count", all),
        None => report,
    };
    Ok(report.rows("first", &with_shown(work, &["length", "path"]), rows))
}

/// Adds the number of pairs, and the first ones.
fn pairs(
    report: Report,
    work: &Work<'_>,
    kernel: &Kernel,
    pairs: &Pairs,
    top: usize,
) -> Result<Report, CliError> {
    work.write_pairs(pairs)?;
    let row = |(from, to, value)| {
        let mut row = vec![name(work, from)?, name(work, to)?, number(value)];
        row.extend(shown(work, from)?);
        row.extend(shown(work, to)?);
        Ok(row)
    };
    let rows = pairs.iter().take(top).map(row).collect::<hedgerow::Result<_>>()?;
    let mut columns: Vec<String> = ["from", "to", kernel.result.name].map(str::to_owned).into();
    ["from", "to"].iter().for_each(|end| columns.extend(work.show.columns(end, &[])));
    Ok(report.field("pairs", pairs.len() as u64).rows("first", &columns, rows))
}

/// Adds the number of vertices that have a value, and the first ones.
fn vertices(
    report: Report,
    work: &Work<'_>,
    kernel: &Kernel,
    vertices: &[u32],
    top: usize,
) -> Result<Report, CliError> {
    let of = |id: VertexId| vertices.get(id.index()).copied().filter(|&v| v != NO_VERTEX).map(VertexId);
    work.write_some_vertices(of)?;
    let found = (0..vertices.len() as u32).map(VertexId).filter_map(|id| Some((id, of(id)?)));
    let count = found.clone().count() as u64;
    let row = |(id, other)| row(work, id, name(work, other)?);
    let rows = found.take(top).map(row).collect::<hedgerow::Result<_>>()?;
    Ok(report.field("found", count).rows("first", &columns(work, kernel.result.name), rows))
}

/// Returns the key of a vertex in the form of arguments; null for an id without a vertex.
fn name(work: &Work<'_>, id: VertexId) -> hedgerow::Result<Json> {
    Ok(match work.snapshot.vertex_key(id)? {
        Some(key) if work.has_kinds() => spelled(work.schema, key.as_ref()).into(),
        Some(key) => to_json(&key),
        None => Json::Null,
    })
}

/// Returns the key of a vertex and a value. If vertices have kinds, the kind is before the key.
fn row(work: &Work<'_>, id: VertexId, value: Json) -> hedgerow::Result<Vec<Json>> {
    let key = work.snapshot.vertex_key(id)?;
    let kind = key.as_ref().filter(|_| work.has_kinds()).map(|key| work.schema.kind_name(key.kind()).into());
    let key = key.map_or(Json::Null, |key| to_json(&key));
    Ok(kind.into_iter().chain([key, value]).chain(shown(work, id)?).collect())
}

/// Returns the values of a vertex for the properties of `--show`.
fn shown(work: &Work<'_>, id: VertexId) -> hedgerow::Result<Vec<Json>> {
    match work.snapshot.vertex_key(id)? {
        Some(key) if !work.show.is_empty() => work.show.values(work.snapshot, key.as_ref()),
        _ => Ok(Vec::new()),
    }
}

/// Returns `columns`, followed by the columns of `--show`.
fn with_shown(work: &Work<'_>, columns: &[&str]) -> Vec<String> {
    let shown = work.show.columns("", columns);
    columns.iter().map(|&column| column.to_owned()).chain(shown).collect()
}

/// Returns the columns of [`row`].
fn columns(work: &Work<'_>, value: &'static str) -> Vec<String> {
    let columns = ["kind", "key", value];
    with_shown(work, if work.has_kinds() { &columns } else { &columns[1..] })
}

/// Adds the number of reached vertices, the largest distance, and the number of vertices at each distance in
/// hops.
fn hops(
    report: Report,
    work: &Work<'_>,
    hops: &[u32],
    top: usize,
    unreached: i64,
) -> Result<Report, CliError> {
    work.write_result(|id| match hops.get(id.0 as usize) {
        Some(&depth) if depth != UNREACHED => Cell::Value(depth.into()),
        _ => Cell::Value(unreached.into()),
    })?;
    let mut depths: Vec<u64> = Vec::new();
    for &depth in hops.iter().filter(|&&depth| depth != UNREACHED) {
        let depth = depth as usize;
        if depth >= depths.len() {
            depths.resize(depth + 1, 0);
        }
        if let Some(count) = depths.get_mut(depth) {
            *count += 1;
        }
    }
    let rows = (0u64..).zip(&depths).take(top);
    Ok(report
        .field("reached", depths.iter().sum::<u64>())
        .field("depth", depths.len().saturating_sub(1) as u64)
        .rows("depths", &["hops", "vertices"], rows.map(|(d, &n)| vec![d.into(), n.into()]).collect()))
}

/// Adds the number of reached vertices, and the farthest ones.
fn distances(
    report: Report,
    work: &Work<'_>,
    distances: &[f64],
    top: usize,
    unreached: &str,
) -> Result<Report, CliError> {
    work.write_result(|id| match distances.get(id.0 as usize) {
        Some(distance) if distance.is_finite() => Cell::Exponent(*distance),
        _ => Cell::Value(unreached.into()),
    })?;
    let mut reached: Vec<(VertexId, f64)> = (0u32..)
        .map(VertexId)
        .zip(distances.iter().copied())
        .filter(|(_, distance)| distance.is_finite())
        .collect();
    let count = reached.len() as u64;
    reached.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let farthest = reached.first().map_or(0.0, |&(_, distance)| distance);
    let row = |(id, distance)| row(work, id, number(distance));
    let rows = reached.into_iter().take(top).map(row).collect::<hedgerow::Result<_>>()?;
    Ok(report.field("reached", count).field("distance", number(farthest)).rows(
        "farthest",
        &columns(work, "distance"),
        rows,
    ))
}

/// Adds the highest scores.
fn scores(report: Report, work: &Work<'_>, scores: &[f64], top: usize) -> Result<Report, CliError> {
    work.write_result(|id| Cell::Exponent(scores.get(id.0 as usize).copied().unwrap_or(0.0)))?;
    let row = |(id, score)| row(work, id, number(score));
    let best = match work.view {
        KernelView::Resident(view) => top_k(&**view, scores, top),
        KernelView::Tiered(view) => top_k(view, scores, top),
    };
    let rows = best.into_iter().map(row).collect::<hedgerow::Result<_>>()?;
    Ok(report.rows("top", &columns(work, "score"), rows))
}

/// Adds the components. Each is named by the key of its vertex with the least internal id, usually the vertex
/// that was inserted first.
fn components(report: Report, work: &Work<'_>, components: &[u32], top: usize) -> Result<Report, CliError> {
    let largest = groups(work, components)?;
    let report = report.field("components", count_components(components) as u64);
    largest_of(report, work, "component", largest, top)
}

/// Adds the final labels of vertices. A label is a vertex, which may itself have another label.
fn labels(report: Report, work: &Work<'_>, labels: &[u32], top: usize) -> Result<Report, CliError> {
    let largest = groups(work, labels)?;
    largest_of(report.field("labels", largest.len() as u64), work, "label", largest, top)
}

/// Writes the vertex that names each vertex's group. Returns the groups with their numbers of vertices,
/// largest first.
fn groups(work: &Work<'_>, groups: &[u32]) -> Result<Vec<(u32, u64)>, CliError> {
    let group = |id: VertexId| groups.get(id.0 as usize).copied().unwrap_or(id.0);
    work.write_vertices(|id| VertexId(group(id)))?;
    let mut sizes = vec![0u64; groups.len()];
    for id in work.view.vertices() {
        if let Some(size) = sizes.get_mut(group(id) as usize) {
            *size += 1;
        }
    }
    let mut largest: Vec<(u32, u64)> = (0u32..).zip(sizes).filter(|&(_, size)| size > 0).collect();
    largest.sort_unstable_by_key(|&(id, size)| (Reverse(size), id));
    Ok(largest)
}

fn largest_of(
    report: Report,
    work: &Work<'_>,
    column: &'static str,
    largest: Vec<(u32, u64)>,
    top: usize,
) -> Result<Report, CliError> {
    let row = |(id, size): (u32, u64)| {
        let mut row = vec![name(work, VertexId(id))?, size.into()];
        row.extend(shown(work, VertexId(id))?);
        Ok(row)
    };
    let rows = largest.into_iter().take(top).map(row).collect::<hedgerow::Result<_>>()?;
    Ok(report.rows("largest", &with_shown(work, &[column, "vertices"]), rows))
}

/// Adds the largest number, and the count of vertices for each number in ascending order.
fn numbers(
    report: Report,
    work: &Work<'_>,
    column: &'static str,
    numbers: &[u32],
    top: usize,
) -> Result<Report, CliError> {
    let of = |id: VertexId| numbers.get(id.0 as usize).copied().unwrap_or(0);
    work.write_result(|id| Cell::Value(of(id).into()))?;
    let counts = histogram(work.view.vertices().map(of));
    let rows = counts.iter().take(top).map(|&(number, vertices)| vec![number.into(), vertices.into()]);
    Ok(report.field("largest", counts.last().map_or(0, |&(number, _)| number)).rows(
        "distribution",
        &[column, "vertices"],
        rows.collect(),
    ))
}
