//! External ids: how users name vertices.

use std::fmt;
use std::sync::Arc;

/// The type of external ids of a graph, fixed at creation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum KeyKind {
    /// External ids are the dense internal ids themselves: `u64` values below `u32::MAX`, without a stored
    /// mapping.
    Dense = 0,
    /// Any `u64`.
    U64 = 1,
    /// Any UTF-8 string of at most [`MAX_KEY_BYTES`] bytes.
    Str = 2,
}

impl KeyKind {
    /// Returns the kind that is stored as `byte` in a file; `None` if no kind is.
    pub fn from_byte(byte: u8) -> Option<KeyKind> {
        match byte {
            0 => Some(KeyKind::Dense),
            1 => Some(KeyKind::U64),
            2 => Some(KeyKind::Str),
            _ => None,
        }
    }
}

/// The number of a vertex kind. Kinds are numbered in the order of their definition; each kind has its own
/// keys, so that equal keys of two kinds name different vertices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KindId(pub u8);

impl KindId {
    /// The kind that needs no definition. A key without a kind belongs to it.
    pub const DEFAULT: KindId = KindId(0);
    /// The largest possible kind.
    pub const MAX: KindId = KindId(254);

    /// Returns the key of a vertex of this kind.
    ///
    /// ```
    /// use hedgerow_core::{KindId, VertexKeyRef};
    ///
    /// let page = KindId(1);
    /// assert_eq!(page.key(7), VertexKeyRef::KindU64(page, 7));
    /// assert_eq!(KindId::DEFAULT.key("a"), VertexKeyRef::Str("a"));
    /// ```
    #[inline]
    pub fn key<'a>(self, key: impl Into<VertexKeyRef<'a>>) -> VertexKeyRef<'a> {
        let (_, key) = key.into().split();
        match key {
            _ if self == KindId::DEFAULT => key,
            VertexKeyRef::Str(s) | VertexKeyRef::KindStr(_, s) => VertexKeyRef::KindStr(self, s),
            VertexKeyRef::U64(n) | VertexKeyRef::KindU64(_, n) => VertexKeyRef::KindU64(self, n),
        }
    }
}

/// The longest string key, in bytes.
pub const MAX_KEY_BYTES: usize = 64 * 1024;

/// An owned external id. Cloning a string key copies a reference, not the text.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VertexKey {
    /// A number, of a vertex of the default kind.
    U64(u64),
    /// A string, of a vertex of the default kind.
    Str(Arc<str>),
    /// A number, of a vertex of another kind.
    KindU64(KindId, u64),
    /// A string, of a vertex of another kind.
    KindStr(KindId, Arc<str>),
}

/// A borrowed external id. [`KindId::key`] makes keys of kinds other than the default one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum VertexKeyRef<'a> {
    /// A number, of a vertex of the default kind.
    U64(u64),
    /// A string, of a vertex of the default kind.
    Str(&'a str),
    /// A number, of a vertex of another kind.
    KindU64(KindId, u64),
    /// A string, of a vertex of another kind.
    KindStr(KindId, &'a str),
}

impl VertexKey {
    /// Returns this key as a borrowed one.
    #[inline]
    pub fn as_ref(&self) -> VertexKeyRef<'_> {
        match self {
            VertexKey::U64(n) => VertexKeyRef::U64(*n),
            VertexKey::Str(s) => VertexKeyRef::Str(s),
            VertexKey::KindU64(kind, n) => VertexKeyRef::KindU64(*kind, *n),
            VertexKey::KindStr(kind, s) => VertexKeyRef::KindStr(*kind, s),
        }
    }

    /// Returns the kind of the vertex.
    #[inline]
    pub fn kind(&self) -> KindId {
        self.as_ref().kind()
    }

    /// Returns this key without its kind, in the form of a key of the default kind: the name of the vertex
    /// among the vertices of its kind.
    pub fn without_kind(self) -> VertexKey {
        match self {
            VertexKey::KindU64(_, n) => VertexKey::U64(n),
            VertexKey::KindStr(_, s) => VertexKey::Str(s),
            plain => plain,
        }
    }

    /// Returns this key as the key of a vertex of `kind`, instead of its own kind.
    pub fn with_kind(self, kind: KindId) -> VertexKey {
        match self.without_kind() {
            plain if kind == KindId::DEFAULT => plain,
            VertexKey::Str(s) | VertexKey::KindStr(_, s) => VertexKey::KindStr(kind, s),
            VertexKey::U64(n) | VertexKey::KindU64(_, n) => VertexKey::KindU64(kind, n),
        }
    }
}

impl<'a> VertexKeyRef<'a> {
    /// Returns this key, owned; allocates for strings.
    pub fn to_owned(self) -> VertexKey {
        match self {
            VertexKeyRef::U64(n) => VertexKey::U64(n),
            VertexKeyRef::Str(s) => VertexKey::Str(Arc::from(s)),
            VertexKeyRef::KindU64(kind, n) => VertexKey::KindU64(kind, n),
            VertexKeyRef::KindStr(kind, s) => VertexKey::KindStr(kind, Arc::from(s)),
        }
    }

    /// Returns the kind of the vertex, and its key without the kind, in the form of a key of the default
    /// kind.
    #[inline]
    pub fn split(self) -> (KindId, VertexKeyRef<'a>) {
        match self {
            VertexKeyRef::KindU64(kind, n) => (kind, VertexKeyRef::U64(n)),
            VertexKeyRef::KindStr(kind, s) => (kind, VertexKeyRef::Str(s)),
            plain => (KindId::DEFAULT, plain),
        }
    }

    /// Returns the kind of the vertex.
    #[inline]
    pub fn kind(self) -> KindId {
        self.split().0
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
            VertexKeyRef::KindU64(kind, n) => write!(f, "{n} of kind {}", kind.0),
            VertexKeyRef::KindStr(kind, s) => write!(f, "{s} of kind {}", kind.0),
        }
    }
}
