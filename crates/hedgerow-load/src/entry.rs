//! The entries of `schema.json`, with errors that name the place of a fault.

use std::path::{Path, PathBuf};

use hedgerow::PropertyType;
use serde_json::Value;

use crate::Error;
use crate::kinds::{Ends, Kinds};
use crate::property::ColumnType;

/// An object in `schema.json`, with its position for messages.
#[derive(Clone)]
pub(crate) struct Entry<'a> {
    path: &'a Path,
    at: String,
    value: &'a Value,
}

impl<'a> Entry<'a> {
    /// Returns the whole description, which the file at `path` has.
    pub(crate) fn root(path: &'a Path, value: &'a Value) -> Entry<'a> {
        Entry { path, at: String::new(), value }
    }

    pub(crate) fn wrong(&self, name: &str, expected: &str) -> Error {
        let found = self.value.get(name).map_or_else(|| "nothing".to_owned(), Value::to_string);
        let found: String = found.chars().take(100).collect();
        let at = &self.at;
        Error::file(self.path, format!("{at}{name}: expected {expected}, found {found}"))
    }

    pub(crate) fn get<T>(
        &self,
        name: &str,
        expected: &str,
        f: impl FnOnce(&'a Value) -> Option<T>,
    ) -> Result<T, Error> {
        self.value.get(name).and_then(f).ok_or_else(|| self.wrong(name, expected))
    }

    pub(crate) fn text(&self, name: &str) -> Result<&'a str, Error> {
        self.get(name, "a text", Value::as_str)
    }

    pub(crate) fn number(&self, name: &str) -> Result<u64, Error> {
        self.get(name, "a whole number", Value::as_u64)
    }

    pub(crate) fn truth(&self, name: &str) -> Result<bool, Error> {
        self.get(name, "true or false", Value::as_bool)
    }

    pub(crate) fn entry(&self, name: &str) -> Result<Entry<'a>, Error> {
        let value = self.get(name, "an object", |value| value.is_object().then_some(value))?;
        Ok(Entry { path: self.path, at: format!("{}{name}.", self.at), value })
    }

    pub(crate) fn list(&self, name: &str) -> Result<Vec<Entry<'a>>, Error> {
        let list = self.get(name, "a list", Value::as_array)?;
        let entry = |(at, value)| Entry { path: self.path, at: format!("{}{name}[{at}].", self.at), value };
        Ok(list.iter().enumerate().map(entry).collect())
    }

    /// Returns the kinds of vertices that the edges of a label join, in a schema with kinds.
    pub(crate) fn ends(&self, kinds: &Kinds) -> Result<Ends, Error> {
        let expected = "null or the names of two kinds";
        let ends = self.get("ends", expected, Some)?;
        if ends.is_null() {
            return Ok(Ends::Columns);
        }
        let names = ends.as_array().map(|ends| ends.iter().map(Value::as_str).collect::<Vec<_>>());
        let Some([Some(from), Some(to)]) = names.as_deref() else { return Err(self.wrong("ends", expected)) };
        let wrong = |_| self.wrong("ends", expected);
        Ok(Ends::Stated([kinds.find(from).map_err(wrong)?, kinds.find(to).map_err(wrong)?]))
    }

    pub(crate) fn properties(&self) -> Result<Vec<(String, ColumnType)>, Error> {
        let mut properties: Vec<(String, ColumnType)> = Vec::new();
        for entry in self.list("properties")? {
            let name = entry.text("name")?;
            let kind = PropertyType::from_name(entry.text("type")?)
                .ok_or_else(|| entry.wrong("type", "bool, i64, f64, utf8, bytes or timestamp"))?;
            if name.is_empty() || properties.iter().any(|(other, _)| other == name) {
                return Err(entry.wrong("name", "a name that no other property has"));
            }
            properties.push((name.to_owned(), ColumnType::exported(kind)));
        }
        Ok(properties)
    }

    pub(crate) fn has(&self, name: &str) -> bool {
        self.value.get(name).is_some()
    }

    /// Returns the descriptions of the files of a table: of its parts, or else of its only file.
    pub(crate) fn files(&self) -> Result<Vec<Entry<'a>>, Error> {
        if !self.has("parts") {
            return Ok(vec![self.clone()]);
        }
        let parts = self.list("parts")?;
        if parts.is_empty() { Err(self.wrong("parts", "at least one file")) } else { Ok(parts) }
    }

    /// Returns the path of the file that the entry names. The file must be directly in the directory.
    pub(crate) fn file(&self, directory: &Path) -> Result<PathBuf, Error> {
        let name = self.text("file")?;
        if name.is_empty() || name.contains(['/', '\\', '\0']) || name == "." || name == ".." {
            return Err(self.wrong("file", "the name of a file in the same directory"));
        }
        let path = directory.join(name);
        if !path.is_file() {
            return Err(Error::file(&path, format!("no such file, and {} names it", self.path.display())));
        }
        Ok(path)
    }
}
