//! Vertex keys as text.

use hedgerow::{KeyKind, KindId, Schema, VertexId, VertexKey, VertexKeyRef};
use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_export::text::kinds;

use crate::error::CliError;

/// Parses a key of type `kind`; the error describes the fault in the text.
pub(crate) fn parse(kind: KeyKind, text: &str) -> Result<VertexKeyRef<'_>, String> {
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

/// Parses a key of a vertex of a named kind, like [`parse`]; the error names the kind.
pub(crate) fn parse_of<'a>(
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

/// Parses a key in the command line argument `argument`. The store has `schema`, and its default kind has
/// keys of type `keys`. In a store with kinds, `KIND:KEY` names a kind. `:KEY`, and any text that does not
/// begin with the name of a kind, is a key of the default kind.
pub(crate) fn parse_argument(
    schema: &Schema,
    keys: KeyKind,
    argument: &str,
    text: &str,
) -> Result<VertexKey, CliError> {
    let parsed = match text.split_once(':') {
        Some(("", rest)) if !schema.kinds().is_empty() => parse(keys, rest),
        Some((name, rest)) => match schema.kind(name) {
            Some(kind) => parse_of(name, kind.id(), kind.keys(), rest),
            None => parse(keys, text),
        },
        None => parse(keys, text),
    };
    parsed.map(VertexKeyRef::to_owned).map_err(|why| CliError::Usage(format!("{argument}: {why}")))
}

/// Parses a key in the command line argument `argument`: the whole text is the key of a vertex of `kind`.
pub(crate) fn parse_key(
    schema: &Schema,
    keys: KeyKind,
    argument: &str,
    text: &str,
    kind: KindId,
) -> Result<VertexKey, CliError> {
    let keys = kinds(schema, keys).find_map(|(id, keys)| (id == kind).then_some(keys)).unwrap_or(keys);
    let parsed = parse_of(schema.kind_name(kind), kind, keys, text);
    parsed.map(VertexKeyRef::to_owned).map_err(|why| CliError::Usage(format!("{argument}: {why}")))
}

/// Parses the key of an end of an edge like [`parse_argument`]. A key without a kind has the one that the
/// label states.
pub(crate) fn parse_end(
    schema: &Schema,
    keys: KeyKind,
    argument: &str,
    text: &str,
    stated: Option<KindId>,
) -> Result<VertexKey, CliError> {
    let names_kind =
        text.split_once(':').is_some_and(|(name, _)| name.is_empty() || schema.kind(name).is_some());
    match stated {
        Some(kind) if !names_kind => parse_key(schema, keys, argument, text, kind),
        _ => parse_argument(schema, keys, argument, text),
    }
}

/// Returns a key in the form that [`parse_argument`] reads.
pub(crate) fn spelled(schema: &Schema, key: VertexKeyRef<'_>) -> String {
    let (kind, plain) = key.split();
    if schema.kinds().is_empty() { plain.to_string() } else { format!("{}:{plain}", schema.kind_name(kind)) }
}

/// Returns a key as JSON, without its kind.
pub(crate) fn to_json(key: &VertexKey) -> serde_json::Value {
    match key {
        VertexKey::U64(n) | VertexKey::KindU64(_, n) => (*n).into(),
        VertexKey::Str(s) | VertexKey::KindStr(_, s) => (**s).into(),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(40).collect()
}
