//! Checks of arguments against the properties that a graph got at its creation: weights and keys.

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_core::{KeyKind, VertexKeyRef};

use crate::state::catalog::Catalog;

impl Catalog {
    /// Checks that the graph has weights, and that `weight` is a number.
    pub(super) fn check_weight(&self, weight: f64) -> Result<()> {
        if !self.config.weighted {
            return Err(ArgumentError::Invalid("the graph has no weights".into()).into());
        }
        if weight.is_nan() {
            return Err(ArgumentError::Invalid("a weight must be a number, not NaN".into()).into());
        }
        Ok(())
    }

    /// Checks that `key` is of the graph's type and in range.
    #[inline]
    pub(super) fn check_key(&self, key: VertexKeyRef<'_>) -> Result<()> {
        if self.takes_key(key) { Ok(()) } else { Err(self.misfit(key)) }
    }

    /// True if a vertex may have the key.
    #[inline]
    fn takes_key(&self, key: VertexKeyRef<'_>) -> bool {
        // One match after the other: for a match on a pair of the graph's kind and the key, the compiler
        // copies the whole key. Then the processor waits until the words that the caller has just written
        // have left its store buffer.
        match key {
            VertexKeyRef::U64(n) => match self.config.keys {
                KeyKind::Dense => n <= u64::from(hedgerow_core::VertexId::MAX.0),
                KeyKind::U64 => true,
                KeyKind::Str => false,
            },
            VertexKeyRef::Str(s) => {
                self.config.keys == KeyKind::Str && s.len() <= hedgerow_core::key::MAX_KEY_BYTES
            }
            VertexKeyRef::KindU64(..) | VertexKeyRef::KindStr(..) => self.takes_key_of_kind(key),
        }
    }

    /// Makes the error for a key that no vertex may have.
    #[cold]
    fn misfit(&self, key: VertexKeyRef<'_>) -> Error {
        if let VertexKeyRef::KindU64(..) | VertexKeyRef::KindStr(..) = key {
            return self.misfit_of_kind(key);
        }
        match (self.config.keys, key) {
            (KeyKind::Dense, VertexKeyRef::U64(n)) => Error::Argument(ArgumentError::Invalid(format!(
                "vertex id {n} is out of range: dense ids end at {}",
                u32::MAX - 1
            ))),
            (KeyKind::Str, VertexKeyRef::Str(s)) => Error::Argument(ArgumentError::TooLarge {
                what: format!("a vertex key of {} bytes", s.len()),
                limit: hedgerow_core::key::MAX_KEY_BYTES as u64,
            }),
            (kind, key) => Error::Argument(ArgumentError::Invalid(format!(
                "vertex key {key:?} does not fit a graph with {kind:?} keys"
            ))),
        }
    }
}
