//! Graphs by name, as on a command line: `kron:18`, `uniform:20:8`, `file:PATH[:FORMAT]`, `data:NAME`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::data::require_data;
use crate::generate::{self, MAX_SCALE};
use crate::read::{EdgeFormat, Graphalytics};

mod known;
mod load;
mod loaded;
#[cfg(test)]
mod tests;

pub use loaded::{LoadError, LoadedGraph};

/// The default edge factor.
pub const EDGE_FACTOR: u32 = 16;

/// The seed of all generated graphs.
pub const SEED: u64 = 42;

/// The name of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GraphSpec {
    /// Graph500 Kronecker, undirected: [`generate::kron`].
    Kron {
        /// log2 of the number of vertices.
        scale: u32,
        /// Edges drawn per vertex.
        edge_factor: u32,
    },
    /// Uniform, undirected: [`generate::uniform`].
    Uniform {
        /// log2 of the number of vertices.
        scale: u32,
        /// Edges drawn per vertex.
        edge_factor: u32,
    },
    /// A file, or a Graphalytics `.properties`.
    File {
        /// Its path.
        path: PathBuf,
        /// Its format; by default the usual one for its name.
        format: Option<String>,
        /// True to read each row as an undirected edge. Graphalytics graphs state it themselves.
        undirected: bool,
    },
    /// A data set of the data folder.
    Data {
        /// Its folder below the data folder, for instance `static/law-cnr-2000`.
        name: String,
    },
}

/// A text that names no graph.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("graph {text:?}: {reason}")]
#[non_exhaustive]
pub struct SpecError {
    /// The text.
    pub text: String,
    /// The fault of the text.
    pub reason: String,
}

impl GraphSpec {
    /// Generates or reads the graph. `None`, after a message on stderr, for a data set that is absent and not
    /// required ([`require_data`]).
    ///
    /// # Errors
    /// [`LoadError`]; the first malformed row ends reading.
    pub fn load(&self) -> Result<Option<LoadedGraph>, LoadError> {
        let generated = |graph: generate::EdgeList| {
            Ok(Some(LoadedGraph {
                name: self.to_string(),
                vertices: graph.vertices,
                directed: graph.directed,
                edges: graph.edges,
                weights: None,
                keys: None,
                in_time_order: false,
            }))
        };
        match self {
            GraphSpec::Kron { scale, edge_factor } => generated(generate::kron(*scale, *edge_factor, SEED)),
            GraphSpec::Uniform { scale, edge_factor } => {
                generated(generate::uniform(*scale, *edge_factor, SEED))
            }
            GraphSpec::File { path, format, undirected } => {
                self.load_file(path, format.as_deref(), *undirected)
            }
            GraphSpec::Data { name } => {
                let known = known::find(name)?;
                match require_data(known.folder, &format!("graph {self}"))? {
                    Some(folder) => known.load(self.to_string(), &folder).map(Some),
                    None => Ok(None),
                }
            }
        }
    }

    fn load_file(
        &self,
        path: &Path,
        format: Option<&str>,
        undirected: bool,
    ) -> Result<Option<LoadedGraph>, LoadError> {
        let is_properties = path.extension().is_some_and(|e| e == "properties");
        let graph = match format {
            None if is_properties => load::graphalytics(self.to_string(), &Graphalytics::open(path)?)?,
            Some("graphalytics") => load::graphalytics(self.to_string(), &Graphalytics::open(path)?)?,
            None => load::edges(self.to_string(), path, &EdgeFormat::of_path(path), !undirected)?,
            Some(format) => load::edges(self.to_string(), path, &format.parse()?, !undirected)?,
        };
        Ok(Some(graph))
    }
}

impl FromStr for GraphSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        let fail = |reason: &str| SpecError { text: text.to_owned(), reason: reason.to_owned() };
        let (kind, rest) = text.split_once(':').ok_or_else(|| {
            fail("expected kron:SCALE[:EDGE_FACTOR], uniform:SCALE[:EDGE_FACTOR], file:PATH[:FORMAT] or data:NAME")
        })?;
        match kind {
            "kron" | "uniform" => {
                let (scale, edge_factor) = sizes(rest).map_err(|reason| fail(&reason))?;
                Ok(match kind {
                    "kron" => GraphSpec::Kron { scale, edge_factor },
                    _ => GraphSpec::Uniform { scale, edge_factor },
                })
            }
            "file" => file(rest).ok_or_else(|| fail("the path is empty")),
            "data" if rest.is_empty() => Err(fail("the name is empty")),
            "data" => Ok(GraphSpec::Data { name: rest.trim_end_matches('/').to_owned() }),
            _ => Err(fail("expected kron, uniform, file or data before the colon")),
        }
    }
}

fn sizes(text: &str) -> Result<(u32, u32), String> {
    let (scale, factor) = match text.split_once(':') {
        Some((scale, factor)) => {
            (scale, factor.parse::<u32>().map_err(|_| "the edge factor is not a number")?)
        }
        None => (text, EDGE_FACTOR),
    };
    let scale: u32 = scale.parse().map_err(|_| "the scale is not a number")?;
    if scale > MAX_SCALE {
        return Err(format!("the scale must be at most {MAX_SCALE}"));
    }
    match factor {
        1..=1024 => Ok((scale, factor)),
        _ => Err("the edge factor must be 1 to 1024".to_owned()),
    }
}

/// Parses `PATH[:FORMAT][:undirected]`; a last part that is neither belongs to the path.
fn file(text: &str) -> Option<GraphSpec> {
    let (text, undirected) = match text.strip_suffix(":undirected") {
        Some(rest) => (rest, true),
        None => (text, false),
    };
    let (path, format) = match text.rsplit_once(':') {
        Some((path, name)) if name == "graphalytics" || name.parse::<EdgeFormat>().is_ok() => {
            (path, Some(name.to_owned()))
        }
        _ => (text, None),
    };
    (!path.is_empty()).then(|| GraphSpec::File { path: PathBuf::from(path), format, undirected })
}

impl fmt::Display for GraphSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sized = |f: &mut fmt::Formatter<'_>, kind: &str, scale: u32, factor: u32| match factor {
            EDGE_FACTOR => write!(f, "{kind}:{scale}"),
            _ => write!(f, "{kind}:{scale}:{factor}"),
        };
        match self {
            GraphSpec::Kron { scale, edge_factor } => sized(f, "kron", *scale, *edge_factor),
            GraphSpec::Uniform { scale, edge_factor } => sized(f, "uniform", *scale, *edge_factor),
            GraphSpec::File { path, format, undirected } => {
                write!(f, "file:{}", path.display())?;
                if let Some(format) = format {
                    write!(f, ":{format}")?;
                }
                if *undirected { write!(f, ":undirected") } else { Ok(()) }
            }
            GraphSpec::Data { name } => write!(f, "data:{name}"),
        }
    }
}
