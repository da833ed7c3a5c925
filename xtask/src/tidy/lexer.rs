//! Just enough of Rust's grammar to tell code from comments and literals.

/// `source` with every comment, string and character literal replaced by blanks. Lines and byte positions stay.
pub(super) fn code_only(source: &str) -> String {
    let bytes = source.as_bytes();
    let mut code = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let end = match skipped(bytes, at) {
            Some(end) => end.min(bytes.len()),
            None => {
                at += 1;
                continue;
            }
        };
        for byte in &mut code[at..end] {
            if *byte != b'\n' {
                *byte = b' ';
            }
        }
        at = end;
    }
    // Blanks replaced whole literals and comments, so what is left is still text.
    String::from_utf8_lossy(&code).into_owned()
}

/// If a comment or literal begins at `at`, the position after it.
fn skipped(bytes: &[u8], at: usize) -> Option<usize> {
    let rest = &bytes[at..];
    if rest.starts_with(b"//") {
        return Some(at + rest.iter().position(|&b| b == b'\n').unwrap_or(rest.len()));
    }
    if rest.starts_with(b"/*") {
        return Some(at + block_comment(rest));
    }
    let starts_word = at == 0 || !is_word(bytes[at - 1]) || (matches!(bytes[at - 1], b'b' | b'c'));
    match rest[0] {
        b'r' if starts_word => raw_string(rest).map(|length| at + length),
        b'"' => Some(at + quoted(rest, b'"')),
        b'\'' => character(rest).map(|length| at + length),
        _ => None,
    }
}

fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    at
}

fn raw_string(rest: &[u8]) -> Option<usize> {
    let hashes = rest[1..].iter().take_while(|&&b| b == b'#').count();
    if rest.get(1 + hashes) != Some(&b'"') {
        return None;
    }
    let body = 2 + hashes;
    let mut closing = vec![b'"'];
    closing.resize(1 + hashes, b'#');
    let length = rest[body..].windows(closing.len()).position(|window| window == closing);
    Some(length.map_or(rest.len(), |length| body + length + closing.len()))
}

/// The length of a literal with escapes, its closing `quote` included.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 2,
            byte if byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    at
}

/// The length of a character literal; none for a lifetime.
fn character(rest: &[u8]) -> Option<usize> {
    if rest.get(1) == Some(&b'\\') {
        return Some(quoted(rest, b'\''));
    }
    // One character of UTF-8 takes up to four bytes.
    let closing = (2..=5).find(|&at| rest.get(at) == Some(&b'\''))?;
    let inner = std::str::from_utf8(&rest[1..closing]).ok()?;
    (inner.chars().count() == 1).then_some(closing + 1)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The positions at which `word` stands alone in `code`.
pub(super) fn word_positions<'a>(code: &'a str, word: &'a str) -> impl Iterator<Item = usize> + 'a {
    code.match_indices(word).map(|(at, _)| at).filter(move |&at| {
        let before = at.checked_sub(1).map(|i| code.as_bytes()[i]);
        let after = code.as_bytes().get(at + word.len()).copied();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

/// The line, counted from 1, of byte position `at`.
pub(super) fn line_of(text: &str, at: usize) -> usize {
    1 + text.as_bytes()[..at].iter().filter(|&&b| b == b'\n').count()
}

/// The position after the bracket that closes the first `{` at or after `from`; none if a `;` comes first.
pub(super) fn body_end(code: &str, from: usize) -> Option<usize> {
    let mut depth = 0usize;
    let mut square = 0usize;
    for (offset, byte) in code.as_bytes()[from..].iter().enumerate() {
        match byte {
            b'{' => depth += 1,
            // `[u8; 4]` in a signature is no end.
            b'[' if depth == 0 => square += 1,
            b']' if depth == 0 => square = square.saturating_sub(1),
            b';' if depth == 0 && square == 0 => return None,
            b'}' => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(from + offset + 1);
                }
            }
            _ => {}
        }
    }
    None
}
