//! The `out.*` files of Konect networks. Their first line says what columns 3 and 4 are.

use hedgerow_workload::read::{Column, EdgeFormat, Lines, ReadError, TimeUnit};

use crate::Error;
use crate::input::{Content, Input, edges};
use crate::kinds::{Ends, Kinds};
use crate::options::{FileFormat, LINES, LoadOptions};
use crate::property::ColumnType;

/// The meaning of column 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Weights {
    /// All edges weigh the same.
    None,
    /// The number of parallel edges, or a weight.
    Given,
    /// 1 adds the edge, -1 removes it.
    Dynamic,
}

/// The first line of a file: `% FORMAT WEIGHTS`.
#[derive(Clone, Debug)]
struct Banner {
    format: String,
    weights: Weights,
    name: String,
    /// True if two vertices may have several edges.
    several: bool,
}

impl Banner {
    fn of(line: &str) -> Option<Banner> {
        let words: Vec<&str> = line.strip_prefix('%')?.split_ascii_whitespace().collect();
        let [format @ ("sym" | "asym" | "bip"), name] = words[..] else { return None };
        let weights = match name {
            "unweighted" | "positive" | "posweighted" | "signed" | "multisigned" | "weighted"
            | "multiweighted" | "multiposweighted" => match name {
                "unweighted" => Weights::None,
                _ => Weights::Given,
            },
            "dynamic" => Weights::Dynamic,
            _ => return None,
        };
        let several = name == "positive" || name.starts_with("multi");
        Some(Banner { format: format.to_owned(), weights, name: name.to_owned(), several })
    }
}

/// Marks files of edges as Konect networks, if their first line identifies them.
pub(crate) fn recognize(inputs: &mut [Input], options: &LoadOptions) -> Result<(), Error> {
    if !matches!(options.format, FileFormat::Auto | FileFormat::Konect) {
        return Ok(());
    }
    for input in inputs.iter_mut().filter(|input| input.is_open()) {
        let mut lines = input.lines()?;
        let first = if next(&mut lines)? { Banner::of(lines.text()) } else { None };
        match first {
            Some(banner) => {
                let columns = columns(&mut lines)?;
                take(input, &banner, columns, options)?;
            }
            None if options.format == FileFormat::Konect => {
                let why = "no Konect network: its first line is not % sym, asym or bip and the kind of weights, as % asym positive; if its rows are edges, say --format snap";
                return Err(Error::file(&input.path, why));
            }
            None => {}
        }
    }
    Ok(())
}

/// Reads the next line; an empty one for a line that is not readable, which the load will report.
fn next(lines: &mut Lines) -> Result<bool, Error> {
    match lines.advance() {
        Err(ReadError::Row { .. }) => Ok(true),
        read => Ok(read?),
    }
}

/// Returns the number of columns in the first row.
fn columns(lines: &mut Lines) -> Result<usize, Error> {
    while next(lines)? {
        let text = lines.text().trim();
        if !text.is_empty() && !text.starts_with('%') {
            return Ok(text.split_ascii_whitespace().count());
        }
    }
    Ok(0)
}

fn take(input: &mut Input, banner: &Banner, columns: usize, options: &LoadOptions) -> Result<(), Error> {
    let Banner { format, name, .. } = banner;
    if let Some(option) = options.given(&[&["--src-col", "--dst-col"][..], &LINES].concat()) {
        let why = "a Konect network has source, destination, weight and time in this order, between blanks";
        return Err(Error::Options(format!("{option}: {why}")));
    }
    if banner.weights == Weights::Dynamic {
        let why = "a dynamic network: column 3 says which rows add an edge and which remove one, and a load does not replay them; --format snap --skip 1 reads each row as an edge, and --property event:i64=3 keeps that column";
        return Err(Error::file(&input.path, why));
    }
    let mut layout = EdgeFormat { weight: Some(Column::Absent), ..EdgeFormat::snap() };
    let mut found = Vec::new();
    let is_weight = columns > 2 && banner.weights == Weights::Given && !options.takes(2);
    let is_property = |at: usize| options.property.iter().any(|p| p.column == Column::Index(at));
    if is_weight && !is_property(2) {
        layout.weight = Some(Column::Index(2));
        found.push("column 3 has the weights");
    }
    let is_time = columns > 3 && !options.takes(3) && options.property.is_empty();
    if is_time {
        found.push("column 4 is property time, seconds since 1970");
    }
    let mut made = edges(&input.path, layout, options)?;
    if let (Content::Edges(table), true) = (&mut made.content, is_time) {
        table.properties.push(("time".to_owned(), ColumnType::time(TimeUnit::Seconds)));
        table.format.extra.push(Column::Index(3));
    }
    input.weighted =
        matches!(&made.content, Content::Edges(table) if table.format.weight == Some(Column::Index(2)));
    input.content = made.content;
    input.directed = match format.as_str() {
        "sym" => Some(false),
        "asym" => Some(true),
        _ => None,
    };
    input.bipartite = format == "bip";
    let found: String = found.into_iter().map(|what| format!("; {what}")).collect();
    input.notes.push(format!("a Konect network, {format} {name}{found}"));
    if (banner.several || is_time) && !options.multi && options.rank.is_none() {
        let why = "an edge that occurs again replaces the one before; --label NAME --multi keeps all of them";
        input.notes.push(why.to_owned());
    }
    Ok(())
}

/// Refuses a bipartite network whose two sets would become one kind.
pub(crate) fn check(input: &Input, kinds: &Kinds) -> Result<(), Error> {
    let Content::Edges(table) = &input.content else { return Ok(()) };
    let ends = match (table.ends, &table.label) {
        (Ends::Stated(ends), _) => ends,
        (Ends::OfLabel, Some(label)) => kinds.ends_of(label),
        (Ends::Columns, _) => return Ok(()),
        _ => Default::default(),
    };
    if !input.bipartite || ends[0] != ends[1] {
        return Ok(());
    }
    let why = "a bipartite network: equal numbers in columns 1 and 2 are different vertices, but would name the same vertex; give them two kinds by --label NAME --from KIND --to KIND";
    Err(Error::file(&input.path, why))
}
