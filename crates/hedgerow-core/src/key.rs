//! External ids: how users name vertices.

use std::fmt;
use std::sync::Arc;

/// The type of external ids of a graph, fixed at creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KeyKind {
    /// External ids are the dense internal ids themselves: `u64` values below `u32::MAX`, no mapping kept.
    Dense = 0,
    /// Any `u64`.
    U64 = 1,
    /// Any UTF-8 string of at most [`MAX_KEY_BYTES`] bytes.
    Str = 2,
}

impl KeyKind {
    /// The kind stored as `byte` in a file, if there is one.
    pub fn from_byte(byte: u8) -> Option<KeyKind> {
        match byte {
            0 => Some(KeyKind::Dense),
            1 => Some(KeyKind::U64),
            2 => Some(KeyKind::Str),
            _ => None,
        }
    }
}

/// The longest string key, in bytes.
pub const MAX_KEY_BYTES: usize = 64 * 1024;

/// An owned external id. Cloning a string key copies a reference, not the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VertexKey {
    /// A number.
    U64(u64),
    /// A string.
    Str(Arc<str>),
}

/// A borrowed external id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VertexKeyRef<'a> {
    /// A number.
    U64(u64),
    /// A string.
    Str(&'a str),
}

impl VertexKey {
    /// This key, borrowed.
    #[inline]
    pub fn as_ref(&self) -> VertexKeyRef<'_> {
        match self {
            VertexKey::U64(n) => VertexKeyRef::U64(*n),
            VertexKey::Str(s) => VertexKeyRef::Str(s),
        }
    }
}

impl VertexKeyRef<'_> {
    /// This key, owned; allocates for strings.
    pub fn to_owned(self) -> VertexKey {
        match self {
            VertexKeyRef::U64(n) => VertexKey::U64(n),
            VertexKeyRef::Str(s) => VertexKey::Str(Arc::from(s)),
        }
    }
}

impl From<u64> for VertexKey {
    fn from(n: u64) -> Self {
        VertexKey::U64(n)
    }
}

impl From<&str> for VertexKey {
    fn from(s: &str) -> Self {
        VertexKey::Str(Arc::from(s))
    }
}

impl From<String> for VertexKey {
    fn from(s: String) -> Self {
        VertexKey::Str(Arc::from(s))
    }
}

impl From<u64> for VertexKeyRef<'_> {
    fn from(n: u64) -> Self {
        VertexKeyRef::U64(n)
    }
}

impl<'a> From<&'a str> for VertexKeyRef<'a> {
    fn from(s: &'a str) -> Self {
        VertexKeyRef::Str(s)
    }
}

impl<'a> From<&'a String> for VertexKeyRef<'a> {
    fn from(s: &'a String) -> Self {
        VertexKeyRef::Str(s)
    }
}

impl<'a> From<&'a VertexKey> for VertexKeyRef<'a> {
    fn from(key: &'a VertexKey) -> Self {
        key.as_ref()
    }
}

impl fmt::Display for VertexKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_ref().fmt(f)
    }
}

impl fmt::Display for VertexKeyRef<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            VertexKeyRef::U64(n) => n.fmt(f),
            VertexKeyRef::Str(s) => s.fmt(f),
        }
    }
}
