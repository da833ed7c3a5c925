//! Vertex keys in arguments and results.

use hedgerow::{KeyKind, KindId, Schema, VertexKey, VertexKeyRef};
use hedgerow_export::text::kinds;
use hedgerow_load::keys::{parse, parse_of};

use crate::error::CliError;

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
