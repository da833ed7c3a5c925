//! What one module says: its items, its imports, its children, and every path that its code mentions.

use std::collections::{BTreeMap, BTreeSet};

use super::tokens::{Token, group_end, text};

/// What a name of a module stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Type,
    Trait,
    /// A function, constant or static.
    Value,
    Macro,
}

/// One name, or all names, that a `use` brings into a module.
#[derive(Debug)]
pub(super) struct Import {
    /// `*` for all names, `_` for a trait without its name.
    pub(super) name: String,
    pub(super) path: Vec<String>,
    /// Whether it says `pub` in any form: such an import is a re-export.
    pub(super) public: bool,
    pub(super) line: usize,
}

/// A path in code.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// The token behind the path.
    pub(super) next: String,
}

/// A module as it stands in its file, or in braces within one.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// Names may stand for a type and for a value at once.
    pub(super) items: BTreeMap<String, Vec<Kind>>,
    pub(super) imports: Vec<Import>,
    pub(super) mentions: Vec<Mention>,
    /// The types of the `impl` blocks without a trait.
    pub(super) inherent: Vec<Mention>,
    /// Names that the code gives to variables, parameters and fields.
    pub(super) bound: BTreeSet<String>,
    /// Modules in files of their own, with their lines.
    pub(super) files: Vec<(String, usize)>,
    /// Modules in braces; `cfg` may select among several of one name.
    pub(super) inline: Vec<(String, Module)>,
    /// Whether a macro may define items that nothing here names.
    pub(super) has_macro_items: bool,
}

/// Reads the items between two braces, or of a whole file.
pub(super) fn module(tokens: &[Token<'_>]) -> Module {
    let mut module = Module::default();
    let mut at = 0;
    while at < tokens.len() {
        at = module.item(tokens, at).max(at + 1);
    }
    module
}

/// Words before the word that tells what an item is.
const MODIFIERS: &[&str] = &["async", "unsafe", "default", "safe", "extern"];

impl Module {
    /// Reads the item at `start` and returns the position after it.
    fn item(&mut self, tokens: &[Token<'_>], start: usize) -> usize {
        let mut at = start;
        let public = text(tokens, at) == "pub";
        if public {
            at += 1;
            if text(tokens, at) == "(" {
                at = group_end(tokens, at);
            }
        }
        while MODIFIERS.contains(&text(tokens, at))
            || (text(tokens, at) == "const"
                && MODIFIERS.iter().chain(&["fn"]).any(|w| text(tokens, at + 1) == *w))
        {
            at += 1;
        }
        let end = item_end(tokens, at);
        match text(tokens, at) {
            "use" => self.import(&tokens[at + 1..end], public),
            "mod" => self.child(&tokens[at + 1..end]),
            word => {
                self.define(word, tokens, at);
                self.code(&tokens[start..end]);
            }
        }
        end
    }

    fn define(&mut self, word: &str, tokens: &[Token<'_>], at: usize) {
        let (kind, name_at) = match word {
            "fn" | "const" => (Kind::Value, at + 1),
            "static" => (Kind::Value, at + 1 + usize::from(text(tokens, at + 1) == "mut")),
            "struct" | "enum" | "type" | "union" => (Kind::Type, at + 1),
            "trait" => (Kind::Trait, at + 1),
            "macro_rules" => (Kind::Macro, at + 2),
            "impl" => return self.implementation(&tokens[at + 1..item_end(tokens, at)]),
            _ => {
                self.has_macro_items |= text(tokens, at + 1) == "!";
                return;
            }
        };
        self.items.entry(text(tokens, name_at).to_owned()).or_default().push(kind);
    }

    fn child(&mut self, rest: &[Token<'_>]) {
        let [name, body @ ..] = rest else { return };
        match body {
            [_, inside @ .., _] => self.inline.push((name.text.to_owned(), module(inside))),
            _ => self.files.push((name.text.to_owned(), name.line)),
        }
    }

    /// Notes the type of an `impl` block that implements no trait; `rest` begins behind the word.
    fn implementation(&mut self, rest: &[Token<'_>]) {
        let after_generics = if text(rest, 0) == "<" { angle_end(rest, 0) } else { 0 };
        let header = &rest[after_generics..];
        let length = header.iter().position(|t| matches!(t.text, "{" | "where")).unwrap_or(header.len());
        let header = &header[..length];
        let for_trait = (0..length).any(|at| header[at].text == "for" && text(header, at + 1) != "<");
        if let Some(first) = header.first().filter(|_| !for_trait) {
            let (path, _) = path_at(header, 0);
            self.inherent.push(Mention { path, line: first.line, next: String::new() });
        }
    }

    /// Notes the paths that code mentions, and the imports and variables within it.
    fn code(&mut self, tokens: &[Token<'_>]) {
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| text(tokens, before));
            if tokens[at].text == "use" && before != "+" && text(tokens, at + 1) != "<" {
                let end = item_end(tokens, at);
                self.import(&tokens[at + 1..end], false);
                at = end;
            } else if begins_path(tokens[at], before) {
                at = self.mention(tokens, at, before);
            } else {
                at += 1;
            }
        }
    }

    fn mention(&mut self, tokens: &[Token<'_>], at: usize, before: &str) -> usize {
        let (path, end) = path_at(tokens, at);
        let next = text(tokens, end);
        if path.len() == 1 && (next == ":" || matches!(before, "let" | "mut" | "ref" | "|" | "for")) {
            self.bound.insert(path[0].clone());
        }
        self.mentions.push(Mention { path, line: tokens[at].line, next: next.to_owned() });
        end
    }

    /// Reads a `use` from behind the word on.
    fn import(&mut self, tree: &[Token<'_>], public: bool) {
        let mut reader = Tree { tokens: tree, at: 0, public, found: &mut self.imports };
        reader.branch(&[]);
    }
}

/// Whether a path may begin with this token behind `before`; `$crate` is the crate, and `$name` no path.
fn begins_path(token: Token<'_>, before: &str) -> bool {
    let goes_on = matches!(before, "." | "::" | "fn") || (before == "$" && token.text != "crate");
    token.is_word() && !goes_on
}

/// The words of the path at `at`, and the position after it; type arguments end a path.
fn path_at(tokens: &[Token<'_>], at: usize) -> (Vec<String>, usize) {
    let mut path = vec![text(tokens, at).to_owned()];
    let mut end = at + 1;
    while text(tokens, end) == "::" && tokens.get(end + 1).is_some_and(Token::is_word) {
        path.push(tokens[end + 1].text.to_owned());
        end += 2;
    }
    (path, end)
}

/// The position after the item whose word is at `at`.
fn item_end(tokens: &[Token<'_>], at: usize) -> usize {
    // The braces of these are values, and do not end them.
    let to_semicolon = matches!(text(tokens, at), "const" | "static" | "type");
    let mut end = at;
    while end < tokens.len() {
        match tokens[end].text {
            ";" => return end + 1,
            "{" if !to_semicolon => return group_end(tokens, end),
            "(" | "[" | "{" => end = group_end(tokens, end),
            _ => end += 1,
        }
    }
    end
}

/// The position after the `>` that closes the `<` at `open`.
fn angle_end(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0i32;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        depth += i32::from(token.text == "<") - i32::from(token.text == ">");
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// The tree of one `use`.
struct Tree<'t, 'a> {
    tokens: &'t [Token<'a>],
    at: usize,
    public: bool,
    found: &'t mut Vec<Import>,
}

impl Tree<'_, '_> {
    /// Reads one branch, whose names begin with `prefix`, up to the comma or bracket behind it.
    fn branch(&mut self, prefix: &[String]) {
        let mut path = prefix.to_vec();
        while let Some(token) = self.tokens.get(self.at) {
            self.at += 1;
            match token.text {
                "::" => {}
                "{" => return self.branches(&path),
                "*" => return self.note("*", path, token.line),
                _ if token.is_word() => path.push(token.text.to_owned()),
                _ => return,
            }
            if token.is_word() && text(self.tokens, self.at) != "::" {
                return self.leaf(path, token.line);
            }
        }
    }

    fn branches(&mut self, prefix: &[String]) {
        while self.at < self.tokens.len() && text(self.tokens, self.at) != "}" {
            self.branch(prefix);
            self.at += usize::from(text(self.tokens, self.at) == ",");
        }
        self.at += 1;
    }

    fn leaf(&mut self, mut path: Vec<String>, line: usize) {
        // `a::{self}` brings `a` itself.
        if path.len() > 1 && path.last().is_some_and(|last| last == "self") {
            path.pop();
        }
        let name = if text(self.tokens, self.at) == "as" {
            self.at += 2;
            text(self.tokens, self.at - 1).to_owned()
        } else {
            path.last().cloned().unwrap_or_default()
        };
        self.note(&name, path, line);
    }

    fn note(&mut self, name: &str, path: Vec<String>, line: usize) {
        self.found.push(Import { name: name.to_owned(), path, public: self.public, line });
    }
}
