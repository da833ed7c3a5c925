//! Vertex keys as text in files and arguments.

use hedgerow::{KeyKind, KindId, VertexId, VertexKeyRef};
use hedgerow_core::key::MAX_KEY_BYTES;

/// Parses a key of type `kind`. O(length of the text).
///
/// # Errors
/// The fault in the text.
pub fn parse(kind: KeyKind, text: &str) -> Result<VertexKeyRef<'_>, String> {
    let number = || -> Result<u64, String> {
        text.parse()
            .or_else(|_| text.trim().parse())
            .map_err(|_| format!("vertex id {:?} is not a number from 0 to {}", shorten(text), u64::MAX))
    };
    match kind {
        KeyKind::U64 => Ok(VertexKeyRef::U64(number()?)),
        KeyKind::Dense => match number()? {
            n if n <= u64::from(VertexId::MAX.0) => Ok(VertexKeyRef::U64(n)),
            n => Err(format!("vertex id {n} is out of range: dense ids end at {}", VertexId::MAX.0)),
        },
        KeyKind::Str if text.len() > MAX_KEY_BYTES => {
            Err(format!("vertex key of {} bytes is longer than {MAX_KEY_BYTES}", text.len()))
        }
        KeyKind::Str => Ok(VertexKeyRef::Str(text)),
    }
}

/// Parses a key of a vertex of a named kind, like [`parse`]. O(length of the text).
///
/// # Errors
/// The kind, and the fault in the text.
pub fn parse_of<'a>(
    name: &str,
    id: KindId,
    keys: KeyKind,
    text: &'a str,
) -> Result<VertexKeyRef<'a>, String> {
    let key = parse(keys, text);
    if id == KindId::DEFAULT {
        key
    } else {
        key.map(|key| id.key(key)).map_err(|why| format!("kind {name}: {why}"))
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
