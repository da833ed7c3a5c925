//! Any edge file as a stream: each row is one upsert.

use std::collections::HashMap;
use std::path::Path;

use hedgerow_core::{KeyKind, VertexKey};

use super::event::{EVENTS_PER_TRANSACTION, Event};
use crate::read::{EdgeFormat, EdgeReader, ReadError, RowError};

/// The rows in file order, grouped by count. Weights and times of the file are left out, since weights count
/// events here.
pub(super) struct EdgeStream {
    reader: EdgeReader,
    key_kind: KeyKind,
    /// String keys met before, so that each text is held once.
    interned: HashMap<Box<str>, VertexKey>,
}

impl EdgeStream {
    /// Opens the file; its first row decides if keys are numbers.
    pub(super) fn open(path: &Path) -> Result<EdgeStream, ReadError> {
        let format = EdgeFormat { weight: None, time: None, ..EdgeFormat::of_path(path) };
        let is_number = |text: &str| text.parse::<u64>().is_ok();
        let key_kind = match EdgeReader::open(path, &format)?.next_row() {
            Some(Ok(row)) if !(is_number(row.src) && is_number(row.dst)) => KeyKind::Str,
            _ => KeyKind::U64,
        };
        Ok(EdgeStream { reader: EdgeReader::open(path, &format)?, key_kind, interned: HashMap::new() })
    }

    pub(super) fn key_kind(&self) -> KeyKind {
        self.key_kind
    }

    pub(super) fn next_events(&mut self) -> Result<Vec<Event>, ReadError> {
        let path = self.reader.path().to_owned();
        let mut events = Vec::with_capacity(EVENTS_PER_TRANSACTION);
        while events.len() < EVENTS_PER_TRANSACTION {
            let Some(row) = self.reader.next_row() else { break };
            let row = row?;
            let mut key = |text: &str| match self.key_kind {
                KeyKind::Str => Ok(intern(&mut self.interned, text)),
                _ => text
                    .parse()
                    .map(VertexKey::U64)
                    .map_err(|_| ReadError::row(&path, row.line, RowError::not_a_number("vertex key", text))),
            };
            events.push(Event::Upsert { src: key(row.src)?, dst: key(row.dst)? });
        }
        Ok(events)
    }
}

fn intern(interned: &mut HashMap<Box<str>, VertexKey>, text: &str) -> VertexKey {
    if let Some(key) = interned.get(text) {
        return key.clone();
    }
    let key = VertexKey::from(text);
    interned.insert(text.into(), key.clone());
    key
}
