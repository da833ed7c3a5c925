//! A version-control history as a stream: changes of files by authors, with files that are added and removed.
//!
//! Header `commit_time,author_id,file_id,op,commit_id`; consecutive lines of one commit are one transaction.
//! Authors and files are two number spaces, so vertices are named `a:N` and `f:N`. Operations A (added), M
//! (modified) and T (type changed) upsert the edge from author to file, D (deleted) removes the file. An
//! author is a vertex from the first line that names it, even if that is a deletion. In histories with side
//! branches, an operation may meet an unexpected state (a deleted file is modified, an existing one added).
//! The rules of events also define the result of such operations.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_core::VertexKey;

use super::event::Event;
use crate::read::{Lines, ReadError, RowError};

const HEADER: &str = "commit_time,author_id,file_id,op,commit_id";

pub(super) fn is_header(line: &str) -> bool {
    line.trim() == HEADER
}

pub(super) struct GitLog {
    lines: Lines,
    /// The first event of the next transaction, and its commit.
    pending: Option<(u64, Event)>,
    authors: HashMap<u64, VertexKey>,
    files: HashMap<u64, VertexKey>,
}

impl GitLog {
    pub(super) fn open(path: &Path) -> Result<GitLog, ReadError> {
        let mut lines = Lines::open(path)?;
        lines.advance()?; // the header, which chose this reader
        Ok(GitLog { lines, pending: None, authors: HashMap::new(), files: HashMap::new() })
    }

    /// Returns the events of the next commit; empty at the end.
    pub(super) fn next_events(&mut self) -> Result<Vec<Event>, ReadError> {
        let mut events = Vec::new();
        let mut commit = None;
        if let Some((id, event)) = self.pending.take() {
            commit = Some(id);
            events.push(event);
        }
        while self.lines.advance()? {
            if self.lines.text().is_empty() {
                continue;
            }
            let (id, event) = self.parse()?;
            if *commit.get_or_insert(id) != id {
                self.pending = Some((id, event));
                break;
            }
            events.push(event);
        }
        Ok(events)
    }

    fn parse(&mut self) -> Result<(u64, Event), ReadError> {
        let row = parse_row(self.lines.text())
            .map_err(|reason| ReadError::row(self.lines.path(), self.lines.line(), reason))?;
        let file = named(&mut self.files, "f", row.file);
        let event = if row.deletes {
            // A few authors have only deletions, so a deletion names a new author. If it named a known one,
            // it would needlessly depend on other transactions of this author.
            let is_new = !self.authors.contains_key(&row.author);
            let by = is_new.then(|| named(&mut self.authors, "a", row.author));
            Event::RemoveVertex { vertex: file, by }
        } else {
            Event::Upsert { src: named(&mut self.authors, "a", row.author), dst: file }
        };
        Ok((row.commit, event))
    }
}

struct Row {
    author: u64,
    file: u64,
    deletes: bool,
    commit: u64,
}

fn parse_row(line: &str) -> Result<Row, RowError> {
    let mut fields = line.split(',');
    let mut next = |column, what| {
        fields.next().ok_or(RowError::MissingColumn { what, column, found: line.split(',').count() })
    };
    let number = |what, text: &str| text.parse::<u64>().map_err(|_| RowError::not_a_number(what, text));
    next(0, "commit time")?;
    let author = number("author id", next(1, "author id")?)?;
    let file = number("file id", next(2, "file id")?)?;
    let deletes = match next(3, "operation")? {
        "A" | "M" | "T" => false,
        "D" => true,
        other => return Err(RowError::unexpected("operation A, M, T or D", other)),
    };
    let commit = number("commit id", next(4, "commit id")?)?;
    Ok(Row { author, file, deletes, commit })
}

fn named(known: &mut HashMap<u64, VertexKey>, space: &str, id: u64) -> VertexKey {
    known.entry(id).or_insert_with(|| VertexKey::from(format!("{space}:{id}"))).clone()
}
