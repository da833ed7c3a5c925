//! The kinds of vertices that a load knows before it changes the store.

use std::collections::HashMap;

use hedgerow::{ArgumentError, Graph, KeyKind, KindId, VertexId, VertexKeyRef};
use hedgerow_export::text::kind_name;

use crate::Error;
use crate::keys;

/// The kinds of the store, then the kinds that the load will define. Their ids are the next ones, in this
/// order.
#[derive(Debug)]
pub(crate) struct Kinds {
    /// The type of the keys of the default kind.
    default: KeyKind,
    /// The other kinds by id, each with its name.
    others: Vec<(String, KeyKind)>,
    /// The kinds of the ends that labels of the store state, by label.
    ends: HashMap<String, [KindId; 2]>,
    /// True if the store is new, so that the type of its keys can be chosen.
    is_new: bool,
}

/// The kinds of the ends of edges in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ends {
    /// The kinds that the label states in the store; the default kind if it states none.
    OfLabel,
    /// These kinds, which become part of the label.
    Stated([KindId; 2]),
    /// These kinds; the label states none.
    Fixed([KindId; 2]),
    /// The kinds that the first two further columns of each row name; the label states none.
    Columns,
}

impl Kinds {
    /// Returns the kinds of a store, whose default kind has keys of type `keys`; `None` is a new store.
    pub(crate) fn of(store: Option<&Graph>, keys: KeyKind) -> Kinds {
        let mut kinds =
            Kinds { default: keys, others: Vec::new(), ends: HashMap::new(), is_new: store.is_none() };
        let Some(schema) = store.map(Graph::schema) else { return kinds };
        kinds.others = schema.kinds().iter().map(|kind| (kind.name().to_string(), kind.keys())).collect();
        let stated =
            schema.labels().iter().filter_map(|label| Some((label.name().to_string(), label.ends()?)));
        kinds.ends = stated.collect();
        kinds
    }

    /// Returns the type of the keys of the default kind.
    pub(crate) fn default_keys(&self) -> KeyKind {
        self.default
    }

    /// Returns the kind with this name, and adds it if it is new. A new kind gets keys of type `keys`, or
    /// `u64` for `None`; an existing kind must have that type.
    pub(crate) fn define(&mut self, name: &str, keys: Option<KeyKind>) -> Result<KindId, Error> {
        if let Some(id) = self.named(name) {
            let found = self.keys(id);
            return match keys.filter(|keys| *keys != found) {
                None => Ok(id),
                Some(wanted) => Err(conflict(name, found, wanted)),
            };
        }
        if self.others.len() >= usize::from(KindId::MAX.0) {
            let limit = u64::from(KindId::MAX.0);
            let what = format!("the number of kinds, with kind {name},");
            return Err(hedgerow::Error::from(ArgumentError::TooLarge { what, limit }).into());
        }
        self.others.push((name.to_owned(), keys.unwrap_or(KeyKind::U64)));
        Ok(KindId(self.others.len() as u8))
    }

    fn named(&self, name: &str) -> Option<KindId> {
        let at = || self.others.iter().position(|(other, _)| other == name);
        if name.is_empty() { Some(KindId::DEFAULT) } else { Some(KindId(at()? as u8 + 1)) }
    }

    /// Returns the kind with this name; the empty name is the default kind.
    pub(crate) fn find(&self, name: &str) -> Result<KindId, Error> {
        self.named(name).ok_or_else(|| {
            let others = self.others.iter().map(|(name, _)| name.clone());
            let known = std::iter::once(String::new()).chain(others).collect();
            hedgerow::Error::from(ArgumentError::NoSuchKind { kind: name.to_owned(), known }).into()
        })
    }

    /// Defines in the store the kinds that it lacks. Existing kinds stay as they are.
    pub(crate) fn define_in(&self, graph: &Graph) -> Result<(), Error> {
        for (name, keys) in &self.others {
            graph.define_kind(name, *keys)?;
        }
        Ok(())
    }

    fn other(&self, id: KindId) -> Option<&(String, KeyKind)> {
        self.others.get(usize::from(id.0).checked_sub(1)?)
    }

    /// Returns the type of the keys of a kind.
    pub(crate) fn keys(&self, id: KindId) -> KeyKind {
        self.other(id).map_or(self.default, |(_, keys)| *keys)
    }

    /// Parses a key of a kind; the error describes the fault in the text.
    pub(crate) fn parse<'a>(&self, id: KindId, text: &'a str) -> Result<VertexKeyRef<'a>, String> {
        match self.other(id) {
            None => keys::parse(self.default, text).map_err(|why| match self.is_new {
                true if self.default != KeyKind::Str => format!("{why} (--keys str takes texts)"),
                _ => why,
            }),
            Some((name, keys)) => keys::parse_of(name, id, *keys, text),
        }
    }

    /// Returns the key of a kind that a number is; the error describes the fault.
    pub(crate) fn number(&self, id: KindId, number: u64) -> Result<VertexKeyRef<'static>, String> {
        let most = u64::from(VertexId::MAX.0);
        match self.keys(id) {
            KeyKind::Str => Err("a number, but the keys of this kind are texts".to_owned()),
            KeyKind::Dense if number > most => {
                Err(format!("vertex id {number} is out of range: dense ids end at {most}"))
            }
            KeyKind::Dense | KeyKind::U64 => Ok(id.key(number)),
        }
    }

    /// Returns the kinds that a label states in the store; the default kind if it states none.
    pub(crate) fn ends_of(&self, label: &str) -> [KindId; 2] {
        self.ends.get(label).copied().unwrap_or_default()
    }

    /// True if all keys that edges may have at `ends` are numbers. `label` is the label of all edges, if they
    /// have the same one.
    pub(crate) fn are_numbers(&self, ends: Ends, label: Option<&str>) -> bool {
        let all = |ends: &[KindId]| ends.iter().all(|id| self.keys(*id) != KeyKind::Str);
        match (ends, label) {
            (Ends::Stated(ends) | Ends::Fixed(ends), _) => all(&ends),
            (Ends::OfLabel, Some(label)) => all(&self.ends_of(label)),
            (Ends::OfLabel, None) => all(&[KindId::DEFAULT]) && self.ends.values().all(|ends| all(ends)),
            (Ends::Columns, _) => false,
        }
    }

    /// Refuses ends without fixed kinds for a label that states kinds: the keys of the edges would be read as
    /// keys of other kinds.
    pub(crate) fn check_ends(&self, ends: Ends, label: &str) -> Result<(), Error> {
        let differ = |stated: &&[KindId; 2]| match ends {
            Ends::Fixed(ends) => ends != **stated,
            Ends::Columns => true,
            Ends::OfLabel | Ends::Stated(_) => false,
        };
        let Some(stated) = self.ends.get(label).filter(differ) else { return Ok(()) };
        let name = |id: KindId| self.other(id).map_or("", |(name, _)| name);
        Err(hedgerow::Error::from(ArgumentError::SchemaConflict {
            name: format!("label {label}"),
            wanted: "without kinds of its ends".to_owned(),
            found: format!("from and to kinds {:?}", stated.map(name)),
        })
        .into())
    }
}

fn conflict(name: &str, found: KeyKind, wanted: KeyKind) -> Error {
    let shown = |keys| format!("with {} keys", kind_name(keys));
    hedgerow::Error::from(ArgumentError::SchemaConflict {
        name: if name.is_empty() { "the default kind".to_owned() } else { format!("kind {name}") },
        wanted: shown(wanted),
        found: shown(found),
    })
    .into()
}
