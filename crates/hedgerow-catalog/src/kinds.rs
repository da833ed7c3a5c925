//! Kinds of vertices: each has its own keys and properties.

use std::sync::Arc;

use hedgerow_core::property::MAX_NAME_BYTES;
use hedgerow_core::{KeyKind, KindId, Timestamp};

use crate::error::{ArgumentError, Error};

/// A kind of vertices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kind {
    id: KindId,
    name: Arc<str>,
    text: bool,
    defined: Timestamp,
}

impl Kind {
    /// Returns the id.
    pub fn id(&self) -> KindId {
        self.id
    }

    /// Returns the name.
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Returns the type of its keys, [`KeyKind::U64`] or [`KeyKind::Str`].
    pub fn keys(&self) -> KeyKind {
        if self.text { KeyKind::Str } else { KeyKind::U64 }
    }

    /// Returns the timestamp of the definition.
    #[doc(hidden)]
    pub fn defined(&self) -> Timestamp {
        self.defined
    }
}

/// The kinds of a graph after the default one, by id.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Kinds(Vec<Kind>);

impl Kinds {
    pub(crate) fn all(&self) -> &[Kind] {
        &self.0
    }

    pub(crate) fn named(&self, name: &str) -> Option<&Kind> {
        self.0.iter().find(|kind| &*kind.name == name)
    }

    /// Returns a kind by id; `None` for the default kind too.
    pub(crate) fn get(&self, id: KindId) -> Option<&Kind> {
        self.0.get(usize::from(id.0).checked_sub(1)?)
    }

    /// Drops the kinds that were defined after `ts`.
    pub(crate) fn retain_until(&mut self, ts: Timestamp) {
        self.0.retain(|kind| kind.defined <= ts);
    }

    pub(crate) fn missing(&self, kind: String) -> Error {
        let known = self.0.iter().map(|kind| kind.name.to_string()).collect();
        ArgumentError::NoSuchKind { kind, known }.into()
    }

    /// Adds a kind that the log defines. Its id must follow the last kind's id. `Err` names the mismatch.
    pub(crate) fn add(
        &mut self,
        id: KindId,
        name: &str,
        text: bool,
        defined: Timestamp,
    ) -> std::result::Result<(), &'static str> {
        let next = usize::from(id.0) == self.0.len() + 1 && id <= KindId::MAX;
        let next = next && self.0.last().is_none_or(|last| last.defined <= defined);
        if !next || name.is_empty() || name.len() > MAX_NAME_BYTES || self.named(name).is_some() {
            return Err("a kind that does not follow the ones before it");
        }
        self.0.push(Kind { id, name: Arc::from(name), text, defined });
        Ok(())
    }
}
