//! Options of the command line in messages, as the parameters of Python.

/// The values that may follow an option in a message, besides those that begin with a capital letter.
const VALUES: [&str; 12] =
    ["none", "sum", "u64", "str", "dense", "vertices", "snap", "mtx", "konect", "as-rel", "ldbc", "graphml"];

/// Returns a message with `weight_col=` in place of `--weight-col`, and with `label="NAME"` in place of
/// `--label NAME`. O(length).
pub(crate) fn in_python(text: &str) -> String {
    let words: Vec<&str> = text.split(' ').collect();
    let mut made: Vec<String> = Vec::with_capacity(words.len());
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        let open = if word.starts_with('(') { "(" } else { "" };
        let Some(option) = word.strip_prefix(open).and_then(|word| word.strip_prefix("--")) else {
            made.push((*word).to_owned());
            continue;
        };
        let end = option.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(option.len());
        let (name, rest) = option.split_at(end);
        let parameter = match name {
            "" => {
                made.push((*word).to_owned());
                continue;
            }
            "header" => "header=True".to_owned(),
            "no-header" => "header=False".to_owned(),
            "multi" | "weighted" => format!("{name}=True"),
            "from" => "from_=".to_owned(),
            "undirected" => "directed=False".to_owned(),
            "directed" => "directed=True".to_owned(),
            other => format!("{}=", other.replace('-', "_")),
        };
        let next = words.get(at).filter(|_| rest.is_empty() && parameter.ends_with('='));
        match next.map(|next| next.split_at(value_length(next))) {
            Some((value, rest)) if !value.is_empty() => {
                at += 1;
                made.push(format!("{open}{parameter}{value:?}{rest}"));
            }
            _ => made.push(format!("{open}{parameter}{rest}")),
        }
    }
    made.join(" ")
}

/// Returns the length of the value at the beginning of a word; 0 if it is none.
fn value_length(word: &str) -> usize {
    let value = word.trim_end_matches([',', ';', ')', '.']);
    let is_name = value.starts_with(|c: char| c.is_ascii_uppercase());
    let is_mark = value.len() == 1 && value.starts_with(|c: char| c.is_ascii_punctuation());
    if is_name || is_mark || VALUES.contains(&value) { value.len() } else { 0 }
}
