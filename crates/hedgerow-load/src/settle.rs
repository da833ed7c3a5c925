//! The detection, from a file's first lines, of the parts of its format that the arguments leave open.

use std::path::Path;

use hedgerow_workload::read::{
    Column, Comment, Delimiter, EdgeFormat, FieldKind, Header, ImporterColumn, ImporterRole, ReadError,
    Sniffed, importer_columns, sniff,
};

use crate::Error;
use crate::input::{Content, EdgeTable, Input};
use crate::kinds::{Ends, Kinds};
use crate::options::LoadOptions;
use crate::property::{self, ColumnType};

/// Detects the parts of the format that the arguments leave open. `weighted` is true if weights are read.
pub(crate) fn settle(
    input: &mut Input,
    options: &LoadOptions,
    kinds: &Kinds,
    weighted: bool,
) -> Result<(), Error> {
    let numbers = match &input.content {
        Content::Edges(table) => kinds.are_numbers(table.ends, table.label.as_deref()),
        _ => kinds.are_numbers(Ends::Stated([input.kind; 2]), None),
    };
    if let Content::Edges(EdgeTable { format, .. }) | Content::VertexTable(format, _) = &mut input.content
        && !numbers
        && options.comment.is_none()
    {
        // A key of text may begin with the character of comments.
        format.comment = Comment::Doubted;
    }
    match &input.content {
        Content::Vertices => Ok(()),
        Content::Edges(_) => settle_edges(input, options, kinds, numbers, weighted),
        Content::VertexTable(..) => settle_vertices(input, options, numbers),
    }
}

fn settle_edges(
    input: &mut Input,
    options: &LoadOptions,
    kinds: &Kinds,
    numbers: bool,
    weighted: bool,
) -> Result<(), Error> {
    let Content::Edges(table) = &input.content else { return Ok(()) };
    let may_have_header =
        table.format.delimiter != Delimiter::Whitespace && table.format.header != Header::No;
    let found = if is_settled(&table.format) && !may_have_header {
        None
    } else {
        sniff(input.lines()?, &table.format, numbers).map_err(unclear)?
    };
    let was_settled = is_settled(&table.format);
    let Content::Edges(table) = &mut input.content else { return Ok(()) };
    table.weighted = weighted;
    table.weight_required = options.weighted && !matches!(table.format.weight, Some(Column::IfPresent(_)));
    if !weighted && table.format.weight.is_none() {
        // Weights are not read: a column with that name is ignored.
        table.format.weight = Some(Column::Absent);
    }
    if let Some(found) = &found {
        take(&mut table.format, found);
        if let Some(columns) = importer_columns(&found.first).filter(|_| found.header) {
            import_edges(table, &columns, options, kinds)
                .map_err(|why| Error::file(&input.path, format!("header: {why}")))?;
        }
    }
    check_names(&input.path, &table.properties)?;
    input.sniffed = found.filter(|_| !was_settled);
    Ok(())
}

/// Applies the columns that an importer's header names: the label of each edge, and properties with their
/// types.
fn import_edges(
    table: &mut EdgeTable,
    columns: &[ImporterColumn],
    options: &LoadOptions,
    kinds: &Kinds,
) -> Result<(), String> {
    let space = |role| columns.iter().find(|column| column.role == role).and_then(|c| c.space.as_deref());
    let spaces = [space(ImporterRole::Start), space(ImporterRole::End)];
    let ends = match (table.ends, &table.label) {
        (Ends::Stated(ends), _) => ends,
        (Ends::OfLabel, Some(label)) => kinds.ends_of(label),
        _ => Default::default(),
    };
    if let [Some(from), Some(to)] = spaces
        && from != to
        && ends[0] == ends[1]
        && table.ends != Ends::Columns
    {
        return Err(format!(
            "ids of {from:?} and of {to:?} are different vertices, but equal ids would name the same vertex; give them two kinds by \
             --label NAME --from KIND --to KIND"
        ));
    }
    if options.label.is_none()
        && options.label_column.is_none()
        && let Some(at) = columns.iter().position(|column| column.role == ImporterRole::Type)
    {
        let behind = if table.ends == Ends::Columns { 2 } else { 0 };
        table.format.extra.insert(behind, Column::Index(at));
        table.label = None;
        // If edges have a label, their weights are a property of the label.
        table.weighted = options.weighted || options.weight_col.is_some();
    }
    // If an option names a property, the options name all properties.
    if !options.property.is_empty() {
        return Ok(());
    }
    let taken = [
        &options.weight_col,
        &options.time_col,
        &options.rank,
        &options.from_column,
        &options.to_column,
        &options.src_col,
    ];
    let taken = taken.into_iter().chain([&options.dst_col, &options.label_column]).flatten();
    let taken: Vec<&Column> = taken.collect();
    for (at, column) in columns.iter().enumerate() {
        let ImporterRole::Property(kind) = &column.role else { continue };
        let is_weight = table.weighted && column.name.eq_ignore_ascii_case("weight");
        let is_taken = taken.iter().any(|taken| match taken {
            Column::Index(index) | Column::IfPresent(index) => *index == at,
            Column::Name(name) => name.eq_ignore_ascii_case(&column.name),
            Column::Absent => false,
        });
        if is_weight || is_taken {
            continue;
        }
        table.properties.push((column.name.clone(), importer_type(at, &column.name, kind)?));
        table.format.extra.push(Column::Index(at));
    }
    Ok(())
}

fn importer_type(at: usize, name: &str, kind: &str) -> Result<ColumnType, String> {
    if name.is_empty() {
        return Err(format!("column {} has no name", at + 1));
    }
    ColumnType::of_importer(kind).ok_or_else(|| {
        format!(
            "column {} ({name}) has type {kind:?}, which is not supported; {name}:utf8 reads it as text",
            at + 1
        )
    })
}

/// The columns of a table of vertices.
struct Vertices {
    /// The column of the key.
    key: usize,
    /// Each property with its column.
    properties: Vec<(usize, (String, ColumnType))>,
}

fn settle_vertices(input: &mut Input, options: &LoadOptions, numbers: bool) -> Result<(), Error> {
    let Content::VertexTable(format, _) = &input.content else { return Ok(()) };
    let failed = |why: String| Error::file(&input.path, format!("header: {why}"));
    let sample = |header| {
        let format = EdgeFormat { header, ..format.clone() };
        sniff(input.lines()?, &format, numbers).map_err(unclear)
    };
    let Some(mut found) = sample(Header::Yes)? else {
        return Err(Error::file(&input.path, "no header"));
    };
    let typed = importer_columns(&found.first).is_some()
        || found.first.iter().any(|name| name.contains(':'))
        || found.first.first().is_some_and(|name| name.eq_ignore_ascii_case("id"));
    // A first row without types may be data.
    if !typed && options.header != Some(true) {
        let told = if options.header == Some(false) { None } else { sample(Header::Auto)? };
        if !told.is_some_and(|told| told.header) {
            let why = "the first row names no columns: a table of vertices needs a header, the key and then NAME or NAME:TYPE";
            return Err(failed(format!("{why}; if it has one, say --header")));
        }
    }
    let columns = columns(&found).map_err(failed)?;
    for (at, (name, kind)) in &columns.properties {
        if let Some(shown) = found.first.get_mut(*at) {
            *shown = format!("{name}:{}", kind.name());
        }
    }
    let properties: Vec<_> = columns.properties.iter().map(|(_, property)| property.clone()).collect();
    check_names(&input.path, &properties)?;
    let Content::VertexTable(format, of_file) = &mut input.content else { return Ok(()) };
    take(format, &found);
    format.extra = columns.properties.iter().map(|(at, _)| Column::Index(*at)).collect();
    (format.src, format.dst) = (Some(Column::Index(columns.key)), Some(Column::Index(columns.key)));
    *of_file = properties;
    input.sniffed = Some(found);
    Ok(())
}

/// Returns the columns that the header names. The rows below determine types that the header leaves open.
fn columns(found: &Sniffed) -> Result<Vertices, String> {
    if let Some(columns) = importer_columns(&found.first) {
        let key = columns.iter().position(|column| column.role == ImporterRole::Id);
        let Some(key) = key else {
            return Err("edges, not vertices: it has :START_ID and :END_ID".to_owned());
        };
        let mut properties = Vec::new();
        for (at, column) in columns.into_iter().enumerate() {
            let ImporterRole::Property(kind) = column.role else { continue };
            let kind = importer_type(at, &column.name, &kind)?;
            properties.push((at, (column.name, kind)));
        }
        return Ok(Vertices { key, properties });
    }
    let mut properties = Vec::new();
    for (at, name) in found.first.iter().enumerate().skip(1) {
        let property = if name.contains(':') {
            property::parse_header(name)?
        } else if name.is_empty() {
            return Err(format!("column {} has no name", at + 1));
        } else {
            let kind = found.kinds.get(at).copied().unwrap_or(FieldKind::Text);
            (name.clone(), ColumnType::of_field(kind))
        };
        properties.push((at, property));
    }
    Ok(Vertices { key: 0, properties })
}

/// Refuses two columns for one property, since the values of one would be lost.
fn check_names(path: &Path, properties: &[(String, ColumnType)]) -> Result<(), Error> {
    let mut names: Vec<&str> = properties.iter().map(|(name, _)| name.as_str()).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Error::file(path, format!("two columns are property {}", pair[0]))),
        None => Ok(()),
    }
}

/// True if nothing about the format must be detected.
fn is_settled(format: &EdgeFormat) -> bool {
    format.delimiter != Delimiter::Auto && format.header != Header::Auto
        || format.delimiter == Delimiter::Whitespace
}

fn take(format: &mut EdgeFormat, sniffed: &Sniffed) {
    format.delimiter = sniffed.delimiter;
    format.header = if sniffed.header { Header::Yes } else { Header::No };
}

/// Adds to the error the options that would state the undetected format.
fn unclear(error: ReadError) -> Error {
    match error {
        ReadError::HeaderUnclear { .. } => Error::Unclear { source: error, hint: "--header or --no-header" },
        ReadError::DelimiterUnclear { .. } => Error::Unclear { source: error, hint: "--delimiter" },
        other => other.into(),
    }
}
