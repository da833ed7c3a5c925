//! Suggestions of known names, for messages about an unknown one.

/// The most names that a message suggests.
const MOST: usize = 3;

/// Returns the text for a message about an unknown name that lists near names, or all names if none is near.
pub fn instead(found: &str, known: &[&str], plural: &str) -> String {
    let near = did_you_mean(found, known);
    if !near.is_empty() {
        return near;
    }
    match quoted(known, ", ") {
        all if all.is_empty() => format!(": there are no {plural}"),
        all => format!(": the {plural} are {all}"),
    }
}

/// Returns the text for a message about an unknown name that lists near names; empty if none is near.
pub fn did_you_mean(found: &str, known: &[&str]) -> String {
    match quoted(&near(found, known), " or ") {
        near if near.is_empty() => near,
        near => format!(": did you mean {near}?"),
    }
}

fn quoted(names: &[&str], between: &str) -> String {
    names.iter().map(|name| format!("{name:?}")).collect::<Vec<_>>().join(between)
}

/// Returns the known names nearest to `found`: names that differ in few letters, or contain it or are
/// contained in it.
fn near<'a>(found: &str, known: &[&'a str]) -> Vec<&'a str> {
    let found = found.to_lowercase();
    let most = found.chars().count().div_ceil(3).min(3);
    let mut near: Vec<(usize, &str)> = Vec::new();
    for &name in known {
        let lower = name.to_lowercase();
        let is_part =
            found.len() > 2 && lower.len() > 2 && (lower.contains(&found) || found.contains(&lower));
        match distance(&found, &lower) {
            far if far > most && is_part => near.push((most + 1, name)),
            far if far <= most && far < lower.chars().count() => near.push((far, name)),
            _ => {}
        }
    }
    near.sort_by_key(|&(far, _)| far);
    near.dedup_by(|a, b| a.1 == b.1);
    near.into_iter().map(|(_, name)| name).take(MOST).collect()
}

/// Returns the number of letters that must be changed, inserted, removed or swapped with the next one to turn
/// one text into the other.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    // Names have at most 255 bytes; a longer name is near to none.
    if a.len().max(b.len()) > 255 {
        return usize::MAX;
    }
    let mut rows = vec![(0..=b.len()).collect::<Vec<usize>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let differs = usize::from(a[i - 1] != b[j - 1]);
            let mut least = (rows[i - 1][j] + 1).min(row[j - 1] + 1).min(rows[i - 1][j - 1] + differs);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                least = least.min(rows[i - 2][j - 2] + 1);
            }
            row.push(least);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}
