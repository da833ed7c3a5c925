//! What the containers cost: the cost model of Su et al., section 3.2, for each container in the forms that
//! it has.
//!
//! `cargo run --release -p hedgerow-lab --example cost -- kron:18 3` inserts the edges of a graph one by one
//! in random order, searches, and scans, three times in turns, and prints medians. The plain form of a
//! container gives the cost of its structure (T_p), the form with versions by that the amplification (alpha),
//! and the whole by that the cost of its concurrency control (T_cc).

use std::error::Error;
use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::Instant;

use hedgerow_core::{
    Block, Direction, DynamicGraph, GraphSnapshot, LocalVertex, SubgraphId, Update, VertexId,
};
use hedgerow_lab::forms::{EachForm, FormKind, for_each};
use hedgerow_lab::{GraphForm, StaticCsr};
use hedgerow_workload::rng::Rng;
use hedgerow_workload::{Csr, CsrOptions};
use hedgerow_workload::{GraphSpec, LoadedGraph, shuffle};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

type Failure = Box<dyn Error + Send + Sync>;
/// Measures one form of a container on a graph: a figure for each column.
type Measure = Box<dyn Fn(&LoadedGraph) -> Result<Vec<f64>, Failure>>;

const FORM: GraphForm = GraphForm { directed: false, weighted: false };
/// Searches, and lists read at random, of one measurement.
const READS: usize = 1 << 20;
const BATCH: usize = 100_000;

/// What one round measures.
const COLUMNS: [&str; 8] = [
    "insert M/s",
    "2 writers",
    "batch M/s",
    "remove M/s",
    "bytes/edge",
    "search M/s",
    "scan M/s",
    "random M/s",
];

/// The forms, in their order.
struct Forms(Vec<(&'static str, Measure)>);

impl EachForm for Forms {
    fn form<G: DynamicGraph + 'static>(
        &mut self,
        _container: &'static str,
        name: &'static str,
        _kind: FormKind,
        new: fn(GraphForm) -> G,
    ) {
        self.0.push((name, Box::new(move |graph| measure(graph, || new(FORM)))));
    }
}

fn main() -> Result<(), Failure> {
    let mut arguments = std::env::args().skip(1);
    let spec: GraphSpec = arguments.next().unwrap_or_else(|| "kron:16".to_owned()).parse()?;
    let rounds: usize = arguments.next().map_or(Ok(3), |rounds| rounds.parse())?;
    let only: Vec<String> = arguments.collect();
    let mut graph = spec.load()?.ok_or("there is no such graph")?;
    shuffle(&mut graph.edges, 7);
    let mut forms = Forms(Vec::new());
    forms.0.push(("csr", Box::new(fixed)));
    for_each(&mut forms);
    let mut forms = forms.0;
    forms.retain(|(name, _)| only.is_empty() || only.iter().any(|only| only == name));
    let mut measured = vec![Vec::new(); forms.len()];
    for _ in 0..rounds {
        for ((name, form), measured) in forms.iter().zip(&mut measured) {
            eprintln!("{name}");
            measured.push(form(&graph)?);
        }
    }
    println!("| {} | {} |", graph.name, COLUMNS.join(" | "));
    println!("|{}", " --- |".repeat(COLUMNS.len() + 1));
    for ((name, _), rounds) in forms.iter().zip(&measured) {
        let median = |column: usize| {
            let mut values: Vec<f64> = rounds.iter().map(|round| round[column]).collect();
            values.sort_by(f64::total_cmp);
            values[values.len() / 2]
        };
        let shown = |figure: f64| if figure.is_nan() { String::new() } else { format!("{figure:.2}") };
        let row: Vec<String> = (0..COLUMNS.len()).map(|column| shown(median(column))).collect();
        println!("| {name} | {} |", row.join(" | "));
    }
    Ok(())
}

/// Rates are of directed edges: an undirected one counts as two.
fn rate(edges: usize, begun: Instant) -> f64 {
    2.0 * edges as f64 / begun.elapsed().as_secs_f64() / 1e6
}

fn insert(&(src, dst): &(u32, u32)) -> Update {
    Update::InsertEdge(VertexId(src), VertexId(dst), 1.0)
}

fn measure<G: DynamicGraph>(graph: &LoadedGraph, new: impl Fn() -> G) -> Result<Vec<f64>, Failure> {
    let empty = || -> Result<G, Failure> {
        let container = new();
        let vertices: Vec<Update> =
            (0..graph.vertices as u32).map(|v| Update::InsertVertex(VertexId(v))).collect();
        container.write(&vertices)?;
        Ok(container)
    };
    let two = empty()?;
    let begun = Instant::now();
    let (two, half) = (&two, graph.edges.len() / 2);
    std::thread::scope(|scope| {
        for edges in [&graph.edges[..half], &graph.edges[half..]] {
            scope.spawn(move || edges.iter().for_each(|edge| drop(two.write(&[insert(edge)]))));
        }
    });
    let two_writers = rate(graph.edges.len(), begun);
    let batches = empty()?;
    let begun = Instant::now();
    for batch in graph.edges.chunks(BATCH) {
        batches.write(&batch.iter().map(insert).collect::<Vec<_>>())?;
    }
    let batch = rate(graph.edges.len(), begun);
    drop(batches);
    let container = empty()?;
    let begun = Instant::now();
    for edge in &graph.edges {
        container.write(&[insert(edge)])?;
    }
    let single = rate(graph.edges.len(), begun);
    let bytes = container.memory_bytes() as f64 / (2.0 * graph.edges.len() as f64);
    let reads = reads(graph, &container.snapshot()?)?;
    let tenth = &graph.edges[..graph.edges.len() / 10];
    let begun = Instant::now();
    for &(src, dst) in tenth {
        container.remove_edge(VertexId(src), VertexId(dst))?;
    }
    let remove = rate(tenth.len(), begun);
    Ok([vec![single, two_writers, batch, remove, bytes], reads].concat())
}

fn fixed(graph: &LoadedGraph) -> Result<Vec<f64>, Failure> {
    let begun = Instant::now();
    let csr = Csr::from_edges(graph.vertices, &graph.edges, &CsrOptions::default())?;
    let build = rate(graph.edges.len(), begun);
    let bytes = csr.bytes() as f64 / (2.0 * graph.edges.len() as f64);
    let reads = reads(graph, &StaticCsr::new(csr).snapshot()?)?;
    Ok([vec![f64::NAN, f64::NAN, build, f64::NAN, bytes], reads].concat())
}

/// Returns three rates in millions per second: searches for existing edges, neighbors read from all lists in
/// order, and neighbors read from random lists.
fn reads<S: GraphSnapshot>(graph: &LoadedGraph, snapshot: &S) -> Result<Vec<f64>, Failure> {
    let mut rng = Rng::new(3);
    let mut edge = || graph.edges[rng.below(graph.edges.len() as u64) as usize];
    let asked: Vec<(u32, u32)> = (0..READS).map(|_| edge()).collect();
    let begun = Instant::now();
    let found = asked.iter().filter(|e| snapshot.search_edge(VertexId(e.0), VertexId(e.1)).is_some()).count();
    let search = found as f64 / begun.elapsed().as_secs_f64() / 1e6;
    if found != READS {
        return Err("an edge that was inserted is not found".into());
    }
    let (mut sum, mut count) = (0u64, 0u64);
    let mut add = |run: &[VertexId]| {
        count += run.len() as u64;
        sum = run.iter().fold(sum, |sum, v| sum.wrapping_add(u64::from(v.0)));
    };
    let begun = Instant::now();
    let subgraphs = SubgraphId(0)..SubgraphId(graph.vertices.div_ceil(64) as u32);
    snapshot.scan(subgraphs, Direction::Out, |_, block| {
        for local in (0..64).map(LocalVertex) {
            let _ = block.for_each_run(local, |run| {
                add(run);
                ControlFlow::Continue(())
            });
        }
        ControlFlow::Continue(())
    })?;
    let scan = 2.0 * graph.edges.len() as f64 / begun.elapsed().as_secs_f64() / 1e6;
    if count != 2 * graph.edges.len() as u64 {
        return Err(format!("{count} directed edges are read of {} edges", graph.edges.len()).into());
    }
    let mut rng = Rng::new(4);
    let vertices: Vec<VertexId> =
        (0..READS / 4).map(|_| VertexId(rng.below(graph.vertices as u64) as u32)).collect();
    let mut read = 0u64;
    let begun = Instant::now();
    snapshot.visit(vertices, Direction::Out, |_, run| {
        read += run.len() as u64;
        sum = run.iter().fold(sum, |sum, v| sum.wrapping_add(u64::from(v.0)));
    })?;
    let random = read as f64 / begun.elapsed().as_secs_f64() / 1e6;
    black_box(sum);
    Ok(vec![search, scan, random])
}
