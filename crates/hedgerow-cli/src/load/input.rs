//! Which files are read, and as what.

use std::path::{Path, PathBuf};

use hedgerow::PropertyType;
use hedgerow_workload::read::{Column, EdgeFormat, Graphalytics, Header, read_header};

use super::{FileFormat, LoadArgs};
use crate::error::CliError;
use crate::property;

/// One file to read.
#[derive(Debug)]
pub(super) struct Input {
    pub(super) path: PathBuf,
    pub(super) content: Content,
    /// Whether a properties file says that edges have a direction.
    pub(super) directed: Option<bool>,
    /// Whether the format, or a properties file, says that edges have weights.
    pub(super) weighted: bool,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A vertex a line.
    Vertices,
    /// An edge a line.
    Edges(EdgeFormat),
    /// A vertex a line with properties: the key in the first field, a property in each of the others.
    VertexTable(EdgeFormat, Vec<(String, PropertyType)>),
}

/// A column as the command line names it: a position from 1, else a name.
pub(super) fn column(text: &str) -> Result<Column, String> {
    match text.parse::<usize>() {
        Ok(0) => Err("columns count from 1".to_owned()),
        Ok(position) => Ok(Column::Index(position - 1)),
        Err(_) if text.is_empty() => Err("a position from 1 or a name is needed".to_owned()),
        Err(_) => Ok(Column::Name(text.to_owned())),
    }
}

/// A property of edges as the command line names it: `NAME:TYPE`, then `=COLUMN` if the column is named otherwise.
#[derive(Clone, Debug)]
pub(super) struct EdgeProperty {
    pub(super) name: String,
    pub(super) kind: PropertyType,
    column: Column,
}

/// Reads an [`EdgeProperty`].
pub(super) fn edge_property(text: &str) -> Result<EdgeProperty, String> {
    let (head, from) = text.split_once('=').map_or((text, None), |(head, from)| (head, Some(from)));
    let (name, kind) = property::parse_header(head)?;
    let column = from.map_or_else(|| Ok(Column::Name(name.clone())), column)?;
    Ok(EdgeProperty { name, kind, column })
}

/// All files that the arguments name, those included that properties files name.
pub(super) fn inputs(args: &LoadArgs) -> Result<Vec<Input>, CliError> {
    let mut inputs = Vec::new();
    for path in &args.vertices {
        check_regular(path)?;
        inputs.push(vertex_table(path)?);
    }
    for path in &args.files {
        check_regular(path)?;
        let wanted = if args.format == FileFormat::Auto { by_name(path) } else { args.format };
        match (wanted, extension(path).as_deref()) {
            (FileFormat::Graphalytics, Some("v")) | (FileFormat::Vertices, _) => inputs.push(vertices(path)),
            (FileFormat::Graphalytics, Some("properties")) => {
                let graph = Graphalytics::open(path)?;
                inputs.push(vertices(&graph.vertex_file));
                let mut edges = edges(&graph.edge_file, EdgeFormat::edge_list(), args);
                (edges.directed, edges.weighted) = (Some(graph.directed), graph.weighted);
                inputs.push(edges);
            }
            (wanted, _) => inputs.push(edges(path, edge_format(wanted, path), args)),
        }
    }
    let mut stated = inputs.iter().filter_map(|input| input.directed);
    let first = stated.next();
    if !(args.directed || args.undirected) && stated.any(|directed| Some(directed) != first) {
        let why = "FILE: one .properties file says directed and another undirected";
        return Err(CliError::Usage(why.to_owned()));
    }
    Ok(inputs)
}

fn check_regular(path: &Path) -> Result<(), CliError> {
    let metadata = path.metadata().map_err(|why| CliError::Failed(format!("{}: {why}", path.display())))?;
    if !metadata.is_file() {
        let why = "not a regular file; a load reads its files twice";
        return Err(CliError::Failed(format!("{}: {why}", path.display())));
    }
    Ok(())
}

/// A file of vertices with properties, by its header.
fn vertex_table(path: &Path) -> Result<Input, CliError> {
    let mut format =
        if extension(path).as_deref() == Some("tsv") { EdgeFormat::tsv() } else { EdgeFormat::csv() };
    let names = read_header(path, format.delimiter)?;
    let mut properties = Vec::new();
    for name in names.iter().skip(1) {
        let property = property::parse_header(name)
            .map_err(|why| CliError::Failed(format!("{}: header: {why}", path.display())))?;
        properties.push(property);
    }
    (format.src, format.dst) = (Some(Column::Index(0)), Some(Column::Index(0)));
    format.header = Header::Yes;
    format.extra = (1..names.len()).map(Column::Index).collect();
    let content = Content::VertexTable(format, properties);
    Ok(Input { path: path.to_owned(), content, directed: None, weighted: false })
}

/// The extension, that of compression left out.
fn extension(path: &Path) -> Option<String> {
    let extension = |path: &Path| path.extension().map(|found| found.to_string_lossy().to_lowercase());
    match extension(path).as_deref() {
        Some("gz" | "zst") => extension(Path::new(path.file_stem()?)),
        _ => extension(path),
    }
}

fn by_name(path: &Path) -> FileFormat {
    match extension(path).as_deref() {
        Some("v" | "properties") => FileFormat::Graphalytics,
        _ => FileFormat::Auto,
    }
}

fn edge_format(wanted: FileFormat, path: &Path) -> EdgeFormat {
    match wanted {
        FileFormat::Csv => EdgeFormat::csv(),
        FileFormat::Tsv => EdgeFormat::tsv(),
        FileFormat::Snap => EdgeFormat::snap(),
        FileFormat::Temporal => EdgeFormat::temporal(),
        FileFormat::Graphalytics | FileFormat::El => EdgeFormat::edge_list(),
        FileFormat::Wel => EdgeFormat::weighted_edge_list(),
        FileFormat::Gr => EdgeFormat::dimacs(),
        FileFormat::Auto | FileFormat::Vertices => EdgeFormat::of_path(path),
    }
}

fn vertices(path: &Path) -> Input {
    Input { path: path.to_owned(), content: Content::Vertices, directed: None, weighted: false }
}

fn edges(path: &Path, mut format: EdgeFormat, args: &LoadArgs) -> Input {
    let weighted = matches!(format.weight, Some(Column::Index(_)));
    let set = |to: &mut Option<Column>, from: &Option<Column>| {
        if from.is_some() {
            to.clone_from(from);
        }
    };
    set(&mut format.src, &args.src_col);
    set(&mut format.dst, &args.dst_col);
    set(&mut format.weight, &args.weight_col);
    set(&mut format.time, &args.time_col);
    if args.weighted && args.format == FileFormat::Snap && format.weight.is_none() && format.time.is_none() {
        format.weight = Some(Column::Index(2));
    }
    format.extra = args.rank.iter().cloned().chain(args.property.iter().map(|p| p.column.clone())).collect();
    let named = [&args.src_col, &args.dst_col, &args.weight_col, &args.time_col];
    let is_name = |column: &Column| matches!(column, Column::Name(_));
    if named.iter().any(|column| column.as_ref().is_some_and(is_name)) || format.extra.iter().any(is_name) {
        format.header = Header::Yes;
    }
    Input { path: path.to_owned(), content: Content::Edges(format), directed: None, weighted }
}
