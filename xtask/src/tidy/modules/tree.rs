//! The modules of a crate as a tree. The tree follows the `mod` declarations from the root file.

use std::collections::BTreeMap;

use super::super::report::{File, Place, Report};
use super::parse::{self, Module};
use super::product::product;

/// A module with its position in the tree.
#[derive(Debug)]
pub(super) struct Scope {
    pub(super) parent: Option<usize>,
    /// The module whose file contains this module: this module, or an enclosing one.
    pub(super) node: usize,
    pub(super) children: BTreeMap<String, usize>,
    pub(super) module: Module,
}

/// A module that has a file.
#[derive(Debug)]
pub(super) struct Node {
    /// The path of the module in the crate, such as `write::bulk`, or `lib` or `main` for the root.
    pub(super) name: String,
    /// The path of the file.
    pub(super) path: String,
}

/// All modules of a crate except its tests. The root is scope 0.
#[derive(Debug)]
pub(super) struct Tree {
    pub(super) krate: String,
    pub(super) scopes: Vec<Scope>,
    pub(super) nodes: Vec<Node>,
}

/// Returns the tree of each crate, sorted by the names of crates.
pub(super) fn trees(files: &[File], report: &mut Report) -> Vec<Tree> {
    let mut trees = Vec::new();
    for file in files {
        let Some(place) = Place::of(&file.path) else { continue };
        let Some(root @ ("lib.rs" | "main.rs")) = place.in_src else { continue };
        let tree = Tree { krate: place.krate.to_owned(), scopes: Vec::new(), nodes: Vec::new() };
        let mut grower = Grower { files, report, tree };
        grower.file(file, None, root.trim_end_matches(".rs"), file.path.trim_end_matches(root));
        trees.push(grower.tree);
    }
    trees
}

struct Grower<'a> {
    files: &'a [File],
    report: &'a mut Report,
    tree: Tree,
}

impl Grower<'_> {
    /// Adds the module of a file and all modules below it. Its children are in `folder`, which ends with `/`.
    fn file(&mut self, file: &File, parent: Option<usize>, name: &str, folder: &str) -> usize {
        let module = product(file.stream.clone()).and_then(parse::module).unwrap_or_else(|error| {
            self.report.error(file, error.span().start().line, error.to_string());
            Module::default()
        });
        let node = self.tree.nodes.len();
        self.tree.nodes.push(Node { name: name.to_owned(), path: file.path.clone() });
        let prefix = if parent.is_some() { format!("{name}::") } else { String::new() };
        self.scope(file, module, parent, node, &prefix, folder)
    }

    fn scope(
        &mut self,
        file: &File,
        mut module: Module,
        parent: Option<usize>,
        node: usize,
        prefix: &str,
        folder: &str,
    ) -> usize {
        let own_files = std::mem::take(&mut module.files);
        let inline = std::mem::take(&mut module.inline);
        let scope = self.tree.scopes.len();
        self.tree.scopes.push(Scope { parent, node, children: BTreeMap::new(), module });
        for (child, line) in own_files {
            if let Some(added) = self.child_file(file, line, scope, prefix, folder, &child) {
                self.tree.scopes[scope].children.insert(child, added);
            }
        }
        for (child, module) in inline {
            let (prefix, folder) = (format!("{prefix}{child}::"), format!("{folder}{child}/"));
            let added = self.scope(file, module, Some(scope), node, &prefix, &folder);
            // If `cfg` selects among two modules with one name, the tree uses the first, because both are in
            // this file.
            self.tree.scopes[scope].children.entry(child).or_insert(added);
        }
        scope
    }

    /// Returns the module of `mod child;`, or `None` if it is for tests.
    fn child_file(
        &mut self,
        file: &File,
        line: usize,
        parent: usize,
        prefix: &str,
        folder: &str,
        child: &str,
    ) -> Option<usize> {
        let paths = [format!("{folder}{child}.rs"), format!("{folder}{child}/mod.rs")];
        let Some(found) = self.files.iter().find(|f| paths.contains(&f.path)) else {
            self.report.error(file, line, format!("there is no file of the module `{child}`"));
            return None;
        };
        if Place::of(&found.path).is_some_and(|place| place.is_test()) {
            return None;
        }
        Some(self.file(found, Some(parent), &format!("{prefix}{child}"), &format!("{folder}{child}/")))
    }
}
