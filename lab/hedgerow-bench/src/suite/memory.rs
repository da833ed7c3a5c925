//! Memory per edge, measured in a separate process: in a used process the allocator would serve the store
//! from pages that earlier work left resident. For the same reason the edges come from a file, a piece at a
//! time.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use hedgerow::Graph;
use serde_json::Value;

use super::folder::make_folder_of;
use super::load;
use super::work::Work;
use hedgerow_report::failure::{Context, Result};
use hedgerow_report::resident_bytes;

/// The arguments of the child process.
#[derive(Debug, clap::Args)]
pub(crate) struct MemoryOptions {
    /// Edges as pairs of little-endian 32-bit ids.
    #[arg(long)]
    edges: PathBuf,
    #[arg(long)]
    vertices: usize,
    #[arg(long)]
    directed: bool,
    /// Give each edge a weight, computed from its ends.
    #[arg(long)]
    weighted: bool,
}

/// Loads the graph edge by edge in a child process. Returns the metrics with their total bytes.
pub(super) fn measure(work: &Work<'_>) -> Result<Vec<(String, f64)>> {
    let path = work.options.dir.join(format!("edges-{}.tmp", std::process::id()));
    make_folder_of(&path)?;
    let outcome = write_edges(&path, &work.graph.edges).and_then(|()| ask_child(work, &path));
    std::fs::remove_file(&path).context(path.display())?;
    outcome
}

fn write_edges(path: &Path, edges: &[(u32, u32)]) -> Result<()> {
    let mut out = BufWriter::new(File::create(path).context(path.display())?);
    for (u, v) in edges {
        out.write_all(&u.to_le_bytes())
            .and_then(|()| out.write_all(&v.to_le_bytes()))
            .context(path.display())?;
    }
    out.flush().context(path.display())
}

fn ask_child(work: &Work<'_>, path: &Path) -> Result<Vec<(String, f64)>> {
    let vertices = work.graph.vertices.to_string();
    let mut arguments = vec![
        "insert-memory".as_ref(),
        "--edges".as_ref(),
        path.as_os_str(),
        "--vertices".as_ref(),
        vertices.as_ref(),
    ];
    if work.graph.directed {
        arguments.push("--directed".as_ref());
    }
    if work.graph.weights.is_some() {
        arguments.push("--weighted".as_ref());
    }
    figures_of_child(&arguments)
}

/// Runs this program with these arguments. Returns the metrics with their total bytes, which the child prints
/// as one JSON object.
pub(super) fn figures_of_child(arguments: &[&OsStr]) -> Result<Vec<(String, f64)>> {
    let mut command = Command::new(std::env::current_exe().context("own program")?);
    // The allocator of this program keeps memory of large transactions after their end. This memory does not
    // belong to the store: it is 50 MB if vertices are inserted 65,536 at a time and little is allocated
    // afterwards. The huge pages of the allocator do not belong to the store either.
    command.env("MIMALLOC_PURGE_DELAY", "0").env("MIMALLOC_ALLOW_THP", "0").args(arguments);
    let output = command.stderr(std::process::Stdio::inherit()).output().context("child process")?;
    if !output.status.success() {
        return Err(format!("the measuring child failed: {}", output.status).into());
    }
    let value: Value = serde_json::from_slice(&output.stdout).context("the measuring child")?;
    let object = value.as_object().ok_or("the measuring child wrote no object")?;
    Ok(object.iter().filter_map(|(name, bytes)| Some((name.clone(), bytes.as_f64()?))).collect())
}

/// Runs the child: prints the bytes as one JSON object.
pub(crate) fn run_child(options: &MemoryOptions) -> Result<()> {
    let mut edges =
        BufReader::with_capacity(1 << 20, File::open(&options.edges).context(options.edges.display())?);
    use_the_engine()?;
    let before = resident()?;
    let store = load::options(options.directed).weighted(options.weighted).in_memory()?;
    load::insert_vertices(&store, options.vertices)?;
    let mut pair = [0u8; 8];
    while edges.read_exact(&mut pair).is_ok() {
        let [a, b, c, d, e, f, g, h] = pair;
        let (u, v) = (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h]));
        if options.weighted {
            let weight = load::weight(options.directed, &(u, v));
            store.insert_edge((u64::from(u), u64::from(v), weight))?;
        } else {
            store.insert_edge((u64::from(u), u64::from(v)))?;
        }
    }
    let mut bytes = serde_json::Map::new();
    let mut note = |state: &str, store: &Graph| -> Result<()> {
        bytes.insert(format!("bytes_per_edge.{state}"), resident()?.saturating_sub(before).into());
        bytes.insert(format!("accounted_bytes_per_edge.{state}"), store.stats()?.memory_bytes().into());
        Ok(())
    };
    note("loaded", &store)?;
    store.settle()?;
    // The allocator returns freed pages after a while, when it is used.
    for _ in 0..5 {
        std::thread::sleep(std::time::Duration::from_millis(100));
        store.settle()?;
    }
    note("settled", &store)?;
    println!("{}", Value::Object(bytes));
    Ok(())
}

/// Uses everything once with a small graph before the measurement begins. The program's own pages, its
/// threads and the memory that the allocator always keeps are then already present.
pub(super) fn use_the_engine() -> Result<()> {
    let store = load::empty_store(false, 64)?;
    for v in 0..2048u64 {
        store.insert_edge((v % 61, v % 64))?;
    }
    store.settle()?;
    store.stats()?;
    Ok(())
}

pub(super) fn resident() -> Result<u64> {
    resident_bytes().ok_or_else(|| "this system does not say how much memory is resident".into())
}
