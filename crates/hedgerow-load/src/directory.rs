//! `hedgerow load` of a directory that an export wrote.
//!
//! `schema.json` describes the store and the content of the files. Before the load changes the store, it
//! compares the whole description with the files, so that an incomplete export is not loaded.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use hedgerow::{Graph, GraphConfig, KeyKind, Options};
use hedgerow_export::layout::{
    DELIMITER, FORMAT, KIND_COLUMNS, KINDS_VERSION, PARTS_VERSION, SCHEMA_FILE, VERSION,
};
use hedgerow_export::text::kind_name;
use hedgerow_workload::read::{Column, Delimiter, EdgeFormat, Header, sniff};
use serde_json::Value;

use crate::Error;
use crate::columns::TableColumns;
use crate::entry::Entry;
use crate::existing::{Before, Existing};
use crate::input::{Content, EdgeTable, Input};
use crate::item::Rules;
use crate::kinds::{Ends, Kinds};
use crate::options::{LoadOptions, OnError};
use crate::property::ColumnType;
use crate::rejects::Rejects;
use crate::report::LoadReport;
use crate::rows;
use crate::table;
use crate::target::Target;
use crate::watch::Course;
use crate::write;

/// The maximal size of `schema.json`: far more than 65,534 labels with many properties each need.
const MAX_SCHEMA_BYTES: u64 = 1 << 26;

/// A file of the directory.
struct Part {
    input: Input,
    rows: u64,
    header: Vec<String>,
}

/// Loads the directory into a new store, or into one with the same configuration.
pub(crate) fn load(
    target: &Target<'_>,
    options: &LoadOptions,
    directory: &Path,
    course: &Course<'_>,
) -> Result<(LoadReport, Graph), Error> {
    if let Some(option) = options.given(&[]).or_else(|| target.foreign_option()) {
        let why = format!("{option} does not apply to a directory: its schema.json states how to load it");
        return Err(Error::Options(why));
    }
    let schema = Schema::read(directory)?;
    let (new, keys) = schema.options()?;
    let new = target.with_files(new);
    if let Target::Open(graph) = target {
        schema.check(graph.config())?;
    }
    // Reports faults of the schema before the store is changed; the store may already have kinds.
    schema.parts(directory, &mut Kinds::of(None, keys))?;
    let existing = target.open_with(new.clone())?;
    let mut kinds = Kinds::of(existing.as_ref(), keys);
    let parts = schema.parts(directory, &mut kinds)?;
    let rules = Rules { kinds: &kinds, finite: false, on_error: OnError::Raise, course };
    course.begin(parts.iter().map(|part| &part.input), true)?;
    let before = existing.as_ref().map(Before::of).transpose()?;
    let mut seen = Existing::default();
    for part in &parts {
        seen += check(part, &rules, &schema, before.as_ref())?;
    }
    drop(before);
    let inputs: Vec<Input> = parts.into_iter().map(|part| part.input).collect();
    let (loaded, graph) = match existing {
        Some(graph) => write::into_existing(graph, target.ending(), options, &inputs, &rules)?,
        None => write::into_new(new, target, options, &inputs, &rules, None)?,
    };
    Ok((LoadReport::new(&loaded, seen, &inputs, Rejects::default(), kinds.default_keys()), graph))
}

/// Reads a whole file, and compares its header, its rows and their number with the schema.
fn check(part: &Part, rules: &Rules<'_>, schema: &Schema, store: Option<&Before>) -> Result<Existing, Error> {
    let path = &part.input.path;
    let (Content::Edges(EdgeTable { format, .. }) | Content::VertexTable(format, _)) = &part.input.content
    else {
        return Ok(Existing::default());
    };
    let found = match &part.input.table {
        Some(_) => table::header_of(&part.input)?,
        None => sniff(part.input.lines()?, format, false)?.map(|found| found.first).unwrap_or_default(),
    };
    let differs = |what: &str, expected: String, found: String| {
        let says = schema.path.display();
        Err(Error::file(path, format!("{what} is {found}, {says} says {expected}")))
    };
    let shown = |names: &[String]| format!("{:?}", names.join(","));
    // A header of lines is read without the blanks around names.
    let plain =
        |name: &'_ String| if part.input.table.is_some() { name.clone() } else { name.trim().to_owned() };
    if part.header.iter().map(plain).ne(found.iter().cloned()) {
        return differs("the header", shown(&part.header), shown(&found));
    }
    let seen = rows::validate(&part.input, rules, &mut Rejects::default(), store)?;
    if seen.rows != part.rows {
        return differs("the number of rows", part.rows.to_string(), seen.rows.to_string());
    }
    Ok(seen.existing)
}

/// The content of `schema.json`.
struct Schema {
    path: PathBuf,
    content: Value,
}

impl Schema {
    fn read(directory: &Path) -> Result<Schema, Error> {
        let path = directory.join(SCHEMA_FILE);
        let failed = |why: String| Error::file(&path, why);
        let file = File::open(&path)
            .map_err(|why| failed(format!("{why}; a directory to load is one that an export wrote")))?;
        let mut text = String::new();
        file.take(MAX_SCHEMA_BYTES + 1).read_to_string(&mut text).map_err(|why| failed(why.to_string()))?;
        if text.len() as u64 > MAX_SCHEMA_BYTES {
            return Err(failed(format!("longer than {MAX_SCHEMA_BYTES} bytes")));
        }
        let content = serde_json::from_str(&text).map_err(|why| failed(format!("no JSON: {why}")))?;
        let schema = Schema { path, content };
        let root = schema.root();
        if root.text("format")? != FORMAT {
            return Err(root.wrong("format", &format!("{FORMAT:?}")));
        }
        if !(VERSION..=PARTS_VERSION).contains(&root.number("version")?) {
            let known = format!("{VERSION} to {PARTS_VERSION}, which this program knows");
            return Err(root.wrong("version", &known));
        }
        Ok(schema)
    }

    fn root(&self) -> Entry<'_> {
        Entry::root(&self.path, &self.content)
    }

    /// Returns the options of the store, and the type of its keys.
    fn options(&self) -> Result<(Options, KeyKind), Error> {
        let root = self.root();
        let kind = match root.text("keys")? {
            "u64" => KeyKind::U64,
            "str" => KeyKind::Str,
            "dense" => KeyKind::Dense,
            _ => return Err(root.wrong("keys", "\"u64\", \"str\" or \"dense\"")),
        };
        let (directed, reverse) = (root.truth("directed")?, root.truth("reverse")?);
        let options = Options::new().directed(directed).keys(kind).weighted(root.truth("weighted")?);
        // An undirected store has no separate incoming edges.
        Ok((if directed { options.reverse(reverse) } else { options }, kind))
    }

    /// Refuses an open store that differs from the exported one.
    fn check(&self, config: GraphConfig) -> Result<(), Error> {
        let root = self.root();
        let as_store = |what: &str| format!("{what}, as the store has it");
        if root.truth("directed")? != config.directed {
            return Err(root.wrong("directed", &as_store(&config.directed.to_string())));
        }
        if root.truth("weighted")? != config.weighted {
            return Err(root.wrong("weighted", &as_store(&config.weighted.to_string())));
        }
        if root.text("keys")? != kind_name(config.keys) {
            return Err(root.wrong("keys", &as_store(&format!("{:?}", kind_name(config.keys)))));
        }
        Ok(())
    }

    /// Returns the files: first the files of vertices, kind by kind, then the files of labels by ascending
    /// id. Adds the kinds to `kinds`.
    fn parts(&self, directory: &Path, kinds: &mut Kinds) -> Result<Vec<Part>, Error> {
        let root = self.root();
        let weighted = root.truth("weighted")?;
        let mut parts = vertices(&root.entry("vertices")?, directory)?;
        let has_kinds = match root.number("version")? {
            PARTS_VERSION => root.has("kinds"),
            version => version == KINDS_VERSION,
        };
        if has_kinds {
            parts.extend(self.parts_of_kinds(directory, kinds)?);
        }
        let labels = root.list("labels")?;
        let mut names: Vec<&str> = Vec::new();
        for label in &labels {
            let name = label.text("name")?;
            if names.is_empty() != name.is_empty() {
                return Err(label.wrong("name", "\"\", of the default label, first and only there"));
            }
            names.push(name);
            let ends = if has_kinds { label.ends(kinds)? } else { Ends::Fixed(Default::default()) };
            if name.is_empty() && matches!(ends, Ends::Stated(_)) {
                return Err(label.wrong("ends", "null for the default label"));
            }
            parts.extend(edges(label, directory, weighted && name.is_empty(), ends)?);
        }
        if names.is_empty() {
            return Err(root.wrong("labels", "at least the default label"));
        }
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => Err(root.wrong("labels", &format!("one label named {:?}", pair[0]))),
            None => Ok(parts),
        }
    }
}

impl Schema {
    fn parts_of_kinds(&self, directory: &Path, kinds: &mut Kinds) -> Result<Vec<Part>, Error> {
        let (mut parts, mut names): (Vec<Part>, Vec<&str>) = Default::default();
        for entry in self.root().list("kinds")? {
            let name = entry.text("name")?;
            if name.is_empty() || names.contains(&name) {
                return Err(entry.wrong("name", "a name that no other kind has"));
            }
            names.push(name);
            let keys = match entry.text("keys")? {
                "u64" => KeyKind::U64,
                "str" => KeyKind::Str,
                _ => return Err(entry.wrong("keys", "\"u64\" or \"str\"")),
            };
            let kind = kinds.define(name, Some(keys))?;
            for mut part in vertices(&entry, directory)? {
                part.input.kind = kind;
                parts.push(part);
            }
        }
        Ok(parts)
    }
}

/// Returns the layout of the files of edges in an export.
fn exact(extra: std::ops::Range<usize>, weight: Option<usize>) -> EdgeFormat {
    EdgeFormat {
        delimiter: Delimiter::Byte(DELIMITER),
        header: Header::Yes,
        src: Some(Column::Index(0)),
        dst: Some(Column::Index(1)),
        weight: Some(weight.map_or(Column::Absent, Column::Index)),
        time: Some(Column::Absent),
        extra: extra.map(Column::Index).collect(),
        exact: true,
        ..EdgeFormat::default()
    }
}

/// Returns the files of the vertices of a kind.
fn vertices(entry: &Entry<'_>, directory: &Path) -> Result<Vec<Part>, Error> {
    let properties = entry.properties()?;
    let mut format = exact(1..1 + properties.len(), None);
    format.dst = Some(Column::Index(0));
    let mut header = vec!["id".to_owned()];
    header.extend(properties.iter().map(typed));
    let columns = TableColumns { properties: (1..header.len()).collect(), ..TableColumns::default() };
    let content = || Content::VertexTable(format.clone(), properties.clone());
    parts_of(entry, directory, content, (&columns, &header))
}

/// Returns the files of a table. Each has this content, and these columns.
fn parts_of(
    entry: &Entry<'_>,
    directory: &Path,
    content: impl Fn() -> Content,
    (columns, header): (&TableColumns, &[String]),
) -> Result<Vec<Part>, Error> {
    let part = |file: &Entry<'_>| {
        let mut input = Input::new(&file.file(directory)?, content());
        table::recognize_exact(&mut input, columns.clone())?;
        Ok(Part { input, rows: file.number("rows")?, header: header.to_vec() })
    };
    entry.files()?.iter().map(part).collect()
}

/// Returns the files of the edges of a label.
fn edges(entry: &Entry<'_>, directory: &Path, weighted: bool, ends: Ends) -> Result<Vec<Part>, Error> {
    let (label, multi) = (entry.text("name")?, entry.truth("multi")?);
    let properties = entry.properties()?;
    let mut header = vec!["src".to_owned(), "dst".to_owned()];
    let before = header.len();
    if ends == Ends::Columns {
        header.extend(KIND_COLUMNS.map(str::to_owned));
    }
    header.extend(multi.then(|| "rank".to_owned()));
    let after = header.len();
    let weight = weighted.then_some(after);
    header.extend(weighted.then(|| "weight".to_owned()));
    let first = header.len();
    header.extend(properties.iter().map(typed));
    let mut format = exact(first..header.len(), weight);
    // The columns of kinds and rank are before the weight.
    format.extra.splice(0..0, (before..after).map(Column::Index));
    let table = EdgeTable {
        format,
        ends,
        label: Some(label.to_owned()),
        multi: Some(multi),
        rank: multi,
        weighted,
        weight_required: weighted,
        properties,
    };
    let columns = TableColumns {
        ends: [0, 1],
        kinds: (ends == Ends::Columns).then_some([2, 3]),
        label: None,
        rank: multi.then(|| after - 1),
        weight,
        properties: (first..header.len()).collect(),
    };
    parts_of(entry, directory, || Content::Edges(table.clone()), (&columns, &header))
}

fn typed((name, kind): &(String, ColumnType)) -> String {
    format!("{name}:{}", kind.property)
}
