//! The content of one module: its items, its imports, its children, and every path that its code mentions.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Item, ItemImpl, ItemMacro, ItemMod, Type};

use super::super::tokens::{Token, text, tokens};

/// The meanings that a name in a module may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Type,
    Trait,
    /// A function, constant or static.
    Value,
    Macro,
}

/// An import of one name, or of all names, by `use`.
#[derive(Debug)]
pub(super) struct Import {
    /// The imported name: `*` for all names, `_` for a trait without its name.
    pub(super) name: String,
    pub(super) path: Vec<String>,
    /// True if the import has `pub` in any form, which makes it a re-export.
    pub(super) public: bool,
    pub(super) line: usize,
}

/// A path in code.
#[derive(Debug)]
pub(super) struct Mention {
    pub(super) path: Vec<String>,
    pub(super) line: usize,
    /// The token after the path.
    pub(super) next: String,
}

/// A module in its own file, or in braces within a file.
#[derive(Debug, Default)]
pub(super) struct Module {
    /// The defined names. A name may be a type and a value at the same time.
    pub(super) items: BTreeMap<String, Vec<Kind>>,
    pub(super) imports: Vec<Import>,
    pub(super) mentions: Vec<Mention>,
    /// The types of the `impl` blocks without a trait.
    pub(super) inherent: Vec<Vec<String>>,
    /// The names that the code gives to variables, parameters and fields.
    pub(super) bound: BTreeSet<String>,
    /// The modules in files of their own, with the lines that declare them.
    pub(super) files: Vec<(String, usize)>,
    /// The modules in braces. `cfg` may select among several modules with one name.
    pub(super) inline: Vec<(String, Module)>,
    /// True if a macro may define items that the code does not name.
    pub(super) has_macro_items: bool,
}

/// Reads the code of a file, or of a module in braces.
///
/// # Errors
///
/// Returns the first token that continues no item.
pub(super) fn module(stream: TokenStream) -> syn::Result<Module> {
    let mut module = Module::default();
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    // The contents of braces define no names of this module, and parsing them would take most of the time.
    let items = trees.iter().map(|tree| match tree {
        TokenTree::Group(body) if body.delimiter() == Delimiter::Brace => {
            Group::new(Delimiter::Brace, TokenStream::new()).into()
        }
        tree => tree.clone(),
    });
    for item in syn::parse2::<syn::File>(items.collect())?.items {
        module.item(&item);
    }
    for window in trees.windows(3) {
        if let [TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Group(body)] = window
            && word == "mod"
        {
            module.inline.push((name.to_string(), self::module(body.stream())?));
        }
    }
    module.code(&tokens(trees.into_iter().collect()));
    Ok(module)
}

impl Module {
    fn item(&mut self, item: &Item) {
        let (name, kind) = match item {
            Item::Fn(item) => (&item.sig.ident, Kind::Value),
            Item::Const(item) => (&item.ident, Kind::Value),
            Item::Static(item) => (&item.ident, Kind::Value),
            Item::Struct(item) => (&item.ident, Kind::Type),
            Item::Enum(item) => (&item.ident, Kind::Type),
            Item::Type(item) => (&item.ident, Kind::Type),
            Item::Union(item) => (&item.ident, Kind::Type),
            Item::Trait(item) => (&item.ident, Kind::Trait),
            Item::Macro(ItemMacro { ident: Some(name), .. }) => (name, Kind::Macro),
            Item::Macro(_) => return self.has_macro_items = true,
            Item::Mod(ItemMod { ident, content: None, .. }) => {
                return self.files.push((ident.to_string(), ident.span().start().line));
            }
            Item::Impl(ItemImpl { trait_: None, self_ty, .. }) => {
                if let Type::Path(ty) = &**self_ty {
                    self.inherent.push(ty.path.segments.iter().map(|word| word.ident.to_string()).collect());
                }
                return;
            }
            _ => return,
        };
        self.items.entry(name.to_string()).or_default().push(kind);
    }

    /// Records the paths in the code, and the imports and variables in it.
    fn code(&mut self, tokens: &[Token]) {
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| text(tokens, before));
            if tokens[at].text == "use" && before != "+" && text(tokens, at + 1) != "<" {
                // A re-export has `pub`, `pub(crate)` or a similar word before it.
                at = self.import(tokens, at + 1, matches!(before, "pub" | ")"));
            } else if tokens[at].text == "mod" && text(tokens, at + 2) == "{" {
                at += 2 + tokens[at + 2].length;
            } else if begins_path(&tokens[at], before) {
                at = self.mention(tokens, at, before);
            } else {
                at += 1;
            }
        }
    }

    fn mention(&mut self, tokens: &[Token], at: usize, before: &str) -> usize {
        let (path, end) = path_at(tokens, at);
        let next = text(tokens, end);
        if path.len() == 1 && (next == ":" || matches!(before, "let" | "mut" | "ref" | "|" | "for")) {
            self.bound.insert(path[0].clone());
        }
        self.mentions.push(Mention { path, line: tokens[at].line(), next: next.to_owned() });
        end
    }

    /// Reads a `use` after its keyword, and returns the position after its last token.
    fn import(&mut self, tokens: &[Token], start: usize, public: bool) -> usize {
        let mut note = |name: &str, path: &[String], line| {
            self.imports.push(Import { name: name.to_owned(), path: path.to_vec(), public, line });
        };
        let mut path: Vec<String> = Vec::new();
        // The lengths of the paths before the open braces.
        let mut open = vec![0];
        for (at, token) in tokens.iter().enumerate().skip(start) {
            let word = token.text.as_str();
            match word {
                ";" => return at,
                "{" => open.push(path.len()),
                "}" => path.truncate(open.pop().unwrap_or(0)),
                "," => path.truncate(*open.last().unwrap_or(&0)),
                "*" => note("*", &path, token.line()),
                _ if !token.is_word() || word == "as" || text(tokens, at - 1) == "as" => {}
                _ => {
                    // `a::{self}` imports `a`.
                    if word != "self" || path.is_empty() {
                        path.push(word.to_owned());
                    }
                    match text(tokens, at + 1) {
                        "::" => {}
                        "as" => note(text(tokens, at + 2), &path, token.line()),
                        _ => note(&path[path.len() - 1], &path, token.line()),
                    }
                }
            }
        }
        tokens.len()
    }
}

/// True if a path may begin with this token, given the token before it. `$crate` is the crate, but `$name` is
/// not a path.
fn begins_path(token: &Token, before: &str) -> bool {
    let goes_on = matches!(before, "." | "::" | "fn" | "mod") || (before == "$" && token.text != "crate");
    token.is_word() && !goes_on
}

/// Returns the words of the path at `at`, and the position after it. Type arguments end a path.
fn path_at(tokens: &[Token], at: usize) -> (Vec<String>, usize) {
    let mut path = vec![text(tokens, at).to_owned()];
    let mut end = at + 1;
    while text(tokens, end) == "::" && tokens.get(end + 1).is_some_and(Token::is_word) {
        path.push(tokens[end + 1].text.clone());
        end += 2;
    }
    (path, end)
}
