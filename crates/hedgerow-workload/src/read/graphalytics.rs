//! Graphs of LDBC Graphalytics: `NAME.properties`, `NAME.v`, `NAME.e`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use super::{Lines, ReadError};

/// The files of a Graphalytics graph, and its properties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graphalytics {
    /// The name of the graph.
    pub name: String,
    /// The vertex file: one vertex id a line.
    pub vertex_file: PathBuf,
    /// The edge file: `SRC DST [WEIGHT]` a line; an undirected graph has each edge once.
    pub edge_file: PathBuf,
    /// True if edges have a direction.
    pub directed: bool,
    /// True if edges have a weight.
    pub weighted: bool,
    /// The properties file.
    path: PathBuf,
    /// Entries without the leading `graph.NAME.`.
    entries: BTreeMap<String, String>,
}

impl Graphalytics {
    /// Reads a `.properties` file, whose `.v` and `.e` files are in the same folder (compressed or not).
    ///
    /// # Errors
    /// [`ReadError::Open`], [`ReadError::Io`]; [`ReadError::Property`] if it does not state the direction of
    /// the graph.
    pub fn open(path: &Path) -> Result<Graphalytics, ReadError> {
        let mut name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut entries = BTreeMap::new();
        let mut lines = Lines::open(path)?;
        while lines.advance()? {
            let text = lines.text().trim();
            let Some((key, value)) = text.split_once('=').filter(|_| !text.starts_with(['#', '!'])) else {
                continue;
            };
            let key = key.trim();
            let rest = key.strip_prefix("graph.").unwrap_or(key);
            // Names have no dot, and all entries of a file have the same name.
            let (graph, entry) = rest.split_once('.').unwrap_or(("", rest));
            if !graph.is_empty() {
                name = graph.to_owned();
            }
            entries.insert(entry.to_owned(), value.trim().to_owned());
        }
        let beside = |entry: &str, extension: &str| {
            let default = format!("{name}.{extension}");
            find(&path.with_file_name(entries.get(entry).unwrap_or(&default)))
        };
        let vertex_file = beside("vertex-file", "v");
        let mut edge_file = beside("edge-file", "e");
        if edge_file == vertex_file {
            // Some of the published test graphs name the vertex file twice.
            edge_file = find(&path.with_file_name(format!("{name}.e")));
        }
        let mut graph = Graphalytics {
            vertex_file,
            edge_file,
            weighted: entries.get("edge-properties.names").is_some_and(|names| !names.is_empty()),
            directed: false,
            name,
            path: path.to_owned(),
            entries,
        };
        graph.directed = graph.required("directed")?;
        Ok(graph)
    }

    /// Returns the entry `graph.NAME.{key}`, for instance `pr.damping-factor`.
    pub fn entry(&self, key: &str) -> Option<&str> {
        self.entries.get(key).map(String::as_str)
    }

    /// Returns the value of the entry `graph.NAME.{key}`.
    ///
    /// # Errors
    /// [`ReadError::Property`] if it is absent or cannot be read as `T`.
    pub fn required<T: FromStr>(&self, key: &str) -> Result<T, ReadError> {
        let failed =
            |reason: String| ReadError::Property { path: self.path.clone(), key: key.to_owned(), reason };
        let text = self.entry(key).ok_or_else(|| failed("absent".to_owned()))?;
        text.parse().map_err(|_| failed(format!("cannot be read: {text:?}")))
    }

    /// Returns the algorithms with an expected result, in lower case.
    pub fn algorithms(&self) -> Vec<String> {
        let list = self.entry("algorithms").unwrap_or_default();
        list.split(',').map(|name| name.trim().to_lowercase()).filter(|name| !name.is_empty()).collect()
    }

    /// Returns the file of expected results of `algorithm` (in lower case), `NAME-ALGORITHM` beside the
    /// properties.
    pub fn expected_file(&self, algorithm: &str) -> PathBuf {
        find(&self.path.with_file_name(format!("{}-{}", self.name, algorithm.to_uppercase())))
    }
}

/// Returns `path`, or its compressed form if only that exists.
fn find(path: &Path) -> PathBuf {
    let with = |extension: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(extension);
        PathBuf::from(name)
    };
    let forms = [path.to_owned(), with(".zst"), with(".gz")];
    forms.into_iter().find(|form| form.exists()).unwrap_or_else(|| path.to_owned())
}
