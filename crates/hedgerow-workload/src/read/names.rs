//! Names of columns: usual names, and names in headers for Neo4j's importer.

/// Usual names of source, destination, weight and time in headers, in lower case.
const NAMES: [&[&str]; 4] = [
    &["src", "source", "from", "source_id", "from_id", "u", "start", "start_id"],
    &["dst", "dest", "destination", "target", "to", "target_id", "to_id", "v", "end", "end_id"],
    &["weight", "w"],
    &["time", "timestamp", "ts", "unixts", "date"],
];

/// True if a header names the source and the destination in a usual way.
pub(super) fn are_usual(names: &[String]) -> bool {
    usual(names, 0).is_some() && usual(names, 1).is_some()
}

/// Returns the column of the source (0), the destination (1), the weight (2) or the time (3) among the names
/// of columns, if its name is a usual one; `None` for another number.
pub fn usual_column(names: &[String], i: usize) -> Option<usize> {
    if i < NAMES.len() { usual(names, i) } else { None }
}

/// Returns the column of the source (0), the destination (1), the weight (2) or the time (3), if its name is
/// a usual one.
pub(super) fn usual(names: &[String], i: usize) -> Option<usize> {
    let by_name = |name: &str| NAMES[i].contains(&name.trim().to_lowercase().as_str());
    let Some(columns) = importer_columns(names) else {
        return names.iter().position(|name| by_name(name));
    };
    columns.iter().position(|column| match (i, &column.role) {
        (0, ImporterRole::Start) | (1, ImporterRole::End) => true,
        (2 | 3, ImporterRole::Property(_)) => by_name(&column.name),
        _ => false,
    })
}

/// A column of a header for Neo4j's importer, `NAME:ROLE(SPACE)` or `NAME:TYPE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImporterColumn {
    /// The name, which may be empty.
    pub name: String,
    /// The content of the column.
    pub role: ImporterRole,
    /// The space of the ids in the column: ids of two spaces are different vertices.
    pub space: Option<String>,
}

/// The content of a column in an importer's header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImporterRole {
    /// The source, `:START_ID`.
    Start,
    /// The destination, `:END_ID`.
    End,
    /// The label of the edge, `:TYPE`.
    Type,
    /// The key of the vertex, `:ID`.
    Id,
    /// Labels of the vertex, `:LABEL`.
    Label,
    /// Nothing to load, `:IGNORE`.
    Ignore,
    /// A property with the type as the header has it, in lower case, which may be empty.
    Property(String),
}

/// Returns the columns of a header that has `:START_ID` and `:END_ID`, or `:ID`; `None` for other headers.
pub fn importer_columns(names: &[String]) -> Option<Vec<ImporterColumn>> {
    let has = |wanted: &str| names.iter().any(|name| name.to_ascii_lowercase().contains(wanted));
    if !(has(":start_id") && has(":end_id") || has(":id")) {
        return None;
    }
    let columns: Vec<ImporterColumn> = names.iter().map(|name| importer_column(name.trim())).collect();
    let has = |role| columns.iter().any(|column| column.role == role);
    let is_importers = has(ImporterRole::Start) && has(ImporterRole::End) || has(ImporterRole::Id);
    is_importers.then_some(columns)
}

fn importer_column(text: &str) -> ImporterColumn {
    let (name, of) = text.rsplit_once(':').unwrap_or((text, ""));
    let (word, space) = match of.strip_suffix(')').and_then(|of| of.split_once('(')) {
        Some((word, space)) => (word, Some(space.trim().to_owned())),
        None => (of, None),
    };
    let role = match word.trim().to_ascii_lowercase().as_str() {
        "start_id" => ImporterRole::Start,
        "end_id" => ImporterRole::End,
        "type" => ImporterRole::Type,
        "id" => ImporterRole::Id,
        "label" => ImporterRole::Label,
        "ignore" => ImporterRole::Ignore,
        // Only a column of ids has a space of ids.
        _ => {
            return ImporterColumn {
                name: name.trim().to_owned(),
                role: ImporterRole::Property(of.trim().to_ascii_lowercase()),
                space: None,
            };
        }
    };
    ImporterColumn { name: name.trim().to_owned(), role, space }
}
