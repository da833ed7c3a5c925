//! Which vertices the ends of an edge are, where the label says their kinds; and which keys a vertex may have.

use hedgerow_core::key::MAX_KEY_BYTES;
use hedgerow_core::{Direction, KeyKind, KindId, LabelId, VertexKeyRef};

use super::kinds::Kind;
use super::schema::{Label, Schema};
use super::store::Core;
use crate::error::{ArgumentError, Error, Result};

/// What one end of an edge is, given the kind that its label says: a key that says no kind is of that one.
fn end<'a>(key: VertexKeyRef<'a>, kind: KindId) -> Option<VertexKeyRef<'a>> {
    match key.kind() {
        KindId::DEFAULT => Some(kind.key(key)),
        of => (of == kind).then_some(key),
    }
}

impl Core {
    /// The ends of an edge of a label, with the kinds that the label says. `None` for a label that is not defined yet, which says
    /// none.
    #[inline]
    pub(crate) fn ends_of<'a>(
        &self,
        label: Option<LabelId>,
        src: VertexKeyRef<'a>,
        dst: VertexKeyRef<'a>,
    ) -> Result<(VertexKeyRef<'a>, VertexKeyRef<'a>)> {
        match label {
            None | Some(LabelId::DEFAULT) => Ok((src, dst)),
            Some(label) => self.stated_ends(label, src, dst),
        }
    }

    fn stated_ends<'a>(
        &self,
        label: LabelId,
        src: VertexKeyRef<'a>,
        dst: VertexKeyRef<'a>,
    ) -> Result<(VertexKeyRef<'a>, VertexKeyRef<'a>)> {
        let schema = self.schema.load();
        let Some((label, [from, to])) = schema.label_by_id(label).and_then(|l| Some((l, l.ends()?))) else {
            return Ok((src, dst));
        };
        let as_said = end(src, from).zip(end(dst, to));
        // An undirected edge is the same either way.
        let turned = || end(src, to).zip(end(dst, from)).filter(|_| !self.config.directed);
        as_said.or_else(turned).ok_or_else(|| {
            let (key, expected) = if end(src, from).is_none() { (src, from) } else { (dst, to) };
            wrong_end(&schema, label, key, expected)
        })
    }

    /// The vertex at which edges of a label are read: a key that says no kind is of the one that the label says of the end in that
    /// direction.
    pub(crate) fn end_of<'a>(
        &self,
        label: LabelId,
        key: VertexKeyRef<'a>,
        direction: Direction,
    ) -> Result<VertexKeyRef<'a>> {
        if label == LabelId::DEFAULT || key.kind() != KindId::DEFAULT {
            return Ok(key);
        }
        let schema = self.schema.load();
        let Some((label, ends)) = schema.label_by_id(label).and_then(|l| Some((l, l.ends()?))) else {
            return Ok(key);
        };
        match (self.config.directed, direction) {
            (true, Direction::Out) => Ok(ends[0].key(key)),
            (true, Direction::In) => Ok(ends[1].key(key)),
            (false, _) if ends[0] == ends[1] => Ok(ends[0].key(key)),
            (false, _) => {
                let (name, [a, b]) = (label.name(), ends.map(|kind| named(&schema, kind)));
                Err(ArgumentError::Invalid(format!(
                    "an edge of label {name} joins vertices of {a} and of {b}: say the kind of vertex {key}"
                ))
                .into())
            }
        }
    }

    /// Whether a vertex may have a key of another kind than the default one.
    #[cold]
    pub(super) fn takes_key_of_kind(&self, key: VertexKeyRef<'_>) -> bool {
        let schema = self.schema.load();
        match (schema.kind_by_id(key.kind()).map(Kind::keys), key) {
            (Some(KeyKind::U64), VertexKeyRef::KindU64(..)) => true,
            (Some(KeyKind::Str), VertexKeyRef::KindStr(_, s)) => s.len() <= MAX_KEY_BYTES,
            _ => false,
        }
    }

    /// What is wrong with a key of another kind than the default one.
    #[cold]
    pub(super) fn misfit_of_kind(&self, key: VertexKeyRef<'_>) -> Error {
        let schema = self.schema.load();
        let Some(kind) = schema.kind_by_id(key.kind()) else {
            return schema
                .check_kind(key.kind())
                .err()
                .unwrap_or_else(|| ArgumentError::Invalid(format!("vertex {key}")).into());
        };
        match (kind.keys(), key) {
            (KeyKind::Str, VertexKeyRef::KindStr(_, s)) => ArgumentError::TooLarge {
                what: format!("a vertex key of {} bytes, of kind {},", s.len(), kind.name()),
                limit: MAX_KEY_BYTES as u64,
            }
            .into(),
            (expected, _) => ArgumentError::KeyOfKind {
                kind: kind.name().to_string(),
                expected,
                found: key.split().1.to_owned(),
            }
            .into(),
        }
    }
}

#[cold]
fn wrong_end(schema: &Schema, label: &Label, key: VertexKeyRef<'_>, expected: KindId) -> Error {
    ArgumentError::EndOfKind {
        label: label.name().to_string().into(),
        expected: named(schema, expected).into(),
        key: format!("{} of {}", key.split().1, named(schema, key.kind())).into(),
    }
    .into()
}

fn named(schema: &Schema, kind: KindId) -> String {
    match schema.kind_name(kind) {
        "" => "the default kind".to_owned(),
        name => format!("kind {name}"),
    }
}
