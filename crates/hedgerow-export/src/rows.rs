//! Rows of edges and of vertices, with their properties.

use hedgerow::{KindId, Label, Property, Schema, Snapshot, ValueRef};

use crate::Error;
use crate::layout::KIND_COLUMNS;
use crate::names::Names;
use crate::target::Target;
use crate::text::{header, quoted, to_text};

/// The number of rows between two calls of `next`.
const BETWEEN_CALLS: u64 = 1 << 13;

/// Writes `src,dst[,src_kind,dst_kind][,rank][,weight][,NAME:TYPE...]` for the edges of one label, edge by
/// edge. It writes kinds if the store has several and the label does not state them. Calls `next` from time
/// to time with the number of rows since the last call. Returns the number of edges.
///
/// # Errors
/// Those of a read of the snapshot, and of a write.
pub fn write_edge_rows(
    snapshot: &Snapshot,
    label: &Label,
    properties: &[Property],
    weighted: bool,
    delimiter: u8,
    out: &mut Target,
    next: &dyn Fn(u64) -> Result<(), Error>,
) -> Result<u64, Error> {
    let schema = snapshot.schema();
    let ends = Ends::new(&schema, label);
    let mut columns = vec!["src".to_owned(), "dst".to_owned()];
    if ends.are_shown {
        columns.extend(KIND_COLUMNS.map(str::to_owned));
    }
    columns.extend(label.is_multi().then(|| "rank".to_owned()));
    columns.extend(weighted.then(|| "weight".to_owned()));
    columns.extend(properties.iter().map(|p| quoted(&header(p), delimiter).into_owned()));
    let comma = char::from(delimiter).to_string();
    out.write(|w| writeln!(w, "{}", columns.join(&comma)))?;
    let names = Names::of(snapshot, delimiter)?;
    let mut rows = 0;
    snapshot.scan_edges(label.id())?.try_for_each(|edge| {
        let named = |id| (names.kind(id), names.get(id));
        let (src, dst) = (named(edge.src()), named(edge.dst()));
        let (src, dst) = if ends.are_turned(src.0, dst.0) { (dst, src) } else { (src, dst) };
        let mut line = format!("{}{comma}{}", src.1, dst.1);
        if ends.are_shown {
            for (kind, _) in [src, dst] {
                let name = schema.kind_name(kind);
                line += &comma;
                line += &if name.is_empty() { "".into() } else { quoted(name, delimiter) };
            }
        }
        if label.is_multi() {
            line += &format!("{comma}{}", edge.rank());
        }
        if weighted {
            line += &format!("{comma}{}", edge.weight());
        }
        for property in properties {
            line += &comma;
            line += &field(edge.get(property.id()), delimiter);
        }
        if rows % BETWEEN_CALLS == 0 {
            next(rows.min(BETWEEN_CALLS))?;
        }
        rows += 1;
        out.write(|w| writeln!(w, "{line}"))
    })?;
    next(since_call(rows))?;
    Ok(rows)
}

/// The kinds of the ends of edges, and whether rows of edges contain them.
pub struct Ends {
    stated: Option<[KindId; 2]>,
    /// True if rows contain the kinds: the store has several, and the label does not state them.
    pub are_shown: bool,
}

impl Ends {
    /// Returns the rule for the edges of `label`.
    pub fn new(schema: &Schema, label: &Label) -> Ends {
        let stated = label.ends();
        Ends { stated, are_shown: stated.is_none() && !schema.kinds().is_empty() }
    }

    /// True if the ends of an undirected edge are in the reverse of the order in which the label states their
    /// kinds.
    pub fn are_turned(&self, src: KindId, dst: KindId) -> bool {
        self.stated.is_some_and(|ends| ends != [src, dst] && ends == [dst, src])
    }
}

/// The file of the vertices of one kind.
pub struct VertexFile<'a> {
    kind: KindId,
    properties: Vec<&'a Property>,
    out: Target,
    rows: u64,
}

impl<'a> VertexFile<'a> {
    /// Begins the file `out` with `id[,NAME:TYPE...]`.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn begin(
        kind: KindId,
        properties: Vec<&'a Property>,
        delimiter: u8,
        mut out: Target,
    ) -> Result<VertexFile<'a>, Error> {
        let comma = char::from(delimiter).to_string();
        let headers = properties.iter().map(|p| comma.clone() + &quoted(&header(p), delimiter));
        out.write(|w| writeln!(w, "id{}", headers.collect::<String>()))?;
        Ok(VertexFile { kind, properties, out, rows: 0 })
    }

    /// Ends the file; returns the number of its vertices.
    ///
    /// # Errors
    /// [`Error::Write`].
    pub fn finish(self) -> Result<u64, Error> {
        self.out.finish().map(|()| self.rows)
    }
}

/// Writes each vertex into the file of its kind, if the kind has a file; `files` ascend by kind. Calls
/// `next` like [`write_edge_rows`]. O(vertices).
///
/// # Errors
/// Those of a read of the snapshot, and of a write.
pub fn write_vertex_rows(
    snapshot: &Snapshot,
    files: &mut [VertexFile<'_>],
    delimiter: u8,
    next: &dyn Fn(u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let comma = char::from(delimiter).to_string();
    let names = Names::of(snapshot, delimiter)?;
    let mut rows = 0;
    snapshot.scan_vertices()?.try_for_each(|vertex| {
        let Ok(at) = files.binary_search_by_key(&vertex.kind(), |file| file.kind) else { return Ok(()) };
        let Some(file) = files.get_mut(at) else { return Ok(()) };
        let mut line = names.get(vertex.id()).to_owned();
        for property in &file.properties {
            line += &comma;
            line += &field(vertex.get(property.id()), delimiter);
        }
        if rows % BETWEEN_CALLS == 0 {
            next(rows.min(BETWEEN_CALLS))?;
        }
        rows += 1;
        file.rows += 1;
        file.out.write(|w| writeln!(w, "{line}"))
    })?;
    next(since_call(rows))
}

/// Returns the number of rows after the last one before which `next` was called, of the first `rows`.
fn since_call(rows: u64) -> u64 {
    if rows == 0 { 0 } else { (rows - 1) % BETWEEN_CALLS + 1 }
}

/// Returns a value as a field: nothing for null, and `""` for an empty text.
fn field(value: ValueRef<'_>, delimiter: u8) -> String {
    to_text(value).map_or_else(String::new, |text| quoted(&text, delimiter).into_owned())
}
