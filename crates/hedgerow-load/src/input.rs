//! The files to load, and their formats.

use std::fs::File;
use std::io::{self, Seek};
use std::path::{Path, PathBuf};

use hedgerow::KindId;
use hedgerow_workload::read::{
    Column, Comment, Delimiter, EdgeFormat, Graphalytics, Header, Lines, MatrixMarket, MatrixSizes,
    ReadError, Sniffed, Symmetry,
};

use crate::Error;
use crate::columns::TableColumns;
use crate::kinds::Ends;
use crate::options::{FileFormat, LoadOptions};
use crate::property::ColumnType;

/// One file to read.
#[derive(Debug)]
pub(crate) struct Input {
    /// The path of the file; for standard input, its name in messages.
    pub(crate) path: PathBuf,
    /// The content of standard input; `None` for a file.
    spooled: Option<File>,
    pub(crate) content: Content,
    /// The kind of the vertices in the file.
    pub(crate) kind: KindId,
    /// The direction of edges that a properties file states.
    pub(crate) directed: Option<bool>,
    /// True if the format, or a properties file, states that edges have weights.
    pub(crate) weighted: bool,
    /// The detected parts of the format, which the arguments do not state.
    pub(crate) sniffed: Option<Sniffed>,
    /// The labels that the rows name, in the order of their first rows; known after the check.
    pub(crate) labels: Vec<String>,
    /// The columns of a file of Parquet or Arrow.
    pub(crate) table: Option<TableColumns>,
    /// The first lines of a Matrix Market file.
    pub(crate) matrix: Option<(MatrixMarket, MatrixSizes)>,
    /// The keys of a file of GraphML.
    pub(crate) xml: Option<Xml>,
    /// True if sources and destinations are vertices of two sets, in which the same number is two vertices.
    pub(crate) bipartite: bool,
    /// The characters of comments, for a file that is no table.
    pub(crate) comment: Comment,
    /// The summary's notes on the file.
    pub(crate) notes: Vec<String>,
}

/// The keys of GraphML that a load reads, by their places in the file.
#[derive(Clone, Debug, Default)]
pub(crate) struct Xml {
    pub(crate) label: Option<usize>,
    pub(crate) rank: Option<usize>,
    pub(crate) weight: Option<usize>,
    pub(crate) properties: Vec<usize>,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// A vertex on each line.
    Vertices,
    /// An edge in each record.
    Edges(EdgeTable),
    /// A vertex with properties in each record: the key in the first field, a property in each of the others.
    VertexTable(EdgeFormat, Vec<(String, ColumnType)>),
}

/// A table of edges.
#[derive(Clone, Debug)]
pub(crate) struct EdgeTable {
    /// The layout of records. Further columns are the kinds of both ends, the label, the rank, and then the
    /// properties.
    pub(crate) format: EdgeFormat,
    pub(crate) ends: Ends,
    /// The label of all edges; `None` if a column names each edge's label.
    pub(crate) label: Option<String>,
    /// True if new labels are multi; `None` if existing labels decide it.
    pub(crate) multi: Option<bool>,
    /// True if a column contains the rank.
    pub(crate) rank: bool,
    /// True if weights are read; else they are ignored.
    pub(crate) weighted: bool,
    /// True if rows without a weight are malformed.
    pub(crate) weight_required: bool,
    pub(crate) properties: Vec<(String, ColumnType)>,
}

impl EdgeTable {
    /// True if edges have a label, ranks or properties.
    pub(crate) fn is_rich(&self) -> bool {
        self.is_labelled() || self.rank || !self.properties.is_empty()
    }

    /// True if edges have a label other than the default one.
    pub(crate) fn is_labelled(&self) -> bool {
        self.label.as_ref().is_none_or(|label| !label.is_empty())
    }

    /// True if the load assigns ranks to edges by counting.
    pub(crate) fn is_counted(&self) -> bool {
        self.multi == Some(true) && !self.rank
    }
}

impl Input {
    pub(crate) fn new(path: &Path, content: Content) -> Input {
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
            bipartite: false,
            xml: None,
            comment: Comment::Usual,
            notes: Vec::new(),
        }
    }

    /// Returns another input of the same file.
    pub(crate) fn again(&self, content: Content) -> Result<Input, Error> {
        let spooled =
            self.spooled.as_ref().map(File::try_clone).transpose().map_err(Error::io(&self.path))?;
        Ok(Input { spooled, ..Input::new(&self.path, content) })
    }

    /// Opens the file of the input.
    pub(crate) fn file(&self) -> Result<File, Error> {
        let opened = match &self.spooled {
            Some(file) => file.try_clone(),
            None => File::open(&self.path),
        };
        opened.map_err(Error::io(&self.path))
    }

    /// Returns the size of the file in bytes.
    pub(crate) fn size(&self) -> Result<u64, Error> {
        let metadata = self.file()?.metadata().map_err(Error::io(&self.path))?;
        Ok(metadata.len())
    }

    /// Returns the lines of the file from its start.
    pub(crate) fn lines(&self) -> Result<Lines, ReadError> {
        match &self.spooled {
            Some(file) => Lines::of_file(&self.path, file),
            None => Lines::open(&self.path),
        }
    }

    /// Returns true if the file states that edges have a direction. A symmetric matrix states it only for a
    /// new store: in an existing directed store it becomes edges in both directions.
    pub(crate) fn direction(&self, is_new: bool) -> Option<bool> {
        let suits = self.matrix.filter(|_| is_new).map(|(banner, _)| banner.symmetry != Symmetry::Symmetric);
        self.directed.or(suits)
    }

    /// True if nothing has determined yet what the file is, besides its name and the options.
    pub(crate) fn is_open(&self) -> bool {
        !self.has_vertices()
            && self.directed.is_none()
            && self.table.is_none()
            && self.matrix.is_none()
            && self.xml.is_none()
    }

    /// True if a column of the file names labels.
    pub(crate) fn names_labels(&self) -> bool {
        matches!(&self.content, Content::Edges(table) if table.label.is_none())
    }

    /// True if the file is a list of vertices.
    pub(crate) fn has_vertices(&self) -> bool {
        !matches!(self.content, Content::Edges(_))
    }
}

/// Returns all files that the arguments name, and the files that their properties files name.
pub(crate) fn inputs(options: &LoadOptions) -> Result<Vec<Input>, Error> {
    let mut inputs = Vec::new();
    let comment = options.comment.unwrap_or_default();
    if options.files.iter().chain(&options.vertices).filter(|path| is_standard_input(path)).count() > 1 {
        return Err(Error::Options("-: standard input can be read once".to_owned()));
    }
    for path in &options.vertices {
        inputs.push(open(vertex_table(path, options))?);
    }
    for path in &options.files {
        let wanted = if options.format == FileFormat::Auto { by_name(path) } else { options.format };
        match (wanted, extension(path).as_deref()) {
            (FileFormat::Graphalytics, Some("v")) | (FileFormat::Vertices, _) => {
                inputs.push(open(Input { comment, ..Input::new(path, Content::Vertices) })?);
            }
            (FileFormat::Graphalytics, Some("properties")) => {
                check_regular(path)?;
                let graph = Graphalytics::open(path)?;
                inputs.push(Input { comment, ..Input::new(&graph.vertex_file, Content::Vertices) });
                let mut edges = edges(&graph.edge_file, EdgeFormat::edge_list(), options)?;
                (edges.directed, edges.weighted) = (Some(graph.directed), graph.weighted);
                inputs.push(edges);
            }
            (wanted, _) => inputs.push(open(edges(path, edge_format(wanted, path), options)?)?),
        }
    }
    Ok(inputs)
}

/// Refuses files that contradict each other about the direction of edges.
pub(crate) fn check_directions(inputs: &[Input], is_new: bool, is_stated: bool) -> Result<(), Error> {
    let mut stated = inputs.iter().filter_map(|input| input.direction(is_new));
    let first = stated.next();
    if !is_stated && stated.any(|directed| Some(directed) != first) {
        let why = "FILE: one file says that edges have a direction, and another that they have none; say --directed or \
                   --undirected";
        return Err(Error::Options(why.to_owned()));
    }
    Ok(())
}

fn is_standard_input(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// Copies standard input, which can be read only once, to a file without a name. The system removes it with
/// its last handle. Checks that any other file can be read again.
fn open(mut input: Input) -> Result<Input, Error> {
    if !is_standard_input(&input.path) {
        check_regular(&input.path)?;
        return Ok(input);
    }
    let name = Path::new("standard input");
    let failed = |why: io::Error| Error::file(name, format!("copying it to a file: {why}"));
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut io::stdin().lock(), &mut file).map_err(failed)?;
    file.rewind().map_err(failed)?;
    (input.path, input.spooled) = (name.to_owned(), Some(file));
    Ok(input)
}

fn check_regular(path: &Path) -> Result<(), Error> {
    let metadata = path.metadata().map_err(Error::io(path))?;
    if !metadata.is_file() {
        let why = "not a regular file: a load reads its files more than once; give standard input as -";
        return Err(Error::file(path, why));
    }
    Ok(())
}

/// Returns the input for a file of vertices with properties, whose header names the columns.
fn vertex_table(path: &Path, options: &LoadOptions) -> Input {
    let delimiter = match extension(path).as_deref() {
        Some("tsv") => Delimiter::Byte(b'\t'),
        _ => Delimiter::Auto,
    };
    let format = EdgeFormat {
        delimiter: options.delimiter.unwrap_or(delimiter),
        header: Header::Yes,
        src: Some(Column::Index(0)),
        dst: Some(Column::Index(0)),
        weight: Some(Column::Absent),
        time: Some(Column::Absent),
        nulls: options.null.clone(),
        skip_lines: options.skip,
        comment: options.comment.unwrap_or_default(),
        ..EdgeFormat::default()
    };
    Input::new(path, Content::VertexTable(format, Vec::new()))
}

/// Returns the extension of the file, without the extension of a compression.
pub(crate) fn extension(path: &Path) -> Option<String> {
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
        FileFormat::Konect | FileFormat::AsRel | FileFormat::Ldbc | FileFormat::Graphml => EdgeFormat::snap(),
        // Programs and countries use different separators in `.csv` files. A Matrix Market file is recognized
        // by its first line.
        FileFormat::Auto if matches!(extension(path).as_deref(), Some("csv" | "mtx")) => {
            EdgeFormat::default()
        }
        FileFormat::Auto | FileFormat::Vertices => EdgeFormat::of_path(path),
    }
}

/// Returns the input for a file of edges, in `format` unless the arguments state another format.
pub(crate) fn edges(path: &Path, mut format: EdgeFormat, options: &LoadOptions) -> Result<Input, Error> {
    let weighted = matches!(format.weight, Some(Column::Index(_)));
    let set = |to: &mut Option<Column>, from: &Option<Column>| {
        if from.is_some() {
            to.clone_from(from);
        }
    };
    set(&mut format.src, &options.src_col);
    set(&mut format.dst, &options.dst_col);
    set(&mut format.weight, &options.weight_col);
    set(&mut format.time, &options.time_col);
    // Times are not stored, so a column that is named like a time is ignored.
    format.time = format.time.or(Some(Column::Absent));
    if options.weighted
        && options.format == FileFormat::Snap
        && format.weight.is_none()
        && options.time_col.is_none()
    {
        format.weight = Some(Column::Index(2));
    }
    let columns = [&options.from_column, &options.to_column, &options.label_column, &options.rank]
        .into_iter()
        .flatten()
        .cloned();
    format.extra = columns.chain(options.property.iter().map(|p| p.column.clone())).collect();
    format.delimiter = options.delimiter.unwrap_or(format.delimiter);
    (format.nulls, format.skip_lines) = (options.null.clone(), options.skip);
    format.comment = options.comment.unwrap_or_default();
    let named =
        [&options.src_col, &options.dst_col, &options.weight_col, &options.time_col].into_iter().flatten();
    let is_named = named.chain(&format.extra).any(|column| matches!(column, Column::Name(_)));
    if is_named && options.header == Some(false) {
        return Err(Error::Options("--no-header: give columns by position, not by name".to_owned()));
    }
    if options.header == Some(true) || is_named {
        format.header = Header::Yes;
    } else if options.header == Some(false) {
        format.header = Header::No;
    }
    let label = options.label_column.is_none().then(|| options.label.clone().unwrap_or_default());
    let table = EdgeTable {
        format,
        ends: if options.from_column.is_some() { Ends::Columns } else { Ends::OfLabel },
        label,
        multi: (options.multi || options.rank.is_some()).then_some(true),
        rank: options.rank.is_some(),
        weighted: false,
        weight_required: false,
        properties: options.property.iter().map(|p| (p.name.clone(), p.kind)).collect(),
    };
    Ok(Input { weighted, ..Input::new(path, Content::Edges(table)) })
}
