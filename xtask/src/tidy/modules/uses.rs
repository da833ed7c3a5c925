//! The arrows between modules. There is an arrow for every item that one module defines and another one
//! names.

use std::collections::{BTreeMap, BTreeSet};

use super::parse::{Import, Kind, Mention, Module};
use super::resolve::{Target, Want};
use super::tree::Tree;

/// The reasons for an arrow between two modules: each item, with the first line that names it.
pub(super) type Items = BTreeMap<String, usize>;

/// The arrows between the modules of a crate, by the numbers of the modules.
#[derive(Debug, Default)]
pub(super) struct Graph {
    pub(super) arrows: BTreeMap<(usize, usize), Items>,
    /// The number of `impl` blocks without a trait for types that another module defines. A call of their
    /// methods is an arrow that this reader cannot find.
    pub(super) foreign_impls: usize,
    /// The paths from `crate`, `self` or `super` that this reader could not follow, with their modules and
    /// lines.
    pub(super) unknown: Vec<(usize, usize, String)>,
}

impl Graph {
    /// Reads the arrows of a crate.
    pub(super) fn of(tree: &Tree) -> Graph {
        let mut graph = Graph::default();
        for scope in 0..tree.scopes.len() {
            let module = &tree.scopes[scope].module;
            let said: BTreeSet<&str> = module.mentions.iter().map(|m| m.path[0].as_str()).collect();
            for import in module.imports.iter().filter(|import| !import.public) {
                graph.import(tree, scope, import, &said);
            }
            for mention in &module.mentions {
                graph.mention(tree, scope, mention);
            }
            for inherent in &module.inherent {
                let targets = tree.resolve(scope, inherent, Want::Any);
                let is_foreign = |target: &Target| matches!(target, Target::Item { scope: home, .. } if tree.scopes[*home].node != tree.scopes[scope].node);
                graph.foreign_impls += usize::from(targets.iter().any(is_foreign));
            }
        }
        graph
    }

    /// Reads an import. It makes no arrow if it only re-exports, or only gives a name to the modules below.
    fn import(&mut self, tree: &Tree, scope: usize, import: &Import, said: &BTreeSet<&str>) {
        let targets = tree.resolve(scope, &import.path, Want::Any);
        if targets.is_empty() && is_local(&import.path[0]) {
            self.unknown.push((tree.scopes[scope].node, import.line, import.path.join("::")));
        }
        // One import may bring a function and a module with the same name. The mentions show which of them
        // the code uses.
        let containers = tree.resolve(scope, &import.path, Want::Container);
        let is_module_too = containers.iter().any(|target| matches!(target, Target::Module(_)));
        let is_said = said.contains(import.name.as_str()) && !is_module_too;
        for target in targets {
            // `*` may import the names of an enum, and a trait may be imported for its methods. The code does
            // not have to name these.
            let Target::Item { scope: home, name, kind } = target else { continue };
            if is_said || import.name == "*" || kind == Kind::Trait {
                self.arrow(tree, scope, home, name, import.line);
            }
        }
    }

    fn mention(&mut self, tree: &Tree, scope: usize, mention: &Mention) {
        let [first, rest @ ..] = mention.path.as_slice() else { return };
        if rest.is_empty() && (is_local(first) || is_variable(&tree.scopes[scope].module, mention)) {
            return;
        }
        let mut targets = tree.resolve(scope, &mention.path, Want::Any);
        if mention.next == "!" && targets.is_empty() {
            targets = mention.path.last().map_or(Vec::new(), |name| tree.macro_home(name));
        }
        if targets.is_empty() && is_local(first) {
            self.unknown.push((tree.scopes[scope].node, mention.line, mention.path.join("::")));
        }
        for target in targets {
            if let Target::Item { scope: home, name, .. } = target {
                self.arrow(tree, scope, home, name, mention.line);
            }
        }
    }

    fn arrow(&mut self, tree: &Tree, from: usize, to: usize, name: String, line: usize) {
        let (from, to) = (tree.scopes[from].node, tree.scopes[to].node);
        if from != to {
            let first = self.arrows.entry((from, to)).or_default().entry(name).or_insert(line);
            *first = line.min(*first);
        }
    }

    /// Returns one arrow as a line of a report, with the items and the line that make it.
    pub(super) fn line(&self, tree: &Tree, from: usize, to: usize) -> String {
        let items = &self.arrows[&(from, to)];
        let line = items.values().min().unwrap_or(&1);
        let names: Vec<&str> = items.keys().map(String::as_str).collect();
        let (from, to) = (&tree.nodes[from], &tree.nodes[to]);
        format!("{} -> {}  {}:{line}  {}", from.name, to.name, from.path, names.join(", "))
    }
}

/// True if a path that begins with `word` leads to a module of this crate.
fn is_local(word: &str) -> bool {
    matches!(word, "crate" | "self" | "super")
}

/// True if a single word is a variable or a field, and not a function or a module.
fn is_variable(module: &Module, mention: &Mention) -> bool {
    let word = &mention.path[0];
    let is_called = matches!(mention.next.as_str(), "(" | "!" | "::");
    word.starts_with(|c: char| c.is_lowercase() || c == '_') && !is_called && module.bound.contains(word)
}
