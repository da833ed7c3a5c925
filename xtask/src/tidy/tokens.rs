//! The words and signs of Rust code, without comments and literals.

use proc_macro2::{Delimiter, Spacing, Span, TokenStream, TokenTree};

/// A word, a lifetime, a sign or a bracket of the code.
#[derive(Debug)]
pub(super) struct Token {
    pub(super) text: String,
    /// The number of tokens from this opening bracket to its closing one, including both. It is 1 for other
    /// tokens.
    pub(super) length: usize,
    span: Span,
}

impl Token {
    fn new(text: impl Into<String>, span: Span) -> Token {
        Token { text: text.into(), length: 1, span }
    }

    /// Returns the line of the token, counted from 1.
    pub(super) fn line(&self) -> usize {
        self.span.start().line
    }

    /// True for names and keywords.
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Returns the tokens of `stream` in order. A lifetime, `::`, `..` and `!=` are one token each.
pub(super) fn tokens(stream: TokenStream) -> Vec<Token> {
    let mut found = Vec::new();
    add(stream, &mut found);
    found
}

fn add(stream: TokenStream, found: &mut Vec<Token>) {
    let mut joint = false;
    for tree in stream {
        let follows_joint = joint;
        joint = matches!(&tree, TokenTree::Punct(sign) if sign.spacing() == Spacing::Joint);
        match tree {
            TokenTree::Literal(_) => {}
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Brace => ("{", "}"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::Parenthesis | Delimiter::None => ("(", ")"),
                };
                let at = found.len();
                found.push(Token::new(open, group.span_open()));
                add(group.stream(), found);
                found.push(Token::new(close, group.span_close()));
                found[at].length = found.len() - at;
            }
            tree => {
                let text = tree.to_string();
                let pair = |last: &&mut Token| {
                    matches!((&*last.text, &*text), ("'", _) | (":", ":") | (".", ".") | ("!", "="))
                };
                match found.last_mut().filter(|_| follows_joint).filter(pair) {
                    Some(last) => last.text.push_str(&text),
                    None => found.push(Token::new(text, tree.span())),
                }
            }
        }
    }
}

/// Returns the text of token `at`, or an empty text after the last token.
pub(super) fn text(tokens: &[Token], at: usize) -> &str {
    tokens.get(at).map_or("", |token| &token.text)
}
