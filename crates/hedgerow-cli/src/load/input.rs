//! The files to load, and their formats.

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use hedgerow::KindId;
use hedgerow_export::text::is_vacant;
use hedgerow_workload::read::{
    Column, Comment, Delimiter, EdgeFormat, Graphalytics, Header, Lines, MatrixMarket, MatrixSizes,
    ReadError, Sniffed, Symmetry,
};

use super::args::{FileFormat, LoadArgs};
use super::columns::TableColumns;
use super::kinds::Ends;
use crate::error::CliError;
use crate::property::ColumnType;

/// One file to read.
#[derive(Debug)]
pub(super) struct Input {
    /// The path of the file; for standard input, its name in messages.
    pub(super) path: PathBuf,
    /// The content of standard input; `None` for a file.
    spooled: Option<File>,
    pub(super) content: Content,
    /// The kind of the vertices in the file.
    pub(super) kind: KindId,
    /// The direction of edges that a properties file states.
    pub(super) directed: Option<bool>,
    /// True if the format, or a properties file, states that edges have weights.
    pub(super) weighted: bool,
    /// The detected parts of the format, which the arguments do not state.
    pub(super) sniffed: Option<Sniffed>,
    /// The labels that the rows name, in the order of their first rows; known after the check.
    pub(super) labels: Vec<String>,
    /// The columns of a file of Parquet or Arrow.
    pub(super) table: Option<TableColumns>,
    /// The first lines of a Matrix Market file.
    pub(super) matrix: Option<(MatrixMarket, MatrixSizes)>,
    /// The characters of comments, for a file that is no table.
    pub(super) comment: Comment,
    /// The summary's notes on the file.
    pub(super) notes: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Content {
    /// A vertex on each line.
    Vertices,
    /// An edge in each record.
    Edges(EdgeTable),
    /// A vertex with properties in each record: the key in the first field, a property in each of the others.
    VertexTable(EdgeFormat, Vec<(String, ColumnType)>),
}

/// A table of edges.
#[derive(Clone, Debug)]
pub(super) struct EdgeTable {
    /// The layout of records. Further columns are the kinds of both ends, the label, the rank, and then the
    /// properties.
    pub(super) format: EdgeFormat,
    pub(super) ends: Ends,
    /// The label of all edges; `None` if a column names each edge's label.
    pub(super) label: Option<String>,
    /// True if new labels are multi; `None` if existing labels decide it.
    pub(super) multi: Option<bool>,
    /// True if a column contains the rank.
    pub(super) rank: bool,
    /// True if weights are read; else they are ignored.
    pub(super) weighted: bool,
    /// True if rows without a weight are malformed.
    pub(super) weight_required: bool,
    pub(super) properties: Vec<(String, ColumnType)>,
}

impl EdgeTable {
    /// True if edges have a label, ranks or properties.
    pub(super) fn is_rich(&self) -> bool {
        self.is_labelled() || self.rank || !self.properties.is_empty()
    }

    /// True if edges have a label other than the default one.
    pub(super) fn is_labelled(&self) -> bool {
        self.label.as_ref().is_none_or(|label| !label.is_empty())
    }

    /// True if the load assigns ranks to edges by counting.
    pub(super) fn is_counted(&self) -> bool {
        self.multi == Some(true) && !self.rank
    }
}

impl Input {
    pub(super) fn new(path: &Path, content: Content) -> Input {
        Input {
            path: path.to_owned(),
            spooled: None,
            content,
            kind: KindId::DEFAULT,
            directed: None,
            weighted: false,
            sniffed: None,
            labels: Vec::new(),
            table: None,
            matrix: None,
            comment: Comment::Usual,
            notes: Vec::new(),
        }
    }

    /// Opens the file of the input.
    pub(super) fn file(&self) -> Result<File, CliError> {
        let opened = match &self.spooled {
            Some(file) => file.try_clone(),
            None => File::open(&self.path),
        };
        opened.map_err(|why| CliError::Failed(format!("{}: {why}", self.path.display())))
    }

    /// Returns the lines of the file from its start.
    pub(super) fn lines(&self) -> Result<Lines, ReadError> {
        match &self.spooled {
            Some(file) => Lines::of_file(&self.path, file),
            None => Lines::open(&self.path),
        }
    }

    /// Returns true if the file states that edges have a direction. A symmetric matrix states it only for a
    /// new store: in an existing directed store it becomes edges in both directions.
    pub(super) fn direction(&self, is_new: bool) -> Option<bool> {
        let suits = self.matrix.filter(|_| is_new).map(|(banner, _)| banner.symmetry != Symmetry::Symmetric);
        self.directed.or(suits)
    }

    /// True if a column of the file names labels.
    pub(super) fn names_labels(&self) -> bool {
        matches!(&self.content, Content::Edges(table) if table.label.is_none())
    }

    /// True if the file is a list of vertices.
    pub(super) fn has_vertices(&self) -> bool {
        !matches!(self.content, Content::Edges(_))
    }
}

/// Returns all files that the arguments name, and the files that their properties files name.
pub(super) fn inputs(args: &LoadArgs) -> Result<Vec<Input>, CliError> {
    let mut inputs = Vec::new();
    let comment = args.comment.unwrap_or_default();
    if args.files.iter().chain(&args.vertices).filter(|path| is_standard_input(path)).count() > 1 {
        return Err(CliError::Usage("-: standard input can be read once".to_owned()));
    }
    for path in &args.vertices {
        inputs.push(open(vertex_table(path, args))?);
    }
    for path in &args.files {
        let wanted = if args.format == FileFormat::Auto { by_name(path) } else { args.format };
        match (wanted, extension(path).as_deref()) {
            (FileFormat::Graphalytics, Some("v")) | (FileFormat::Vertices, _) => {
                inputs.push(open(Input { comment, ..Input::new(path, Content::Vertices) })?);
            }
            (FileFormat::Graphalytics, Some("properties")) => {
                check_regular(path)?;
                let graph = Graphalytics::open(path)?;
                inputs.push(Input { comment, ..Input::new(&graph.vertex_file, Content::Vertices) });
                let mut edges = edges(&graph.edge_file, EdgeFormat::edge_list(), args)?;
                (edges.directed, edges.weighted) = (Some(graph.directed), graph.weighted);
                inputs.push(edges);
            }
            (wanted, _) => inputs.push(open(edges(path, edge_format(wanted, path), args)?)?),
        }
    }
    Ok(inputs)
}

/// Refuses files that contradict each other about the direction of edges.
pub(super) fn check_directions(inputs: &[Input], args: &LoadArgs) -> Result<(), CliError> {
    let is_new = is_vacant(&args.store);
    let mut stated = inputs.iter().filter_map(|input| input.direction(is_new));
    let first = stated.next();
    if !(args.directed || args.undirected) && stated.any(|directed| Some(directed) != first) {
        let why = "FILE: one file says that edges have a direction, and another that they have none; say --directed or \
                   --undirected";
        return Err(CliError::Usage(why.to_owned()));
    }
    Ok(())
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Copies standard input, which can be read only once, to a file without a name. The system removes it with
/// its last handle. Checks that any other file can be read again.
fn open(mut input: Input) -> Result<Input, CliError> {
    if !is_standard_input(&input.path) {
        check_regular(&input.path)?;
        return Ok(input);
    }
    let failed = |why: io::Error| CliError::Failed(format!("standard input: copying it to a file: {why}"));
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    (input.path, input.spooled) = (PathBuf::from("standard input"), Some(file));
    Ok(input)
}

fn check_regular(path: &Path) -> Result<(), CliError> {
    let metadata = path.metadata().map_err(|why| CliError::Failed(format!("{}: {why}", path.display())))?;
    if !metadata.is_file() {
        let why = "not a regular file: a load reads its files more than once; give standard input as -";
        return Err(CliError::Failed(format!("{}: {why}", path.display())));
    }
    Ok(())
}

/// Returns the input for a file of vertices with properties, whose header names the columns.
fn vertex_table(path: &Path, args: &LoadArgs) -> Input {
    let delimiter = match extension(path).as_deref() {
        Some("tsv") => Delimiter::Byte(b'\t'),
        _ => Delimiter::Auto,
    };
    let format = EdgeFormat {
        delimiter: args.delimiter.unwrap_or(delimiter),
        header: Header::Yes,
        src: Some(Column::Index(0)),
        dst: Some(Column::Index(0)),
        weight: Some(Column::Absent),
        time: Some(Column::Absent),
        nulls: args.null.clone(),
        skip_lines: args.skip,
        comment: args.comment.unwrap_or_default(),
        ..EdgeFormat::default()
    };
    Input::new(path, Content::VertexTable(format, Vec::new()))
}

/// Returns the extension of the file, without the extension of a compression.
pub(super) fn extension(path: &Path) -> Option<String> {
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
        FileFormat::Mtx => EdgeFormat::matrix_market(),
        // Programs and countries use different separators in `.csv` files. A Matrix Market file is recognized
        // by its first line.
        FileFormat::Auto if matches!(extension(path).as_deref(), Some("csv" | "mtx")) => {
            EdgeFormat::default()
        }
        FileFormat::Auto | FileFormat::Vertices => EdgeFormat::of_path(path),
    }
}

/// Returns the input for a file of edges, in `format` unless the arguments state another format.
pub(super) fn edges(path: &Path, mut format: EdgeFormat, args: &LoadArgs) -> Result<Input, CliError> {
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
    // Times are not stored, so a column that is named like a time is ignored.
    format.time = format.time.or(Some(Column::Absent));
    if args.weighted && args.format == FileFormat::Snap && format.weight.is_none() && args.time_col.is_none()
    {
        format.weight = Some(Column::Index(2));
    }
    let columns =
        [&args.from_column, &args.to_column, &args.label_column, &args.rank].into_iter().flatten().cloned();
    format.extra = columns.chain(args.property.iter().map(|p| p.column.clone())).collect();
    format.delimiter = args.delimiter.unwrap_or(format.delimiter);
    (format.nulls, format.skip_lines) = (args.null.clone(), args.skip);
    format.comment = args.comment.unwrap_or_default();
    let named = [&args.src_col, &args.dst_col, &args.weight_col, &args.time_col].into_iter().flatten();
    let is_named = named.chain(&format.extra).any(|column| matches!(column, Column::Name(_)));
    if is_named && args.no_header {
        return Err(CliError::Usage("--no-header: give columns by position, not by name".to_owned()));
    }
    if args.header || is_named {
        format.header = Header::Yes;
    } else if args.no_header {
        format.header = Header::No;
    }
    let label = args.label_column.is_none().then(|| args.label.clone().unwrap_or_default());
    let table = EdgeTable {
        format,
        ends: if args.from_column.is_some() { Ends::Columns } else { Ends::OfLabel },
        label,
        multi: (args.multi || args.rank.is_some()).then_some(true),
        rank: args.rank.is_some(),
        weighted: false,
        weight_required: false,
        properties: args.property.iter().map(|p| (p.name.clone(), p.kind)).collect(),
    };
    Ok(Input { weighted, ..Input::new(path, Content::Edges(table)) })
}
