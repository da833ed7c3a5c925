//! Rust code as words and signs, without attributes and without what only test builds compile.

/// A word, a number, a lifetime or a sign of the code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) text: &'a str,
    /// Counted from 1.
    pub(super) line: usize,
}

impl Token<'_> {
    /// Whether the token is a name or a keyword.
    pub(super) fn is_word(&self) -> bool {
        self.text.starts_with(|c: char| c.is_alphabetic() || c == '_')
    }
}

/// Signs of two characters that the reader of items must not take for two signs.
const PAIRS: &[&str] = &["::", "..", "->", "=>"];

/// The tokens of `code`, from which `code_only` has blanked comments and literals.
pub(super) fn tokens(code: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut line = 1;
    let mut at = 0;
    while let Some(first) = code[at..].chars().next() {
        if first.is_whitespace() {
            line += usize::from(first == '\n');
            at += first.len_utf8();
            continue;
        }
        let rest = &code[at..];
        let length = token_length(rest, first);
        found.push(Token { text: &rest[..length], line });
        at += length;
    }
    found
}

fn token_length(rest: &str, first: char) -> usize {
    let in_word = |c: char| c.is_alphanumeric() || c == '_';
    if in_word(first) || first == '\'' {
        let tail = &rest[first.len_utf8()..];
        return first.len_utf8() + tail.find(|c| !in_word(c)).unwrap_or(tail.len());
    }
    if PAIRS.iter().any(|pair| rest.starts_with(pair)) { 2 } else { first.len_utf8() }
}

/// The tokens that builds other than test builds compile; attributes are left out. Empty if the whole file is a test's.
pub(super) fn product_tokens(code: &str) -> Vec<Token<'_>> {
    let all = tokens(code);
    let mut kept = Vec::new();
    let mut at = 0;
    while at < all.len() {
        let inner = usize::from(text(&all, at + 1) == "!");
        if text(&all, at) != "#" || text(&all, at + 1 + inner) != "[" {
            kept.push(all[at]);
            at += 1;
            continue;
        }
        let open = at + 1 + inner;
        let end = group_end(&all, open);
        let for_tests = is_for_tests(all.get(open + 1..end - 1).unwrap_or_default());
        if for_tests && inner == 1 {
            return Vec::new();
        }
        at = if for_tests { annotated_end(&all, end) } else { end };
    }
    kept
}

/// The text of token `at`; empty behind the last one.
pub(super) fn text<'a>(tokens: &[Token<'a>], at: usize) -> &'a str {
    tokens.get(at).map_or("", |token| token.text)
}

/// The position after the bracket that closes the one at `open`.
pub(super) fn group_end(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

/// Whether an attribute's content is `test`, or a `cfg` that only test builds meet.
fn is_for_tests(content: &[Token<'_>]) -> bool {
    match content {
        [only] => only.text == "test",
        [cfg, _, predicate @ .., _] if cfg.text == "cfg" => needs_test(predicate),
        _ => false,
    }
}

fn needs_test(predicate: &[Token<'_>]) -> bool {
    match predicate {
        [only] => only.text == "test",
        [all, _, members @ .., _] if all.text == "all" => split(members).into_iter().any(needs_test),
        [any, _, members @ .., _] if any.text == "any" => split(members).into_iter().all(needs_test),
        _ => false,
    }
}

/// What stands between the commas outside brackets.
fn split<'t, 'a>(members: &'t [Token<'a>]) -> Vec<&'t [Token<'a>]> {
    let mut depth = 0i32;
    let parts = members.split(|token| {
        depth += i32::from(token.text == "(") - i32::from(token.text == ")");
        depth == 0 && token.text == ","
    });
    parts.filter(|part| !part.is_empty()).collect()
}

const ITEM_WORDS: &[&str] = &[
    "fn",
    "struct",
    "enum",
    "union",
    "trait",
    "type",
    "const",
    "static",
    "mod",
    "use",
    "impl",
    "unsafe",
    "async",
    "extern",
    "macro_rules",
];

/// The position after the item, statement, field or arm to which the attribute before `from` belongs.
fn annotated_end(tokens: &[Token<'_>], from: usize) -> usize {
    let mut at = from;
    while text(tokens, at) == "#" {
        at = group_end(tokens, at + 1);
    }
    if text(tokens, at) == "pub" {
        at += 1;
        if text(tokens, at) == "(" {
            at = group_end(tokens, at);
        }
    }
    let is_item = ITEM_WORDS.contains(&text(tokens, at));
    while at < tokens.len() {
        match tokens[at].text {
            "{" => return group_end(tokens, at),
            "(" | "[" => at = group_end(tokens, at),
            ";" => return at + 1,
            "," if !is_item => return at + 1,
            ")" | "]" | "}" => return at,
            _ => at += 1,
        }
    }
    at
}
