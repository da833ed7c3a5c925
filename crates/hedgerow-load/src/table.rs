//! Files of Parquet and Arrow, whose columns have names and types: which columns become what.

use std::sync::Arc;

use hedgerow::KeyKind;
use hedgerow_arrow::files::{FileFormat as TableFormat, TableReader};
use hedgerow_arrow::read::{self, Field};
use hedgerow_workload::read::{Column, usual_column};

use crate::Error;
use crate::columns::TableColumns;
use crate::input::{Content, EdgeTable, Input};
use crate::kinds::{Ends, Kinds};
use crate::options::{FileFormat, LINES, LoadOptions};
use crate::property::ColumnType;

/// Marks the inputs that are tables, as their first bytes show.
pub(crate) fn recognize(mut inputs: Vec<Input>, options: &LoadOptions) -> Result<Vec<Input>, Error> {
    // A stated format wins: a text may begin as a table does.
    for input in inputs.iter_mut().filter(|_| options.format == FileFormat::Auto) {
        if is_table(input)? {
            check_options(options)?;
            input.table = Some(TableColumns::default());
        }
    }
    Ok(inputs)
}

/// Marks a file of an exported directory, if it is a table, with the columns that its schema states.
pub(crate) fn recognize_exact(input: &mut Input, columns: TableColumns) -> Result<(), Error> {
    if is_table(input)? {
        input.table = Some(columns);
    }
    Ok(())
}

/// True if the first bytes of a file are those of a table.
fn is_table(input: &Input) -> Result<bool, Error> {
    let format = TableFormat::of(&mut input.file()?);
    let format = format.map_err(|why| Error::file(&input.path, why))?;
    Ok(format.is_some())
}

/// Returns the columns of a table of an exported directory, as the header of a file of lines would have them.
pub(crate) fn header_of(input: &Input) -> Result<Vec<String>, Error> {
    let (reader, columns) = (reader_of(input)?, input.table.clone().unwrap_or_default());
    let properties = match &input.content {
        Content::Edges(EdgeTable { properties, .. }) | Content::VertexTable(_, properties) => &properties[..],
        Content::Vertices => &[],
    };
    let header = |(at, field): (usize, &Arc<Field>)| {
        let place = columns.properties.iter().position(|&column| column == at);
        match (place.and_then(|place| properties.get(place)), read::property_type(field.data_type())) {
            (Some((name, stated)), Some(kind))
                if name == field.name() || *field.name() == format!("{name}:{}", stated.property) =>
            {
                format!("{name}:{kind}")
            }
            _ => field.name().clone(),
        }
    };
    Ok(reader.schema().fields().iter().enumerate().map(header).collect())
}

/// Refuses options about lines and fields.
fn check_options(options: &LoadOptions) -> Result<(), Error> {
    match options.given(&LINES).or((options.time_col.is_some()).then_some("--time-col")) {
        Some(option) => {
            let why = "a file of Parquet or Arrow has columns with names and types, and no lines";
            Err(Error::Options(format!("{option}: {why}")))
        }
        None => Ok(()),
    }
}

/// Decides which columns of a table become what. `weighted` is true if weights are read.
pub(crate) fn settle(
    input: &mut Input,
    options: &LoadOptions,
    kinds: &Kinds,
    weighted: bool,
) -> Result<(), Error> {
    let reader = reader_of(input)?;
    let names: Vec<String> = reader.schema().fields().iter().map(|field| field.name().clone()).collect();
    let table = Table { input, names: &names, reader: &reader };
    let (columns, properties) = match &input.content {
        Content::Vertices => {
            return Err(table.failed("a table: name it by --vertices, which reads keys and properties"));
        }
        Content::VertexTable(..) => table.of_vertices()?,
        Content::Edges(edges) => table.of_edges(edges, options, weighted)?,
    };
    match &input.content {
        Content::Edges(edges) if columns.kinds.is_none() => {
            let ends = match (edges.ends, &edges.label) {
                (Ends::Stated(ends) | Ends::Fixed(ends), _) => Some(ends),
                (Ends::OfLabel, Some(label)) => Some(kinds.ends_of(label)),
                // Each row may have other kinds.
                (Ends::OfLabel, None) => None,
                (Ends::Columns, _) => Some(Default::default()),
            };
            for (&at, kind) in columns.ends.iter().zip(ends.into_iter().flatten()) {
                table.check_keys(at, kinds.keys(kind))?;
            }
        }
        Content::VertexTable(..) => table.check_keys(columns.ends[0], kinds.keys(input.kind))?,
        _ => {}
    }
    let note = table.note(&columns, &properties);
    input.notes.push(note);
    if weighted && columns.weight.is_none() && !input.has_vertices() {
        input.notes.push("no column has weights, so each row has weight 1".to_owned());
    }
    match &mut input.content {
        Content::Edges(edges) => {
            (edges.weighted, edges.weight_required) = (weighted && columns.weight.is_some(), false);
            edges.properties = properties;
        }
        Content::VertexTable(_, of_file) => *of_file = properties,
        Content::Vertices => {}
    }
    input.table = Some(columns);
    Ok(())
}

/// A table before it is read.
struct Table<'a> {
    input: &'a Input,
    names: &'a [String],
    reader: &'a TableReader,
}

type Properties = Vec<(String, ColumnType)>;

impl Table<'_> {
    fn failed(&self, why: impl std::fmt::Display) -> Error {
        Error::file(&self.input.path, why)
    }

    fn of_vertices(&self) -> Result<(TableColumns, Properties), Error> {
        let mut columns = TableColumns::default();
        if self.names.is_empty() {
            return Err(self.failed("no columns: the first one is the key"));
        }
        let properties = self.all_but(&[0], &mut columns)?;
        Ok((columns, properties))
    }

    fn of_edges(
        &self,
        edges: &EdgeTable,
        options: &LoadOptions,
        weighted: bool,
    ) -> Result<(TableColumns, Properties), Error> {
        let optional = |column: &Option<Column>| column.as_ref().map(|column| self.find(column)).transpose();
        let end = |at: usize, given: &Option<Column>, option: &str| {
            optional(given)?.or_else(|| usual_column(self.names, at)).ok_or_else(|| {
                let names = self.names.join(", ");
                self.failed(format!(
                    "no column has a usual name of an end: {option} names it; columns: {names}"
                ))
            })
        };
        let mut columns = TableColumns {
            ends: [end(0, &options.src_col, "--src-col")?, end(1, &options.dst_col, "--dst-col")?],
            label: optional(&options.label_column)?,
            rank: optional(&options.rank)?,
            ..TableColumns::default()
        };
        if let (Some(from), Some(to)) = (optional(&options.from_column)?, optional(&options.to_column)?) {
            columns.kinds = Some([from, to]);
        }
        if weighted {
            columns.weight = optional(&options.weight_col)?.or_else(|| usual_column(self.names, 2));
            if columns.weight.is_none() && options.weighted {
                return Err(
                    self.failed("no column named weight; --weight-col says which one has the weights")
                );
            }
        }
        if columns.ends[0] == columns.ends[1] {
            let name = &self.names[columns.ends[0]];
            let why = format!("column {name} would be both ends; --src-col and --dst-col name two columns");
            return Err(self.failed(why));
        }
        let properties = match options.property.is_empty() {
            true => self.all_but(&columns.taken(), &mut columns)?,
            false => self.stated(edges, options, &mut columns)?,
        };
        let named = properties.iter().map(|(name, _)| name.as_str());
        // A labelled edge has its weight among the properties.
        let mut names: Vec<&str> = named.chain(columns.weight.map(|_| "weight")).collect();
        names.sort_unstable();
        if let Some(twice) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            let why =
                format!("two columns are property {}; name the properties to load by --property", twice[0]);
            return Err(self.failed(why));
        }
        Ok((columns, properties))
    }

    /// Returns the properties that the options name.
    fn stated(
        &self,
        edges: &EdgeTable,
        options: &LoadOptions,
        columns: &mut TableColumns,
    ) -> Result<Properties, Error> {
        for ((name, kind), property) in edges.properties.iter().zip(&options.property) {
            let at = self.find(&property.column)?;
            if kind.states_unit() {
                let why =
                    format!("--property {name}: a column of times states its unit; say {name}:timestamp");
                return Err(Error::Options(why));
            }
            let has = self.reader.schema().field(at).data_type();
            if read::property_type(has) != Some(kind.property) {
                let (column, wanted) = (&self.names[at], kind.property);
                return Err(self.failed(format!("column {column}: {has} is no {wanted} for property {name}")));
            }
            columns.properties.push(at);
        }
        Ok(edges.properties.clone())
    }

    /// Makes properties of all columns except the `taken` ones.
    fn all_but(&self, taken: &[usize], columns: &mut TableColumns) -> Result<Properties, Error> {
        let mut properties = Properties::new();
        for (at, field) in self.reader.schema().fields().iter().enumerate() {
            if taken.contains(&at) {
                continue;
            }
            let Some(kind) = read::property_type(field.data_type()) else {
                let (name, has) = (field.name(), field.data_type());
                return Err(self.failed(format!(
                    "column {name}: no property has the type {has}; convert it, or name the properties to load by --property"
                )));
            };
            let name = read::property_name(field).to_owned();
            if name.is_empty() || properties.iter().any(|(other, _)| *other == name) {
                return Err(self.failed(format!("column {}: two columns are property {name:?}", at + 1)));
            }
            properties.push((name, ColumnType::exported(kind)));
            columns.properties.push(at);
        }
        Ok(properties)
    }

    /// Returns the position of a column.
    fn find(&self, column: &Column) -> Result<usize, Error> {
        let found = match column {
            Column::Index(at) | Column::IfPresent(at) => Some(*at).filter(|at| *at < self.names.len()),
            Column::Name(name) => self.names.iter().position(|other| other == name),
            Column::Absent => None,
        };
        found.ok_or_else(|| {
            let wanted = match column {
                Column::Name(name) => format!("no column named {name}"),
                Column::Index(at) | Column::IfPresent(at) => format!("no column {}", at + 1),
                Column::Absent => "no column".to_owned(),
            };
            self.failed(format!("{wanted}; the columns are {}", self.names.join(", ")))
        })
    }

    /// Refuses a column of keys whose type has no such keys.
    fn check_keys(&self, at: usize, keys: KeyKind) -> Result<(), Error> {
        let (name, has) = (&self.names[at], self.reader.schema().field(at).data_type());
        let (fits, wanted) = match keys {
            KeyKind::Str => (read::is_text(has), "the keys are texts (--keys u64 takes whole numbers)"),
            KeyKind::U64 | KeyKind::Dense => {
                (read::is_whole(has), "the keys are whole numbers (--keys str takes texts)")
            }
        };
        if fits {
            Ok(())
        } else {
            Err(self.failed(format!("column {name} has the type {has}, but {wanted}")))
        }
    }

    /// Returns the note of the report: which columns became what, and which were left out.
    fn note(&self, columns: &TableColumns, properties: &Properties) -> String {
        let taken: Vec<usize> =
            columns.taken().into_iter().chain(columns.properties.iter().copied()).collect();
        let names =
            |at: &[usize]| at.iter().map(|&at| self.names[at].as_str()).collect::<Vec<_>>().join(", ");
        let ends = if self.input.has_vertices() { &columns.ends[..1] } else { &columns.ends[..] };
        let mut note = format!("a table with keys in {}", names(ends));
        let others = [("label", columns.label), ("rank", columns.rank), ("weight", columns.weight)];
        for (what, at) in others.into_iter().filter_map(|(what, at)| Some((what, at?))) {
            note += &format!(", {what} in {}", self.names[at]);
        }
        if let Some(kinds) = columns.kinds {
            note += &format!(", kinds in {}", names(&kinds));
        }
        let property = |((name, _), at): (&(String, ColumnType), &usize)| match &self.names[*at] {
            column if column == name => name.clone(),
            column => format!("{name} from {column}"),
        };
        if !properties.is_empty() {
            let all: Vec<String> = properties.iter().zip(&columns.properties).map(property).collect();
            note += &format!(", properties {}", all.join(", "));
        }
        let left: Vec<usize> = (0..self.names.len()).filter(|at| !taken.contains(at)).collect();
        if !left.is_empty() {
            note += &format!("; left out: {}", names(&left));
        }
        note
    }
}

/// Opens a table for a reading from its start.
pub(crate) fn reader_of(input: &Input) -> Result<TableReader, Error> {
    Ok(TableReader::open(input.file()?, &input.path)?)
}
