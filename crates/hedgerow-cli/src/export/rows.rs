//! Rows of edges and of vertices, with their properties.

use hedgerow::{Label, Property, Snapshot, ValueRef};

use super::names::{name, names};
use crate::error::CliError;
use crate::output::quoted;
use crate::property;
use crate::target::Target;

/// `src,dst[,rank][,weight][,NAME:TYPE...]` of the edges of one label, edge by edge. Returns how many there are.
pub(super) fn write_edge_rows(
    snapshot: &Snapshot,
    label: &Label,
    properties: &[Property],
    weighted: bool,
    delimiter: u8,
    out: &mut Target,
) -> Result<u64, CliError> {
    let mut columns = vec!["src".to_owned(), "dst".to_owned()];
    columns.extend(label.is_multi().then(|| "rank".to_owned()));
    columns.extend(weighted.then(|| "weight".to_owned()));
    columns.extend(properties.iter().map(|p| quoted(&property::header(p), delimiter).into_owned()));
    let comma = char::from(delimiter).to_string();
    out.write(|w| writeln!(w, "{}", columns.join(&comma)))?;
    let names = names(snapshot, delimiter)?;
    let mut rows = 0;
    snapshot.try_for_each_edge_row(label, |edge| {
        let mut line = format!("{}{comma}{}", name(&names, edge.src()), name(&names, edge.dst()));
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
        rows += 1;
        out.write(|w| writeln!(w, "{line}"))
    })?;
    Ok(rows)
}

/// `id[,NAME:TYPE...]` of all vertices. Returns how many there are.
pub(super) fn write_vertex_rows(
    snapshot: &Snapshot,
    properties: &[Property],
    delimiter: u8,
    out: &mut Target,
) -> Result<u64, CliError> {
    let comma = char::from(delimiter).to_string();
    let headers = properties.iter().map(|p| comma.clone() + &quoted(&property::header(p), delimiter));
    out.write(|w| writeln!(w, "id{}", headers.collect::<String>()))?;
    let names = names(snapshot, delimiter)?;
    let mut rows = 0;
    snapshot.for_each_vertex_row(|vertex| {
        let mut line = name(&names, vertex.id()).to_owned();
        for property in properties {
            line += &comma;
            line += &field(vertex.get(property.id()), delimiter);
        }
        rows += 1;
        out.write(|w| writeln!(w, "{line}"))
    })?;
    Ok(rows)
}

/// A value as a field: nothing for null, and `""` for an empty text.
fn field(value: ValueRef<'_>, delimiter: u8) -> String {
    property::to_text(value).map_or_else(String::new, |text| quoted(&text, delimiter).into_owned())
}
