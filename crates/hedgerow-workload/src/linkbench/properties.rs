//! The file of properties: lines `name = value`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::error::LinkBenchError;

/// The entries of the file.
#[derive(Clone, Debug)]
pub(super) struct Properties {
    path: PathBuf,
    values: HashMap<String, (usize, String)>,
}

/// Reads a file.
pub(super) fn read(path: &Path) -> Result<Properties, LinkBenchError> {
    let text =
        std::fs::read_to_string(path).map_err(|error| LinkBenchError::Io { path: path.to_owned(), error })?;
    Ok(Properties::of(&text, path))
}

impl Properties {
    /// Parses the text of a file; lines that begin with `#` are comments.
    pub(super) fn of(text: &str, path: &Path) -> Properties {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with('#'));
        let pairs = lines.filter_map(|(at, line)| {
            let (name, value) = line.split_once('=')?;
            Some((name.trim().to_owned(), (at + 1, value.trim().to_owned())))
        });
        Properties { path: path.to_owned(), values: pairs.collect() }
    }

    /// Returns the number with this name, which must be finite and not negative.
    pub(super) fn number(&self, name: &str) -> Result<f64, LinkBenchError> {
        let Some((line, value)) = self.values.get(name) else {
            return Err(LinkBenchError::Missing { path: self.path.clone(), what: name.to_owned() });
        };
        let number = value.parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0);
        number.ok_or_else(|| LinkBenchError::Line {
            path: self.path.clone(),
            line: *line,
            what: format!("{name} is {value}, not a number from 0 on"),
        })
    }
}
