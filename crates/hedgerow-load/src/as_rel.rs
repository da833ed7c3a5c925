//! Relationships of autonomous systems, as CAIDA publishes them: `AS|AS|RELATIONSHIP[|SOURCE]`.

use std::path::Path;

use hedgerow_workload::read::{Column, Comment, Delimiter, EdgeFormat, Header, ReadError};

use crate::Error;
use crate::input::{Content, Input, edges};
use crate::options::{FileFormat, LINES, LoadOptions};
use crate::property::ColumnType;

/// True for the names of these files, such as `20240101.as-rel2.txt.gz`.
fn is_named(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name = name.trim_end_matches(".gz").trim_end_matches(".zst").trim_end_matches(".txt");
    name.ends_with(".as-rel") || name.ends_with(".as-rel2")
}

/// Marks files of edges as relationships, if their name or the format says so.
pub(crate) fn recognize(inputs: &mut [Input], options: &LoadOptions) -> Result<(), Error> {
    for input in inputs.iter_mut().filter(|input| input.is_open()) {
        match options.format {
            FileFormat::AsRel => {}
            FileFormat::Auto if is_named(&input.path) => {}
            _ => continue,
        }
        take(input, options)?;
    }
    Ok(())
}

fn take(input: &mut Input, options: &LoadOptions) -> Result<(), Error> {
    if let Some(option) = options.given(&[&["--src-col", "--dst-col", "--weighted"][..], &LINES].concat()) {
        let why = "a file of AS relationships has two systems and their relationship, between vertical bars";
        return Err(Error::Options(format!("{option}: {why}")));
    }
    let layout = EdgeFormat {
        delimiter: Delimiter::Byte(b'|'),
        header: Header::No,
        weight: Some(Column::Absent),
        ..EdgeFormat::default()
    };
    let columns = columns(input)?;
    let mut made = edges(&input.path, layout, options)?;
    let mut found = Vec::new();
    if let Content::Edges(table) = &mut made.content {
        table.format.comment = Comment::Byte(b'#');
        // If an option names a property, the options name all properties.
        let of_columns = [("rel", "i64", 2), ("source", "utf8", 3)];
        for (name, kind, at) in of_columns.into_iter().filter(|_| options.property.is_empty()) {
            let Some(kind) = ColumnType::from_name(kind).filter(|_| at < columns && !options.takes(at))
            else {
                continue;
            };
            table.properties.push((name.to_owned(), kind));
            table.format.extra.push(Column::Index(at));
            found.push(format!("column {} is property {name}", at + 1));
        }
    }
    input.content = made.content;
    input.comment = Comment::Byte(b'#');
    input.directed = Some(true);
    let found: String = found.into_iter().map(|what| format!("; {what}")).collect();
    let what = "relationships of autonomous systems, -1 from provider to customer and 0 between peers";
    input.notes.push(format!("{what}{found}; each row is one edge, in the direction of the row"));
    Ok(())
}

/// Returns the number of columns in the first row.
fn columns(input: &Input) -> Result<usize, Error> {
    let mut lines = input.lines()?;
    loop {
        match lines.advance() {
            Ok(false) => return Ok(3),
            Ok(true) if lines.text().trim().is_empty() || lines.text().starts_with('#') => {}
            Ok(true) => return Ok(lines.text().split('|').count()),
            // The load will report the row.
            Err(ReadError::Row { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
