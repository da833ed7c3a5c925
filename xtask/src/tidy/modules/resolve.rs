//! The search from a path in code to the module that defines the item, through any number of re-exports.

use std::collections::BTreeSet;

use super::parse::{Import, Kind};
use super::tree::Tree;

/// The thing that a path refers to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Target {
    /// A module, by its scope.
    Module(usize),
    /// An item that a module of this crate defines.
    Item { scope: usize, name: String, kind: Kind },
    /// An item of another crate, or of the language.
    Elsewhere,
}

/// The kind of thing that a name must be, by its position in a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Want {
    /// A module, or a type with variants or functions, because more words follow.
    Container,
    /// Any kind, for the last word. An item has precedence over a module with the same name.
    Any,
}

/// The names of the searches in progress, so that circular imports end.
type Seen = BTreeSet<(usize, String, Want)>;

impl Tree {
    /// Returns the meanings of `path`, read in `scope`. There is none if no module defines it, and several if
    /// `cfg` selects among imports.
    pub(super) fn resolve(&self, scope: usize, path: &[String], want: Want) -> Vec<Target> {
        self.path(scope, path, want, &mut Seen::new())
    }

    fn path(&self, scope: usize, path: &[String], want: Want, seen: &mut Seen) -> Vec<Target> {
        let mut targets = vec![Target::Module(scope)];
        for (at, word) in path.iter().enumerate() {
            let want = if at + 1 == path.len() { want } else { Want::Container };
            targets = targets
                .into_iter()
                .flat_map(|target| match target {
                    Target::Module(inside) => self.word(inside, scope, word, at == 0, want, seen),
                    // The words after a type are its variants and functions.
                    other => vec![other],
                })
                .collect();
        }
        targets
    }

    /// Returns the meanings of a word in module `inside`. The word is part of a path that module `reader`
    /// contains.
    fn word(
        &self,
        inside: usize,
        reader: usize,
        word: &str,
        is_first: bool,
        want: Want,
        seen: &mut Seen,
    ) -> Vec<Target> {
        match word {
            "crate" => vec![Target::Module(0)],
            "self" => vec![Target::Module(inside)],
            "super" => self.scopes[inside].parent.map(Target::Module).into_iter().collect(),
            _ => {
                let found = self.name(inside, reader, word, want, seen);
                if !found.is_empty() {
                    found
                } else if is_first {
                    (word == self.krate.replace('-', "_")).then_some(Target::Module(0)).into_iter().collect()
                } else {
                    self.of_macro(inside, word).into_iter().collect()
                }
            }
        }
    }

    /// Returns the meanings of `name` in module `scope`, seen from code in module `reader`.
    fn name(&self, scope: usize, reader: usize, name: &str, want: Want, seen: &mut Seen) -> Vec<Target> {
        let question = (scope, name.to_owned(), want);
        if !seen.insert(question.clone()) {
            return Vec::new();
        }
        let answer = self.fresh_name(scope, reader, name, want, seen);
        seen.remove(&question);
        answer
    }

    fn fresh_name(
        &self,
        scope: usize,
        reader: usize,
        name: &str,
        want: Want,
        seen: &mut Seen,
    ) -> Vec<Target> {
        let child = self.scopes[scope].children.get(name).map(|&child| Target::Module(child));
        let module = &self.scopes[scope].module;
        let kinds = module.items.get(name).map_or(&[][..], Vec::as_slice);
        let is_container = |kind: &&Kind| matches!(kind, Kind::Type | Kind::Trait);
        let kind = match want {
            Want::Container if child.is_some() => return child.into_iter().collect(),
            Want::Container => kinds.iter().find(is_container),
            Want::Any => kinds.first(),
        };
        if let Some(&kind) = kind {
            return vec![Target::Item { scope, name: name.to_owned(), kind }];
        }
        let visible = |import: &&Import| scope == reader || import.public || self.is_below(reader, scope);
        let named = module.imports.iter().filter(visible).filter(|import| import.name == name);
        let mut found: Vec<Target> =
            named.flat_map(|import| self.imported(scope, &import.path, want, seen)).chain(child).collect();
        if found.is_empty() {
            let globs = module.imports.iter().filter(visible).filter(|import| import.name == "*");
            found.extend(globs.flat_map(|glob| self.in_glob(scope, glob, name, want, seen)));
        }
        let best = found.iter().map(rank).min();
        found.retain(|target| Some(rank(target)) == best);
        found
    }

    /// Returns the meanings of the path of an import. If no module of this crate has its first word, the
    /// import is from elsewhere.
    fn imported(&self, scope: usize, path: &[String], want: Want, seen: &mut Seen) -> Vec<Target> {
        let mut found = self.path(scope, path, want, seen);
        if found.is_empty() && self.path(scope, &path[..1], Want::Container, seen).is_empty() {
            return vec![Target::Elsewhere];
        }
        if want == Want::Container {
            found.retain(|target| !matches!(target, Target::Item { kind: Kind::Value | Kind::Macro, .. }));
        }
        found
    }

    fn in_glob(&self, scope: usize, glob: &Import, name: &str, want: Want, seen: &mut Seen) -> Vec<Target> {
        let targets = self.path(scope, &glob.path, Want::Container, seen);
        targets
            .into_iter()
            .flat_map(|target| match target {
                Target::Module(inside) => self.name(inside, scope, name, want, seen),
                _ => Vec::new(),
            })
            .collect()
    }

    /// Returns an item that a macro of module `scope` may define.
    fn of_macro(&self, scope: usize, name: &str) -> Option<Target> {
        let has = self.scopes[scope].module.has_macro_items;
        has.then(|| Target::Item { scope, name: name.to_owned(), kind: Kind::Value })
    }

    /// Returns the module that defines the macro `name`. Searches the whole crate.
    pub(super) fn macro_home(&self, name: &str) -> Vec<Target> {
        let has = |scope: &usize| {
            self.scopes[*scope].module.items.get(name).is_some_and(|k| k.contains(&Kind::Macro))
        };
        let homes = (0..self.scopes.len()).filter(has);
        homes.map(|scope| Target::Item { scope, name: name.to_owned(), kind: Kind::Macro }).collect()
    }

    fn is_below(&self, scope: usize, above: usize) -> bool {
        let mut at = self.scopes[scope].parent;
        while let Some(parent) = at {
            if parent == above {
                return true;
            }
            at = self.scopes[parent].parent;
        }
        false
    }
}

/// Returns the precedence: first items of this crate, then items of other crates, then modules.
fn rank(target: &Target) -> usize {
    match target {
        Target::Item { .. } => 0,
        Target::Elsewhere => 1,
        Target::Module(_) => 2,
    }
}
