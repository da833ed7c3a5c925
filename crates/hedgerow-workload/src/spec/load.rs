//! The conversion of rows to dense ids.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_core::VertexKey;

use super::loaded::{LoadError, LoadedGraph};
use crate::read::{EdgeFormat, EdgeReader, Graphalytics, ReadError, read_vertices};

/// Reads an edge file; vertices are numbered by first appearance.
pub(super) fn edges(
    name: String,
    path: &Path,
    format: &EdgeFormat,
    directed: bool,
) -> Result<LoadedGraph, LoadError> {
    let mut ids = Ids::default();
    let mut graph = LoadedGraph {
        name,
        vertices: 0,
        directed,
        edges: Vec::new(),
        weights: None,
        keys: None,
        in_time_order: is_temporal(format),
    };
    let mut weights = Vec::new();
    // Only the reader of a symmetric matrix knows that the file has one direction of two.
    let format = &EdgeFormat { both_ways: directed, ..format.clone() };
    read(path, format, |src, dst, weight, _| {
        let too_many = || LoadError::TooManyVertices { path: path.to_owned() };
        graph.edges.push((ids.id(src).ok_or_else(too_many)?, ids.id(dst).ok_or_else(too_many)?));
        weights.extend(weight);
        Ok(())
    })?;
    graph.weights = (!weights.is_empty()).then_some(weights);
    graph.vertices = ids.keys.len();
    graph.keys = Some(ids.keys);
    Ok(graph)
}

/// Reads a Graphalytics graph; vertices are numbered in the order of the vertex file.
pub(super) fn graphalytics(name: String, graph: &Graphalytics) -> Result<LoadedGraph, LoadError> {
    vertices_and_edges(name, &graph.vertex_file, &graph.edge_file, graph.directed)
}

/// Reads a vertex file and an edge file.
pub(super) fn vertices_and_edges(
    name: String,
    vertex_file: &Path,
    edge_file: &Path,
    directed: bool,
) -> Result<LoadedGraph, LoadError> {
    let keys = read_vertices(vertex_file)?;
    if keys.len() >= u32::MAX as usize {
        return Err(LoadError::TooManyVertices { path: vertex_file.to_owned() });
    }
    let ids: HashMap<u64, u32> = keys.iter().copied().zip(0..).collect();
    let mut edges = Vec::new();
    let mut weights = Vec::new();
    read(edge_file, &EdgeFormat::edge_list(), |src, dst, weight, _| {
        let id = |text: &str| {
            let id = text.parse().ok().and_then(|key: u64| ids.get(&key).copied());
            let (path, edge) = (edge_file.to_owned(), edges.len() + 1);
            id.ok_or_else(|| LoadError::UnlistedVertex { path, edge, key: text.to_owned() })
        };
        let edge = (id(src)?, id(dst)?);
        edges.push(edge);
        weights.extend(weight);
        Ok(())
    })?;
    Ok(LoadedGraph {
        name,
        vertices: keys.len(),
        directed,
        edges,
        weights: (!weights.is_empty()).then_some(weights),
        keys: Some(keys.into_iter().map(VertexKey::U64).collect()),
        in_time_order: false,
    })
}

/// True if the file is ordered by time (nearly, in some data sets).
fn is_temporal(format: &EdgeFormat) -> bool {
    format.time.is_some()
}

/// Calls `f` with source, destination, weight and time of each row; either all rows have a weight or none
/// has.
fn read(
    path: &Path,
    format: &EdgeFormat,
    mut f: impl FnMut(&str, &str, Option<f64>, Option<i64>) -> Result<(), LoadError>,
) -> Result<(), LoadError> {
    let mut reader = EdgeReader::open(path, format)?;
    let mut weighted = None;
    while let Some(row) = reader.next_row() {
        let row = row.map_err(|error: ReadError| LoadError::Read(error))?;
        if *weighted.get_or_insert(row.weight.is_some()) != row.weight.is_some() {
            return Err(LoadError::MixedWeights { path: path.to_owned(), line: row.line });
        }
        f(row.src, row.dst, row.weight, row.time)?;
    }
    Ok(())
}

/// A map from keys to dense ids. Keys are numbers until one key is not a number; then all become strings.
#[derive(Default)]
struct Ids {
    numbers: HashMap<u64, u32>,
    strings: Option<HashMap<Box<str>, u32>>,
    keys: Vec<VertexKey>,
}

impl Ids {
    /// Returns the id of `text`; `None` if there are too many.
    fn id(&mut self, text: &str) -> Option<u32> {
        if self.strings.is_none() {
            if let Ok(number) = text.parse::<u64>() {
                let next = self.keys.len() as u32;
                let id = *self.numbers.entry(number).or_insert(next);
                return self.keep(id, next, || VertexKey::U64(number));
            }
            let as_text = |key: &mut VertexKey| {
                *key = VertexKey::from(key.to_string());
                key.to_string().into_boxed_str()
            };
            self.strings = Some(self.keys.iter_mut().map(as_text).zip(0..).collect());
        }
        let next = self.keys.len() as u32;
        let strings = self.strings.as_mut()?;
        let id = match strings.get(text) {
            Some(&id) => id,
            None => *strings.entry(text.into()).or_insert(next),
        };
        self.keep(id, next, || VertexKey::from(text))
    }

    fn keep(&mut self, id: u32, next: u32, key: impl FnOnce() -> VertexKey) -> Option<u32> {
        if id == next {
            self.keys.push(key());
        }
        (id < u32::MAX - 1).then_some(id)
    }
}
