//! GraphML: nodes and edges of one file, which is read once for each.

use hedgerow::{KindId, PropertyType, Value, VertexKeyRef};
use hedgerow_core::property::MAX_NAME_BYTES;
use hedgerow_workload::read::{Column, EdgeFormat, ReadError, parse_weight};

use crate::Error;
use crate::graphml_items::{Element, Fault, Head, Key};
use crate::graphml_reader::GraphmlReader;
use crate::input::{Content, EdgeTable, Input, Xml, edges, extension};
use crate::item::{EdgeItem, Item, Rules};
use crate::kinds::Ends;
use crate::options::{FileFormat, LINES, LoadOptions};
use crate::passed::Passed;
use crate::property::{self, ColumnType};
use crate::watch::Meter;

/// Replaces each file of GraphML by two inputs, its nodes and its edges. The nodes of all files come first.
pub(crate) fn recognize(inputs: Vec<Input>, options: &LoadOptions) -> Result<Vec<Input>, Error> {
    let mut made = Vec::with_capacity(inputs.len());
    let mut found = false;
    for mut input in inputs {
        if !is_graphml(&input, options)? {
            made.push(input);
            continue;
        }
        found = true;
        let others = ["--src-col", "--dst-col", "--time-col", "--from-column"];
        if let Some(option) = options.given(&[&others[..], &LINES].concat()) {
            let why = "GraphML has elements with names, and no lines or columns";
            return Err(Error::Options(format!("{option}: {why}")));
        }
        let head = head(&input)?;
        let ends = edges(&input.path, EdgeFormat::snap(), options)?;
        let properties = properties(&input, &head, |key| key.of_nodes)?;
        let columns = properties.iter().map(|(at, ..)| *at).collect();
        let of_nodes = properties.into_iter().map(|(_, name, kind)| (name, kind)).collect();
        let mut nodes = input.again(Content::VertexTable(EdgeFormat::default(), of_nodes))?;
        nodes.xml = Some(Xml { properties: columns, ..Xml::default() });
        input.content = ends.content;
        (input.directed, input.xml) = (Some(head.directed), Some(Xml::default()));
        made.extend([nodes, input]);
    }
    if found {
        made.sort_by_key(|input| !input.has_vertices());
    }
    Ok(made)
}

fn is_graphml(input: &Input, options: &LoadOptions) -> Result<bool, Error> {
    match options.format {
        _ if !input.is_open() => return Ok(false),
        FileFormat::Graphml => return Ok(true),
        FileFormat::Auto => {}
        _ => return Ok(false),
    }
    if extension(&input.path).as_deref() == Some("graphml") {
        return Ok(true);
    }
    let mut lines = input.lines()?;
    match lines.advance() {
        Ok(true) => {
            let first = lines.text().trim_start();
            Ok(first.starts_with("<?xml") || first.starts_with("<graphml"))
        }
        Ok(false) | Err(ReadError::Row { .. }) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn open(input: &Input) -> Result<(GraphmlReader, hedgerow_workload::read::Progress), Error> {
    GraphmlReader::open(input.lines()?).map_err(|fault| of_file(input, fault))
}

fn head(input: &Input) -> Result<Head, Error> {
    open(input).map(|(reader, _)| reader.head)
}

fn of_file(input: &Input, fault: Fault) -> Error {
    let (Fault::Element { line, why, .. } | Fault::File(line, why)) = fault;
    Error::row(&input.path, line, why)
}

type Properties = Vec<(usize, String, ColumnType)>;

/// Returns the properties of the chosen keys, with the places of the keys.
fn properties(input: &Input, head: &Head, is_chosen: impl Fn(&Key) -> bool) -> Result<Properties, Error> {
    let mut all = Properties::new();
    for (at, key) in head.keys.iter().enumerate().filter(|(_, key)| is_chosen(key)) {
        let Some(kind) = key.kind else { continue };
        if key.name.is_empty() || all.iter().any(|(_, name, _)| *name == key.name) {
            return Err(Error::file(&input.path, format!("two keys are property {:?}", key.name)));
        }
        all.push((at, key.name.clone(), ColumnType::of(kind)));
    }
    Ok(all)
}

/// Decides which keys of edges become what. `weighted` is true if weights are read.
pub(crate) fn settle(input: &mut Input, options: &LoadOptions, weighted: bool) -> Result<(), Error> {
    let Content::Edges(table) = &input.content else { return Ok(()) };
    let head = head(input)?;
    let drawn = head.keys.iter().filter(|key| key.kind.is_none()).count();
    if drawn > 0 {
        input.notes.push(format!("{drawn} keys without name and type are left out: data of an editor"));
    }
    let key = |option: &str, column: &Option<Column>| match column {
        None => Ok(None),
        Some(Column::Name(name)) => match head.keys.iter().position(|k| k.of_edges && k.name == *name) {
            Some(at) => Ok(Some(at)),
            None => Err(Error::file(&input.path, format!("{option}: no key of edges is named {name}"))),
        },
        Some(_) => Err(Error::Options(format!("{option}: GraphML has no columns; name a key"))),
    };
    let mut xml = Xml {
        label: key("--label-column", &options.label_column)?,
        rank: key("--rank", &options.rank)?,
        ..Xml::default()
    };
    if weighted {
        let is_number = |kind| matches!(kind, Some(PropertyType::F64 | PropertyType::I64));
        let usual = || head.keys.iter().position(|k| k.of_edges && k.name == "weight" && is_number(k.kind));
        xml.weight = key("--weight-col", &options.weight_col)?.or_else(usual);
        if xml.weight.is_none() && options.weighted {
            let why = "no key of edges is a number named weight; --weight-col says which one has the weights";
            return Err(Error::file(&input.path, why));
        }
    }
    let properties: Properties = if options.property.is_empty() {
        let taken = [xml.label, xml.rank, xml.weight];
        let all = properties(input, &head, |key| key.of_edges)?;
        all.into_iter().filter(|(at, ..)| !taken.contains(&Some(*at))).collect()
    } else {
        let mut stated = Properties::new();
        for property in &options.property {
            let column = Some(property.column.clone());
            let at = key("--property", &column)?.unwrap_or_default();
            stated.push((at, property.name.clone(), property.kind));
        }
        let is_stated = |at: usize| stated.iter().any(|(other, ..)| *other == at);
        let taken = [xml.label, xml.rank, xml.weight];
        let left = head.keys.iter().enumerate().filter(|(at, key)| {
            key.of_edges && key.kind.is_some() && !taken.contains(&Some(*at)) && !is_stated(*at)
        });
        let left: Vec<&str> = left.map(|(_, key)| key.name.as_str()).collect();
        if !left.is_empty() {
            input.notes.push(format!("keys {} of edges are left out", left.join(", ")));
        }
        stated
    };
    if properties.iter().any(|(_, name, _)| name == "weight") && xml.weight.is_some() {
        return Err(Error::file(&input.path, "two keys are property weight; --property names the others"));
    }
    let mut table = table.clone();
    (table.weighted, table.weight_required) = (weighted, false);
    xml.properties = properties.iter().map(|(at, ..)| *at).collect();
    table.properties = properties.into_iter().map(|(_, name, kind)| (name, kind)).collect();
    input.content = Content::Edges(table);
    if weighted && xml.weight.is_none() {
        input.notes.push("no key has weights, so each edge has weight 1".to_owned());
    }
    input.xml = Some(xml);
    Ok(())
}

/// Calls `keep` with each node or each edge that can be loaded, and `reject` with the line and the fault of
/// each other one.
pub(crate) fn for_each(
    input: &Input,
    xml: &Xml,
    rules: &Rules<'_>,
    what: &'static str,
    mut keep: impl FnMut(Item<'_>) -> Result<(), Error>,
    mut reject: impl FnMut(u64, String) -> Result<(), Error>,
) -> Result<Passed, Error> {
    let (mut reader, progress) = open(input)?;
    let mut meter = Meter::new(rules.course, what, input, progress, false)?;
    let (mut passed, mut values) = (Passed::default(), Vec::new());
    while let Some(element) = reader.next() {
        meter.row()?;
        match (element, &input.content) {
            (Err(fault @ Fault::File(..)), _) => return Err(of_file(input, fault)),
            // Each of the two readings reports its own faults.
            (Err(Fault::Element { line, is_node, why }), _) if is_node == input.has_vertices() => {
                reject(line, why)?;
            }
            (Ok(Element::Node { line, id }), Content::VertexTable(_, properties)) => {
                let key = read_values(&reader, xml, properties, &mut values, &mut passed)
                    .and_then(|()| key(rules, input.kind, &id, "id", &mut passed));
                match key {
                    Ok(key) => keep(Item::VertexRow(key, properties, &values))?,
                    Err(why) => reject(line, why)?,
                }
            }
            (Ok(Element::Edge { line, ends }), Content::Edges(table)) => {
                let item = read_values(&reader, xml, &table.properties, &mut values, &mut passed)
                    .and_then(|()| edge(&reader, xml, rules, table, (line, &ends, input.kind), &mut passed));
                match item {
                    Ok(item) => keep(Item::Edge(EdgeItem { values: &values, ..item }, table))?,
                    Err(why) => reject(line, why)?,
                }
            }
            _ => {}
        }
    }
    meter.finish();
    if !input.has_vertices() {
        if !reader.left_out.is_empty() {
            passed.others.push(format!("attributes are left out: {}", reader.left_out.join(", ")));
        }
        if reader.has_graph_data {
            passed.others.push("data of the graph itself are left out".to_owned());
        }
    }
    Ok(passed)
}

fn key<'a>(
    rules: &Rules<'_>,
    kind: KindId,
    text: &'a str,
    attribute: &str,
    passed: &mut Passed,
) -> Result<VertexKeyRef<'a>, String> {
    if text.is_empty() {
        return Err(format!("{attribute} is empty"));
    }
    let key = rules.kinds.parse(kind, text).map_err(|why| format!("{attribute}: {why}"))?;
    passed.key(rules.kinds.keys(kind), text);
    Ok(key)
}

fn read_values(
    reader: &GraphmlReader,
    xml: &Xml,
    properties: &[(String, ColumnType)],
    values: &mut Vec<Value>,
    passed: &mut Passed,
) -> Result<(), String> {
    values.clear();
    for (&at, (name, kind)) in xml.properties.iter().zip(properties) {
        // Only a text may be empty.
        let text =
            reader.get(at).filter(|text| kind.property == PropertyType::Utf8 || !text.trim().is_empty());
        let Some(text) = text else {
            values.push(Value::Null);
            continue;
        };
        let read = property::read(name, *kind, text)?;
        passed.cut_times += u64::from(read.is_cut);
        values.push(read.value);
    }
    Ok(())
}

fn edge<'a>(
    reader: &'a GraphmlReader,
    xml: &Xml,
    rules: &Rules<'_>,
    table: &'a EdgeTable,
    (line, ends, node_kind): (u64, &'a [String; 2], KindId),
    passed: &mut Passed,
) -> Result<EdgeItem<'a>, String> {
    let label = match (&table.label, xml.label.and_then(|at| reader.get(at)).map(str::trim)) {
        (Some(label), _) => label,
        (None, None | Some("")) => return Err("no label".to_owned()),
        (None, Some(label)) if label.len() > MAX_NAME_BYTES => {
            return Err(format!("label of {} bytes is longer than {MAX_NAME_BYTES}", label.len()));
        }
        (None, Some(label)) => label,
    };
    let kinds = match table.ends {
        Ends::OfLabel | Ends::Columns => rules.kinds.ends_of(label),
        Ends::Stated(ends) | Ends::Fixed(ends) => ends,
    };
    let rank = match xml.rank {
        None => None,
        Some(at) => {
            let text = reader.get(at).unwrap_or_default().trim();
            Some(text.parse().map_err(|_| format!("rank {text:?} is not a number from 0 to {}", u64::MAX))?)
        }
    };
    let weight = match xml.weight {
        None => 1.0,
        Some(at) => match reader.get(at) {
            Some(text) => parse_weight(text.trim()).map_err(|why| why.to_string())?,
            None => return Err("no weight".to_owned()),
        },
    };
    if rules.finite && !weight.is_finite() {
        return Err(format!("weight {weight} cannot be added: weights must be finite"));
    }
    // Nodes and the ends of edges have their ids in common, so they are the same vertices.
    if kinds != [node_kind; 2] {
        return Err(format!(
            "edges of label {label:?} join vertices of other kinds than the nodes of the file: \
             --kind states the kind of the nodes, --from and --to those of the ends"
        ));
    }
    let src = key(rules, kinds[0], &ends[0], "source", passed)?;
    let dst = key(rules, kinds[1], &ends[1], "target", passed)?;
    Ok(EdgeItem { line, src, dst, weight, label, rank, values: &[] })
}
