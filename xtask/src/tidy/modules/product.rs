//! The code of a file that the compiler uses outside of test builds.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::Error;

/// Returns `stream` without attributes and without code that an attribute reserves for tests.
///
/// # Errors
///
/// Returns an error for an attribute `path`.
pub(super) fn product(stream: TokenStream) -> syn::Result<TokenStream> {
    let trees: Vec<TokenTree> = stream.into_iter().collect();
    let mut kept = Vec::new();
    let mut rest = trees.as_slice();
    while let [tree, behind @ ..] = rest {
        rest = match (tree, behind) {
            (hash, [TokenTree::Group(attribute), annotated @ ..]) if is_sign(hash, '#') => {
                if is_for_tests(attribute)? { behind_annotated(annotated) } else { annotated }
            }
            (hash, [bang, TokenTree::Group(attribute), inside @ ..])
                if is_sign(hash, '#') && is_sign(bang, '!') =>
            {
                if is_for_tests(attribute)? {
                    return Ok(TokenStream::new());
                }
                inside
            }
            (TokenTree::Group(group), _) => {
                let mut inside = Group::new(group.delimiter(), product(group.stream())?);
                inside.set_span(group.span());
                kept.push(inside.into());
                behind
            }
            (tree, _) => {
                kept.push(tree.clone());
                behind
            }
        }
    }
    Ok(kept.into_iter().collect())
}

/// True for `#[test]`, and for a `cfg` that is true only in test builds.
fn is_for_tests(attribute: &Group) -> syn::Result<bool> {
    let content: Vec<TokenTree> = attribute.stream().into_iter().collect();
    match content.first() {
        Some(TokenTree::Ident(name)) if name == "path" => {
            Err(Error::new(name.span(), "tidy does not follow `#[path]`; put the module where its name says"))
        }
        _ => Ok(needs_test(&content)),
    }
}

/// True for the predicate `test`, and for an `all` or `any` that requires it. The function reads `cfg` as
/// `all`.
fn needs_test(predicate: &[TokenTree]) -> bool {
    match predicate {
        [TokenTree::Ident(word)] => word == "test",
        [TokenTree::Ident(word), TokenTree::Group(members)] => {
            let members: Vec<TokenTree> = members.stream().into_iter().collect();
            let mut members = members.split(|tree| is_sign(tree, ',')).filter(|member| !member.is_empty());
            match word.to_string().as_str() {
                "cfg" | "all" => members.any(needs_test),
                "any" => members.all(needs_test),
                _ => false,
            }
        }
        _ => false,
    }
}

fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

/// The first words of items and statements. Unlike fields and arms, these do not end at a comma.
const ITEM_WORDS: &[&str] = &[
    "fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "use", "impl", "unsafe",
    "async", "extern", "let",
];

/// Returns the trees after the item, statement, field or arm at the start of `trees`.
fn behind_annotated(trees: &[TokenTree]) -> &[TokenTree] {
    let mut words = trees.iter().filter(|tree| matches!(tree, TokenTree::Ident(_))).map(TokenTree::to_string);
    let first = words.find(|word| word != "pub").unwrap_or_default();
    let is_item = ITEM_WORDS.contains(&first.as_str());
    let ends = |tree: &TokenTree| match tree {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        sign => is_sign(sign, ';') || (!is_item && is_sign(sign, ',')),
    };
    let end = trees.iter().position(ends).map_or(trees.len(), |end| end + 1);
    match &trees[end..] {
        // A sign may follow the braces of an import, a value or an arm.
        [sign, behind @ ..] if is_sign(sign, ';') || is_sign(sign, ',') => behind,
        behind => behind,
    }
}
