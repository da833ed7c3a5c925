//! Files of LDBC's Social Network Benchmark: `KIND_0_0.csv` has vertices of a kind, `KIND_LABEL_KIND_0_0.csv`
//! edges of a label. The fields are between vertical bars, and the first line names them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use hedgerow::{KeyKind, PropertyType};
use hedgerow_export::layout::SCHEMA_FILE;
use hedgerow_workload::read::{Column, Comment, Delimiter, EdgeFormat, Header, ReadError, TimeUnit};

use crate::Error;
use crate::input::{Content, EdgeTable, Input};
use crate::kinds::{Ends, Kinds};
use crate::options::{FileFormat, LoadOptions};
use crate::property::ColumnType;

/// The content of a file, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Table {
    Vertices(String),
    /// The kind of the sources, the label, and the kind of the destinations.
    Edges([String; 3]),
}

impl Table {
    /// Returns the content of a file with this name; `None` if it is none of these files.
    fn of(path: &Path) -> Option<Table> {
        let name = path.file_name()?.to_str()?;
        let name = name.strip_suffix(".gz").or_else(|| name.strip_suffix(".zst")).unwrap_or(name);
        let parts: Vec<&str> = name.strip_suffix(".csv")?.split('_').collect();
        let [names @ .., one, other] = &parts[..] else { return None };
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = |part: &&str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !is_number(one) || !is_number(other) || !names.iter().all(is_name) {
            return None;
        }
        match names {
            [kind] => Some(Table::Vertices((*kind).to_owned())),
            [from, label, to] => Some(Table::Edges([from, label, to].map(|name| (*name).to_owned()))),
            _ => None,
        }
    }
}

/// The inputs of a load, with the content of each.
pub(crate) struct Network {
    pub(crate) inputs: Vec<Input>,
    tables: Vec<Table>,
}

/// Returns the files that the options name, if these are LDBC's: by the format, or as a directory without
/// `schema.json` that has such files.
pub(crate) fn recognize(options: &LoadOptions) -> Result<Option<Network>, Error> {
    let (mut paths, mut others) = (Vec::new(), Vec::new());
    match &options.files[..] {
        [directory] if directory.is_dir() && !directory.join(SCHEMA_FILE).exists() => {
            for folder in [directory.clone(), directory.join("static"), directory.join("dynamic")] {
                if folder.is_dir() {
                    list(&folder, &mut paths, &mut others)?;
                }
            }
            if paths.is_empty() && options.format != FileFormat::Ldbc {
                return Ok(None);
            }
        }
        files if options.format == FileFormat::Ldbc => paths = files.to_vec(),
        _ => return Ok(None),
    }
    if !matches!(options.format, FileFormat::Auto | FileFormat::Ldbc) {
        return Ok(None);
    }
    let decided = ["--vertices", "--kind", "--from", "--from-column", "--label", "--label-column", "--multi"];
    let more = ["--rank", "--property", "--header", "--no-header", "--skip", "--delimiter", "--null"];
    let columns = ["--comment", "--weighted", "--src-col", "--dst-col", "--weight-col", "--time-col"];
    if let Some(option) = options.given(&[&decided[..], &more, &columns].concat()) {
        let why = "does not apply to LDBC's files: their names and first lines state how to load them";
        return Err(Error::Options(format!("{option} {why}")));
    }
    let mut network = Network { inputs: Vec::new(), tables: Vec::new() };
    for path in paths {
        network.add(&path, &mut others)?;
    }
    // The vertices come first.
    network.sort();
    match network.inputs.first_mut() {
        Some(first) => first.notes.extend(others),
        None => {
            let path = options.files.first().map_or(Path::new(""), PathBuf::as_path);
            return Err(Error::file(
                path,
                "no file has a name such as person_0_0.csv or person_knows_person_0_0.csv",
            ));
        }
    }
    Ok(Some(network))
}

/// Adds the files of a folder to `paths`, and notes on all others to `others`.
fn list(folder: &Path, paths: &mut Vec<PathBuf>, others: &mut Vec<String>) -> Result<(), Error> {
    let failed = Error::io(folder);
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(&failed)? {
        all.push(entry.map_err(&failed)?.path());
    }
    all.sort();
    for path in all {
        let is_folder = ["static", "dynamic"].iter().any(|name| path.ends_with(name)) && path.is_dir();
        match Table::of(&path) {
            Some(_) => paths.push(path),
            None if is_folder => {}
            None => others.push(format!("{} is left out: its name is none of LDBC's", path.display())),
        }
    }
    Ok(())
}

impl Network {
    /// Adds a file; a note if it has neither vertices nor edges.
    fn add(&mut self, path: &Path, others: &mut Vec<String>) -> Result<(), Error> {
        let Some(table) = Table::of(path) else {
            let why = "its name is neither like person_0_0.csv nor like person_knows_person_0_0.csv";
            return Err(Error::file(path, why));
        };
        let metadata = path.metadata().map_err(Error::io(path))?;
        if !metadata.is_file() {
            return Err(Error::file(path, "not a regular file"));
        }
        let mut input = Input::new(path, Content::Vertices);
        let header = header(&input)?;
        let name = |at: usize| header.get(at).map_or("", String::as_str);
        let wrong = |at: usize, wanted: &str| {
            Error::row(path, 1, format!("column {} is {:?}, expected {wanted}", at + 1, name(at)))
        };
        let first = match &table {
            Table::Vertices(_) if name(0) == "id" => 1,
            Table::Vertices(_) => return Err(wrong(0, "id")),
            Table::Edges([from, _, to]) => {
                if !is_id(name(0), from) {
                    return Err(wrong(0, &format!("{from}.id")));
                }
                if !name(1).contains('.') && header.len() == 2 {
                    let why = "column 2 has values and no ids of vertices; a property has one value";
                    others.push(format!("{} is left out: {why}", path.display()));
                    return Ok(());
                }
                if !is_id(name(1), to) {
                    return Err(wrong(1, &format!("{to}.id")));
                }
                2
            }
        };
        let mut properties: Vec<(String, ColumnType)> = Vec::new();
        for (at, name) in header.iter().enumerate().skip(first) {
            if name.is_empty() || properties.iter().any(|(other, _)| other == name) {
                return Err(wrong(at, "a name that no other column has"));
            }
            properties.push((name.clone(), type_of(name)));
        }
        let format = EdgeFormat {
            delimiter: Delimiter::Byte(b'|'),
            header: Header::Yes,
            src: Some(Column::Index(0)),
            dst: Some(Column::Index(first - 1)),
            weight: Some(Column::Absent),
            time: Some(Column::Absent),
            extra: (first..header.len()).map(Column::Index).collect(),
            comment: Comment::None,
            ..EdgeFormat::default()
        };
        input.content = match &table {
            Table::Vertices(_) => Content::VertexTable(format, properties),
            Table::Edges([_, label, _]) => Content::Edges(EdgeTable {
                format,
                ends: Ends::OfLabel,
                label: Some(label.clone()),
                multi: None,
                rank: false,
                weighted: false,
                weight_required: false,
                properties,
            }),
        };
        self.inputs.push(input);
        self.tables.push(table);
        Ok(())
    }

    fn sort(&mut self) {
        let inputs = std::mem::take(&mut self.inputs).into_iter();
        let mut all: Vec<(Input, Table)> = inputs.zip(std::mem::take(&mut self.tables)).collect();
        all.sort_by_key(|(input, _)| !input.has_vertices());
        (self.inputs, self.tables) = all.into_iter().unzip();
    }

    /// Defines the kinds. A label states the kinds of its ends if all its files have the same ones.
    pub(crate) fn settle(mut self, kinds: &mut Kinds) -> Result<Vec<Input>, Error> {
        let mut pairs: HashMap<&str, Vec<[&str; 2]>> = HashMap::new();
        for table in &self.tables {
            if let Table::Edges([from, label, to]) = table {
                let found = pairs.entry(label).or_default();
                if !found.contains(&[from, to]) {
                    found.push([from, to]);
                }
            }
        }
        for (input, table) in self.inputs.iter_mut().zip(&self.tables) {
            match (table, &mut input.content) {
                (Table::Edges([from, label, to]), Content::Edges(edges)) => {
                    let ends =
                        [kinds.define(from, Some(KeyKind::U64))?, kinds.define(to, Some(KeyKind::U64))?];
                    let is_one = pairs.get(label.as_str()).is_some_and(|pairs| pairs.len() == 1);
                    edges.ends = if is_one { Ends::Stated(ends) } else { Ends::Fixed(ends) };
                    input.notes.push(format!(
                        "edges {label} from kind {from} to kind {to}{}",
                        shown(&edges.properties)
                    ));
                }
                (Table::Vertices(kind), Content::VertexTable(_, properties)) => {
                    input.kind = kinds.define(kind, Some(KeyKind::U64))?;
                    input.notes.push(format!("vertices of kind {kind}{}", shown(properties)));
                }
                _ => {}
            }
        }
        Ok(self.inputs)
    }
}

/// True if the header `name` is that of the ids of a kind: `Person.id`, or `Person.id.1` for its second
/// column.
fn is_id(name: &str, kind: &str) -> bool {
    let found = name.strip_suffix(".1").unwrap_or(name).strip_suffix(".id");
    found.is_some_and(|found| found.eq_ignore_ascii_case(kind))
}

/// Returns the type of a column: times count milliseconds or are dates, three columns have numbers, and all
/// others texts.
fn type_of(name: &str) -> ColumnType {
    match name {
        "birthday" => ColumnType::time(TimeUnit::Milliseconds),
        _ if name.ends_with("Date") => ColumnType::time(TimeUnit::Milliseconds),
        "length" | "classYear" | "workFrom" => ColumnType::of(PropertyType::I64),
        _ => ColumnType::of(PropertyType::Utf8),
    }
}

fn shown(properties: &[(String, ColumnType)]) -> String {
    let all: Vec<String> =
        properties.iter().map(|(name, kind)| format!("{name}:{}", kind.property)).collect();
    if all.is_empty() { String::new() } else { format!(", properties {}", all.join(", ")) }
}

/// Returns the names in the first line.
fn header(input: &Input) -> Result<Vec<String>, Error> {
    let mut lines = input.lines()?;
    match lines.advance() {
        Ok(true) => Ok(lines.text().split('|').map(|name| name.trim().to_owned()).collect()),
        Ok(false) => Err(Error::file(&input.path, "no header")),
        Err(ReadError::Row { line, reason, .. }) => Err(Error::row(&input.path, line, reason.to_string())),
        Err(error) => Err(error.into()),
    }
}
