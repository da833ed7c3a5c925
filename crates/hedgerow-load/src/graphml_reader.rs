//! A reader of GraphML, one node or edge at a time. XML is read by the library `quick-xml`, which expands no
//! entities; the memory of an element is bounded.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use hedgerow::PropertyType;
use hedgerow_workload::read::{Lines, Progress};
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use crate::graphml_items::{Attributes, Element, Fault, Head, Key, of};
use crate::xml_source::Source;

/// The maximal number of keys.
const MAX_KEYS: usize = 4_096;

/// A reader of the nodes and edges of a file.
pub(crate) struct GraphmlReader {
    xml: Reader<Source>,
    buffer: Vec<u8>,
    lines: Arc<AtomicU64>,
    bytes: Arc<AtomicU64>,
    pub(crate) head: Head,
    /// The data of the last element, for each key.
    data: Vec<Option<String>>,
    /// Names of attributes that were left out, and whether the graph has data of its own.
    pub(crate) left_out: Vec<String>,
    pub(crate) has_graph_data: bool,
    ended: bool,
}

impl GraphmlReader {
    /// Reads a file up to its `<graph>`.
    pub(crate) fn open(lines: Lines) -> Result<(GraphmlReader, Progress), Fault> {
        let (inner, progress) = lines.into_reader();
        let (lines, bytes) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
        let source = Source::new(inner, lines.clone(), bytes.clone());
        let mut reader = GraphmlReader {
            xml: Reader::from_reader(source),
            buffer: Vec::new(),
            lines,
            bytes,
            head: Head::default(),
            data: Vec::new(),
            left_out: Vec::new(),
            has_graph_data: false,
            ended: false,
        };
        reader.read_head()?;
        reader.data = vec![None; reader.head.keys.len()];
        Ok((reader, progress))
    }

    /// Returns the line, from 1.
    fn line(&self) -> u64 {
        self.lines.load(Relaxed) + 1
    }

    fn fault(&self, why: impl Into<String>) -> Fault {
        Fault::File(self.line(), why.into())
    }

    fn event(&mut self) -> Result<Event<'static>, Fault> {
        self.buffer.clear();
        match self.xml.read_event_into(&mut self.buffer) {
            Ok(event) => Ok(event.into_owned()),
            Err(error) => Err(Fault::File(self.lines.load(Relaxed) + 1, format!("no XML: {error}"))),
        }
    }

    fn attributes(&self, start: &BytesStart<'_>) -> Result<Attributes, Fault> {
        let mut all = Attributes::new();
        for attribute in start.attributes() {
            let attribute = attribute.map_err(|why| self.fault(format!("no XML: {why}")))?;
            let value = attribute.normalized_value(XmlVersion::Implicit1_0);
            let value = value.map_err(|why| self.fault(format!("attribute {}: {why}", attribute.key.0)))?;
            all.push((attribute.key.0.to_owned(), value.into_owned()));
        }
        Ok(all)
    }

    fn read_head(&mut self) -> Result<(), Fault> {
        let mut in_root = false;
        loop {
            let event = self.event()?;
            let is_empty = matches!(event, Event::Empty(_));
            match event {
                Event::Decl(decl) => {
                    let encoding = decl.encoding().and_then(Result::ok).map(|e| e.to_lowercase());
                    if let Some(other) =
                        encoding.filter(|e| !["utf-8", "us-ascii", "ascii"].contains(&e.as_str()))
                    {
                        return Err(self.fault(format!("encoding {other}; convert the file to UTF-8")));
                    }
                }
                Event::Start(start) | Event::Empty(start) => {
                    let (name, attributes) =
                        (start.local_name().as_ref().to_owned(), self.attributes(&start)?);
                    match name.as_str() {
                        "graphml" if !in_root && !is_empty => in_root = true,
                        _ if !in_root => {
                            return Err(self.fault(format!("no GraphML: the first element is {name}")));
                        }
                        "key" => self.read_key(&attributes, is_empty)?,
                        "graph" => {
                            self.head.directed = match of(&attributes, "edgedefault") {
                                Some("directed") => true,
                                Some("undirected") => false,
                                _ => {
                                    return Err(
                                        self.fault("graph: edgedefault is neither directed nor undirected")
                                    );
                                }
                            };
                            self.ended = is_empty;
                            return Ok(());
                        }
                        "desc" | "data" => {
                            self.has_graph_data |= name == "data";
                            self.skip(is_empty)?;
                        }
                        other => return Err(self.fault(format!("element {other} before graph"))),
                    }
                }
                Event::Eof => return Err(self.fault("no GraphML: the file has no element graph")),
                Event::End(_) => return Err(self.fault("no GraphML: the file has no element graph")),
                _ => {}
            }
        }
    }

    fn read_key(&mut self, attributes: &Attributes, is_empty: bool) -> Result<(), Fault> {
        let Some(id) = of(attributes, "id").map(str::to_owned) else {
            return Err(self.fault("key without id"));
        };
        if self.head.keys.iter().any(|key| key.id == id) || self.head.keys.len() >= MAX_KEYS {
            return Err(
                self.fault(format!("key {id:?} is declared twice, or there are more than {MAX_KEYS} keys"))
            );
        }
        let kind = match of(attributes, "attr.type") {
            Some("boolean") => Some(PropertyType::Bool),
            Some("int" | "long") => Some(PropertyType::I64),
            Some("float" | "double") => Some(PropertyType::F64),
            Some("string") => Some(PropertyType::Utf8),
            // An editor's own data have no name; others are texts.
            None => of(attributes, "attr.name").map(|_| PropertyType::Utf8),
            Some(other) => {
                let known = "boolean, int, long, float, double, string";
                return Err(self.fault(format!("key {id:?}: attr.type is {other:?}, none of {known}")));
            }
        };
        let of_whom = of(attributes, "for").unwrap_or("all");
        let default = if is_empty { None } else { self.read_default()? };
        let name = of(attributes, "attr.name").unwrap_or(&id).to_owned();
        let (of_nodes, of_edges) = (["node", "all"].contains(&of_whom), ["edge", "all"].contains(&of_whom));
        self.head.keys.push(Key { id, name, of_nodes, of_edges, kind, default });
        Ok(())
    }

    /// Reads a key to its end; returns its default.
    fn read_default(&mut self) -> Result<Option<String>, Fault> {
        let mut default = None;
        loop {
            match self.event()? {
                Event::Start(start) if start.local_name().as_ref() == "default" => {
                    default = Some(self.text()?.0);
                }
                Event::Empty(start) if start.local_name().as_ref() == "default" => {
                    default = Some(String::new());
                }
                Event::Start(_) => self.skip(false)?,
                Event::End(_) => return Ok(default),
                Event::Eof => return Err(self.fault("the file ends inside of key")),
                _ => {}
            }
        }
    }

    /// Skips the rest of an element.
    fn skip(&mut self, is_empty: bool) -> Result<(), Fault> {
        let mut depth = u64::from(!is_empty);
        while depth > 0 {
            match self.event()? {
                Event::Start(_) => depth += 1,
                Event::End(_) => depth -= 1,
                Event::Eof => return Err(self.fault("the file ends inside of an element")),
                _ => {}
            }
        }
        Ok(())
    }

    /// Returns the text up to the end of the element, and true if there are elements in it.
    fn text(&mut self) -> Result<(String, bool), Fault> {
        let (mut text, mut nested) = (String::new(), false);
        loop {
            match self.event()? {
                Event::Text(part) => text += &part.xml10_content(),
                Event::CData(part) => text += &part.xml10_content(),
                Event::GeneralRef(reference) => text += &self.resolve(&reference)?,
                Event::Start(_) => {
                    nested = true;
                    self.skip(false)?;
                }
                Event::Empty(_) => nested = true,
                Event::End(_) => return Ok((text, nested)),
                Event::Eof => return Err(self.fault("the file ends inside of an element")),
                _ => {}
            }
        }
    }

    fn resolve(&self, reference: &BytesRef<'_>) -> Result<String, Fault> {
        let found = reference.resolve_char_ref().map_err(|why| self.fault(format!("no XML: {why}")))?;
        let named = || resolve_predefined_entity(reference).map(str::to_owned);
        found.map(String::from).or_else(named).ok_or_else(|| {
            let name: String = reference.chars().take(40).collect();
            self.fault(format!("entity &{name}; is not expanded: write its text"))
        })
    }

    /// Returns the next node or edge; `None` at the end of the graph.
    pub(crate) fn next(&mut self) -> Option<Result<Element, Fault>> {
        loop {
            self.bytes.store(0, Relaxed);
            let line = self.line();
            let event = match self.event() {
                Ok(event) => event,
                Err(fault) => return Some(Err(self.end(fault))),
            };
            let is_empty = matches!(event, Event::Empty(_));
            let read = match event {
                Event::Start(start) | Event::Empty(start) if !self.ended => {
                    self.element(&start, line, is_empty)
                }
                Event::Start(start) | Event::Empty(start) => {
                    let name = start.local_name().as_ref().to_owned();
                    let what = if name == "graph" { "a second graph" } else { name.as_str() };
                    match name.as_str() {
                        "data" | "desc" => self.skip(is_empty).map(|()| None),
                        _ => Err(self.fault(format!("{what} after the graph"))),
                    }
                }
                Event::End(end) => {
                    self.ended |= end.local_name().as_ref() == "graph";
                    Ok(None)
                }
                Event::Text(text) if !text.trim().is_empty() => Err(self.fault("text between elements")),
                Event::GeneralRef(_) | Event::CData(_) => Err(self.fault("text between elements")),
                Event::Eof if self.ended => return None,
                Event::Eof => Err(self.fault("the file ends inside of graph")),
                _ => Ok(None),
            };
            match read {
                Ok(None) => {}
                Ok(Some(element)) => return Some(Ok(element)),
                Err(fault) => return Some(Err(self.end(fault))),
            }
        }
    }

    /// Ends the reading after a fault of the whole file.
    fn end(&mut self, fault: Fault) -> Fault {
        self.ended |= matches!(fault, Fault::File(..));
        fault
    }

    fn element(
        &mut self,
        start: &BytesStart<'_>,
        line: u64,
        is_empty: bool,
    ) -> Result<Option<Element>, Fault> {
        let name = start.local_name().as_ref().to_owned();
        let is_node = match name.as_str() {
            "node" => true,
            "edge" => false,
            "desc" | "data" => {
                self.has_graph_data |= name == "data";
                return self.skip(is_empty).map(|()| None);
            }
            "hyperedge" => return Err(Fault::File(line, "a hyperedge: an edge has two ends".to_owned())),
            other => return Err(Fault::File(line, format!("element {other} in graph"))),
        };
        let attributes = self.attributes(start)?;
        let mut fault = self.read_data(is_node, is_empty)?;
        let mut get = |wanted: &str| match of(&attributes, wanted) {
            Some(value) => value.to_owned(),
            None => {
                fault.get_or_insert_with(|| format!("{name} without {wanted}"));
                String::new()
            }
        };
        let element = if is_node {
            Element::Node { line, id: get("id") }
        } else {
            Element::Edge { line, ends: [get("source"), get("target")] }
        };
        let known: &[&str] = if is_node { &["id"] } else { &["source", "target", "directed"] };
        for (attribute, value) in &attributes {
            match attribute.as_str() {
                "sourceport" | "targetport" => {
                    return Err(Fault::File(line, format!("{attribute}: a node has no ports")));
                }
                "directed" if !is_node && value != if self.head.directed { "true" } else { "false" } => {
                    let has = if self.head.directed { "directed" } else { "undirected" };
                    fault.get_or_insert_with(|| format!("directed={value:?} in a graph with {has} edges"));
                }
                other if !known.contains(&other) => self.leave_out(format!("{other} of {name}")),
                _ => {}
            }
        }
        fault.map_or(Ok(Some(element)), |why| Err(Fault::Element { line, is_node, why }))
    }

    fn leave_out(&mut self, what: String) {
        if self.left_out.len() < 8 && !self.left_out.contains(&what) {
            self.left_out.push(what);
        }
    }

    /// Reads the data of an element to its end; returns a fault of the element.
    fn read_data(&mut self, is_node: bool, is_empty: bool) -> Result<Option<String>, Fault> {
        self.data.fill(None);
        let mut fault = None;
        if is_empty {
            return Ok(None);
        }
        loop {
            let event = self.event()?;
            let is_empty = matches!(event, Event::Empty(_));
            match event {
                Event::Start(start) | Event::Empty(start) => match start.local_name().as_ref() {
                    "data" => {
                        let attributes = self.attributes(&start)?;
                        let (text, nested) = if is_empty { Default::default() } else { self.text()? };
                        if let Err(why) = self.put(of(&attributes, "key"), is_node, text, nested) {
                            fault.get_or_insert(why);
                        }
                    }
                    "desc" => self.skip(is_empty)?,
                    "graph" => return Err(self.fault("a graph inside of a node or an edge")),
                    "port" => return Err(self.fault("port: a node has no ports")),
                    other => return Err(self.fault(format!("element {other} in a node or an edge"))),
                },
                Event::End(_) => return Ok(fault),
                Event::Eof => return Err(self.fault("the file ends inside of an element")),
                Event::Text(text) if !text.trim().is_empty() => {
                    fault.get_or_insert_with(|| "text outside of data".to_owned());
                }
                Event::CData(_) | Event::GeneralRef(_) => {
                    fault.get_or_insert_with(|| "text outside of data".to_owned());
                }
                _ => {}
            }
        }
    }

    fn put(&mut self, key: Option<&str>, is_node: bool, text: String, nested: bool) -> Result<(), String> {
        let key = key.ok_or("data without key")?;
        let at = self.head.keys.iter().position(|known| known.id == key);
        let at = at.ok_or_else(|| format!("data of key {key:?}, which is not declared before graph"))?;
        let (known, value) = (&self.head.keys[at], &mut self.data[at]);
        if !(if is_node { known.of_nodes } else { known.of_edges }) {
            return Err(format!(
                "data of key {key:?}, which is not for {}",
                if is_node { "nodes" } else { "edges" }
            ));
        }
        if known.kind.is_none() {
            return Ok(());
        }
        if nested || value.is_some() {
            let why = if nested { "elements in data" } else { "two data" };
            return Err(format!("{why} of key {key:?}"));
        }
        *value = Some(text);
        Ok(())
    }

    /// Returns the text that the last element has for a key: its data, or the default of the key.
    pub(crate) fn get(&self, key: usize) -> Option<&str> {
        let data = self.data.get(key).and_then(Option::as_deref);
        data.or_else(|| self.head.keys.get(key)?.default.as_deref())
    }
}
