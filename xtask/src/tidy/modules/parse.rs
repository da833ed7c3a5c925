//! The content of one module: its items, its imports, its children, and every path that its code mentions.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::{Item, ItemImpl, ItemMacro, ItemMod, Type};

use super::super::tokens::{Token, text, tokens};

/// The thing that a name of a module stands for.
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
    /// True if it says `pub` in any form: such an import is a re-export.
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
    pub(super) inherent: Vec<Vec<String>>,
    /// Names that the code gives to variables, parameters and fields.
    pub(super) bound: BTreeSet<String>,
    /// Modules in files of their own, with their lines.
    pub(super) files: Vec<(String, usize)>,
    /// Modules in braces; `cfg` may select among several of one name.
    pub(super) inline: Vec<(String, Module)>,
    /// True if a macro may define items that nothing here names.
    pub(super) has_macro_items: bool,
}

/// Reads the code of a file, or of a module in braces.
///
/// # Errors
///
/// The first token that continues no item.
pub(super) fn module(stream: TokenStream) -> syn::Result<Module> {
    let mut module = Module::default();
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    // The contents of braces define no name of this module, and take most of the time of parsing.
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

    /// Notes the paths that code mentions, and the imports and variables within it.
    fn code(&mut self, tokens: &[Token]) {
        let mut at = 0;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |before| text(tokens, before));
            if tokens[at].text == "use" && before != "+" && text(tokens, at + 1) != "<" {
                // Such an import says `pub`, `pub(crate)` or the like.
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

    /// Reads a `use` from behind the word on, and returns the position of its end.
    fn import(&mut self, tokens: &[Token], start: usize, public: bool) -> usize {
        let mut note = |name: &str, path: &[String], line| {
            self.imports.push(Import { name: name.to_owned(), path: path.to_vec(), public, line });
        };
        let mut path: Vec<String> = Vec::new();
        // The lengths of the paths before the braces that are open.
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
                    // `a::{self}` brings `a` itself.
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

/// True if a path may begin with this token behind `before`; `$crate` is the crate, and `$name` no path.
fn begins_path(token: &Token, before: &str) -> bool {
    let goes_on = matches!(before, "." | "::" | "fn" | "mod") || (before == "$" && token.text != "crate");
    token.is_word() && !goes_on
}

/// The words of the path at `at`, and the position after it; type arguments end a path.
fn path_at(tokens: &[Token], at: usize) -> (Vec<String>, usize) {
    let mut path = vec![text(tokens, at).to_owned()];
    let mut end = at + 1;
    while text(tokens, end) == "::" && tokens.get(end + 1).is_some_and(Token::is_word) {
        path.push(tokens[end + 1].text.clone());
        end += 2;
    }
    (path, end)
}
