//! What the checks read, a file, and what they write, a report.

/// What the checks found.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// Each fails the run.
    pub(super) errors: Vec<String>,
    /// Files with `unsafe`, and how many blocks each has.
    pub(super) unsafe_blocks: Vec<(String, usize)>,
    /// A line for each crate: how many modules, arrows between them and cycles it has.
    pub(super) modules: Vec<String>,
}

impl Report {
    pub(super) fn error(&mut self, file: &File, line: usize, message: impl AsRef<str>) {
        self.errors.push(format!("{}:{line}: {}", file.path, message.as_ref()));
    }
}

/// A text file of the repository.
#[derive(Debug)]
pub(super) struct File {
    /// Relative to the repository, with `/` between parts.
    pub(super) path: String,
    pub(super) text: String,
}

impl File {
    pub(super) fn has_extension(&self, extension: &str) -> bool {
        self.path.rsplit_once('.').is_some_and(|(_, e)| e == extension)
    }
}
