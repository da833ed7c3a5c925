//! The suite `vertices`: the cost of keys by their type, each compared with a dense graph. The same edges
//! connect vertices that are named by their number, by shuffled 64-bit numbers, by texts of 16 bytes, or by
//! texts of 36. The suite measures ingestion of single edges and of batches, vertices with properties,
//! look-ups of vertices, has-edge by name, and memory of vertices without edges.

use std::hint::black_box;
use std::time::Instant;

use hedgerow::{Column, Graph, KeyKind, KindId, PropertyType, Snapshot, Value, ValueRef, VertexKeyRef};
use hedgerow_workload::rng::Rng;
use serde_json::json;

use super::load;
use super::memory::{figures_of_child, resident, use_the_engine};
use super::recovery::stores::Place;
use super::work::Work;
use crate::record::{Metric, Recorder};
use hedgerow_report::failure::Result;

/// The number of edges in a batch.
const BATCH: usize = 100_000;
/// The number of vertices with properties in one transaction, as Python's `add_vertices` commits them.
const PROPERTY_BATCH: usize = 1 << 16;
/// The number of vertices without properties in one transaction, also in the child that measures memory.
const VERTEX_BATCH: u64 = 1 << 12;

/// The way to name vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Naming {
    /// By their number, in a dense graph.
    Dense,
    /// By shuffled 64-bit numbers.
    U64,
    /// By texts of 16 bytes.
    Str,
    /// By texts of 36 bytes, in the form of a UUID.
    Uuid,
}

const NAMINGS: [(&str, Naming); 4] =
    [("dense", Naming::Dense), ("u64", Naming::U64), ("str", Naming::Str), ("uuid", Naming::Uuid)];

/// The arguments of the child process that measures memory.
#[derive(Debug, clap::Args)]
pub(crate) struct VertexMemoryOptions {
    /// How vertices are named.
    #[arg(long, value_enum)]
    naming: Naming,
    #[arg(long)]
    vertices: u64,
}

/// The name of a vertex.
pub(super) enum Name {
    Number(u64),
    Text(String),
}

impl<'a> From<&'a Name> for VertexKeyRef<'a> {
    fn from(name: &'a Name) -> VertexKeyRef<'a> {
        match name {
            Name::Number(n) => VertexKeyRef::U64(*n),
            Name::Text(s) => VertexKeyRef::Str(s),
        }
    }
}

impl Naming {
    pub(super) fn keys(self) -> KeyKind {
        match self {
            Naming::Dense => KeyKind::Dense,
            Naming::U64 => KeyKind::U64,
            Naming::Str | Naming::Uuid => KeyKind::Str,
        }
    }

    /// Returns the name of vertex `v`. Different vertices have different names, in no order.
    pub(super) fn name(self, v: u64) -> Name {
        // The factor is odd, so that no two products are equal.
        let shuffled = v.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5bd1_e995;
        match self {
            Naming::Dense => Name::Number(v),
            Naming::U64 => Name::Number(shuffled),
            Naming::Str => Name::Text(format!("{shuffled:016x}")),
            Naming::Uuid => {
                let (high, low) = (shuffled, shuffled.rotate_left(29));
                let (a, b, c) = (high >> 32, high >> 16 & 0xffff, high & 0xffff);
                Name::Text(format!("{a:08x}-{b:04x}-{c:04x}-{:04x}-{:012x}", low >> 48, low << 16 >> 16))
            }
        }
    }

    fn store(self, work: &Work<'_>) -> Result<Graph> {
        Ok(load::options(work.graph.directed).keys(self.keys()).in_memory()?)
    }
}

/// Runs the suite. `vertices` is the number of vertices for the measurement of memory.
pub(super) fn run(work: &Work<'_>, vertices: u64, recorder: &mut Recorder) -> Result<()> {
    let namings: Vec<(&str, Vec<Name>)> = NAMINGS
        .iter()
        .map(|&(label, naming)| (label, (0..work.graph.vertices as u64).map(|v| naming.name(v)).collect()))
        .collect();
    let mut figures = Figures::default();
    // The namings take turns, so that a slow period of the machine affects all of them.
    for _ in 0..work.options.repeat() {
        for (&(label, naming), (_, names)) in NAMINGS.iter().zip(&namings) {
            measure(work, label, naming, names, &mut figures)?;
        }
    }
    for _ in 0..work.options.repeat() {
        bulk(work, &namings[1].1, &mut figures)?;
    }
    if work.options.wants("bytes_per_vertex") {
        for (label, naming) in NAMINGS {
            for (metric, bytes) in bytes(naming, vertices)? {
                figures.add(label, &metric, "bytes", bytes / vertices as f64);
            }
        }
    }
    figures.record(recorder)
}

/// The measurements by metric, in the order of their first measurements. The label of the naming is the first
/// part of the metric.
#[derive(Default)]
struct Figures(Vec<(String, &'static str, Vec<f64>)>);

impl Figures {
    fn add(&mut self, label: &str, metric: &str, unit: &'static str, value: f64) {
        self.add_as(format!("{label}.{metric}"), unit, value);
    }

    fn add_as(&mut self, name: String, unit: &'static str, value: f64) {
        match self.0.iter_mut().find(|(found, ..)| *found == name) {
            Some((.., values)) => values.push(value),
            None => self.0.push((name, unit, vec![value])),
        }
    }

    fn record(&self, recorder: &mut Recorder) -> Result<()> {
        for (name, unit, values) in &self.0 {
            let metric = name.split_once('.').map_or("", |(_, metric)| metric);
            let dense = self.0.iter().find(|(found, ..)| *found == format!("dense.{metric}"));
            let dense = dense.map(|(.., values)| ("dense", &values[..]));
            recorder.add_beside("hedgerow", Metric { name, unit, threads: 1 }, values, dense)?;
        }
        Ok(())
    }
}

fn measure(
    work: &Work<'_>,
    label: &str,
    naming: Naming,
    names: &[Name],
    figures: &mut Figures,
) -> Result<()> {
    let wants = |metric: &str| work.options.wants(metric) || work.options.wants(&format!("{label}.{metric}"));
    let directed_edges = work.graph.edges.len() as f64 * work.per_edge;
    let name = |v: u32| VertexKeyRef::from(&names[v as usize]);
    if wants(&format!("batch_{BATCH}.edges_per_s")) {
        let store = naming.store(work)?;
        let begun = Instant::now();
        for batch in work.graph.edges.chunks(BATCH) {
            let mut tx = store.write()?;
            tx.put_edges(batch.iter().map(|&(u, v)| (name(u), name(v))))?;
            tx.commit()?;
        }
        let rate = directed_edges / begun.elapsed().as_secs_f64();
        figures.add(label, &format!("batch_{BATCH}.edges_per_s"), "edges/s", rate);
    }
    if wants("add_vertices.per_s") {
        figures.add(label, "add_vertices.per_s", "vertices/s", added(&naming.store(work)?, names)?);
    }
    if wants("add_vertices_durable.per_s") {
        let place = Place::new(&work.options.dir, "vertices")?;
        let options = load::options(work.graph.directed).keys(naming.keys());
        let rate = added(&options.open(&place.0)?, names)?;
        figures.add(label, "add_vertices_durable.per_s", "vertices/s", rate);
    }
    let rows = ["single.edges_per_s", "lookup.per_s", "has_edge.per_s"];
    if !rows.into_iter().any(wants) {
        return Ok(());
    }
    let store = naming.store(work)?;
    // The ids have the order of the numbers, as in the dense graph: only the keys differ.
    for batch in names.chunks(VERTEX_BATCH as usize) {
        let mut tx = store.write()?;
        for name in batch {
            tx.insert_vertex(name)?;
        }
        tx.commit()?;
    }
    let begun = Instant::now();
    for &(u, v) in &work.graph.edges {
        store.insert_edge((name(u), name(v)))?;
    }
    let rate = directed_edges / begun.elapsed().as_secs_f64();
    figures.add(label, "single.edges_per_s", "edges/s", rate);
    store.settle()?;
    let snapshot = store.snapshot()?;
    // These are figures of chains. With a view, the reads of a later round would give other figures.
    snapshot.default_label().set_views_by_reads(false);
    figures.add(label, "lookup.per_s", "look-ups/s", lookups(&snapshot, work, names)?);
    figures.add(label, "has_edge.per_s", "reads/s", has_edges(&snapshot, work, names)?);
    Ok(())
}

/// Measures the rate of vertices with three properties, two numbers and a text, in transactions of
/// [`PROPERTY_BATCH`].
fn added(store: &Graph, names: &[Name]) -> Result<f64> {
    let rows: Vec<_> = names.iter().zip(0i64..).map(|(name, n)| (name, n, format!("name {n}"))).collect();
    let begun = Instant::now();
    for batch in rows.chunks(PROPERTY_BATCH) {
        let mut tx = store.write()?;
        let values = batch.iter().map(|(name, n, text)| {
            (*name, [Value::I64(*n), Value::F64(*n as f64 / 3.0), Value::from(text.as_str())])
        });
        tx.put_vertices_with(KindId::DEFAULT, &["since", "score", "name"], values)?;
        tx.commit()?;
    }
    Ok(names.len() as f64 / begun.elapsed().as_secs_f64())
}

/// Measures vertices that are named by shuffled numbers, with three properties, inserted by the column: the
/// rates in memory and durable.
fn bulk(work: &Work<'_>, names: &[Name], figures: &mut Figures) -> Result<()> {
    let count = names.len() as i64;
    let texts: Vec<String> = (0..count).map(|n| format!("name {n}")).collect();
    let texts = Column::of_values(PropertyType::Utf8, texts.iter().map(|text| ValueRef::Utf8(text)));
    let columns = [
        ("since", Some(Column::from((0..count).collect::<Vec<i64>>()))),
        ("score", Some(Column::from((0..count).map(|n| n as f64 / 3.0).collect::<Vec<f64>>()))),
        ("name", texts),
    ];
    let columns: Vec<_> =
        columns.iter().filter_map(|(name, column)| Some((*name, column.as_ref()?))).collect();
    let options = || load::options(work.graph.directed).keys(KeyKind::U64);
    let put = |store: &Graph| -> Result<f64> {
        let begun = Instant::now();
        for (nth, batch) in names.chunks(PROPERTY_BATCH).enumerate() {
            let mut tx = store.write()?;
            tx.put_vertex_columns(KindId::DEFAULT, batch, &columns, nth * PROPERTY_BATCH)?;
            tx.commit()?;
        }
        Ok(names.len() as f64 / begun.elapsed().as_secs_f64())
    };
    if work.options.wants("bulk_vertices.per_s") {
        figures.add_as("bulk_vertices.per_s".into(), "vertices/s", put(&options().in_memory()?)?);
    }
    if work.options.wants("bulk_vertices_durable.per_s") {
        let place = Place::new(&work.options.dir, "vertices")?;
        figures.add_as("bulk_vertices_durable.per_s".into(), "vertices/s", put(&options().open(&place.0)?)?);
    }
    Ok(())
}

/// Measures look-ups of random vertices by name.
fn lookups(snapshot: &Snapshot, work: &Work<'_>, names: &[Name]) -> Result<f64> {
    let mut rng = Rng::new(11);
    let asked: Vec<&Name> =
        (0..work.reads()).map(|_| &names[rng.below(names.len() as u64) as usize]).collect();
    let begun = Instant::now();
    for name in &asked {
        if !black_box(snapshot.contains_vertex(*name)?) {
            return Err("a vertex is missing".into());
        }
    }
    Ok(asked.len() as f64 / begun.elapsed().as_secs_f64())
}

/// Measures has-edge on random edges of the graph, by the names of their ends.
fn has_edges(snapshot: &Snapshot, work: &Work<'_>, names: &[Name]) -> Result<f64> {
    let mut rng = Rng::new(12);
    let edges = &work.graph.edges;
    let asked: Vec<(&Name, &Name)> = (0..work.reads())
        .map(|_| edges[rng.below(edges.len() as u64) as usize])
        .map(|(u, v)| (&names[u as usize], &names[v as usize]))
        .collect();
    let begun = Instant::now();
    for (src, dst) in &asked {
        if !black_box(snapshot.contains_edge((*src, *dst))?) {
            return Err("an edge is missing".into());
        }
    }
    Ok(asked.len() as f64 / begun.elapsed().as_secs_f64())
}

/// Returns the bytes of vertices without edges, resident and accounted, from a child process.
fn bytes(naming: Naming, vertices: u64) -> Result<Vec<(String, f64)>> {
    let naming = NAMINGS.iter().find(|(_, found)| *found == naming).map_or("", |(label, _)| label);
    let vertices = vertices.to_string();
    let arguments = ["vertex-memory", "--naming", naming, "--vertices", &vertices];
    figures_of_child(&arguments.map(AsRef::as_ref))
}

/// Runs the child: prints the bytes as one JSON object.
pub(crate) fn run_child(options: &VertexMemoryOptions) -> Result<()> {
    use_the_engine()?;
    let before = resident()?;
    let store = load::options(false).keys(options.naming.keys()).in_memory()?;
    for from in (0..options.vertices).step_by(VERTEX_BATCH as usize) {
        let mut tx = store.write()?;
        for v in from..options.vertices.min(from + VERTEX_BATCH) {
            tx.insert_vertex(&options.naming.name(v))?;
        }
        tx.commit()?;
    }
    // The allocator returns freed pages after a while, when it is used.
    for _ in 0..5 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        store.settle()?;
    }
    let (resident, accounted) = (resident()?.saturating_sub(before), store.stats()?.memory_bytes());
    println!("{}", json!({"bytes_per_vertex": resident, "accounted_bytes_per_vertex": accounted}));
    Ok(())
}
