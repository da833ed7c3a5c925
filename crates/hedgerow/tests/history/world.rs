//! A few hot vertices on which clients conflict. Each vertex has sets, stored as a property, as a list of
//! ranked edges, and as plain neighbours.

use hedgerow::{
    Direction, Durability, EdgeKey, Graph, Isolation, KeyKind, KindId, LabelOptions, Options, PropertyType,
};
use hedgerow::{LabelId, Result, Snapshot, Timestamp, Value, VertexKey, WriteTxn};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::history::{Element, Item};

/// The number of hot vertices at one time.
pub(crate) const HOT: u64 = 4;

/// The number of transactions after which other vertices are hot, so that lists stay short.
pub(crate) const GENERATION: u64 = 200;

/// The first vertex that is an element of plain neighbour lists.
const SINKS: u64 = 8192;

const LABEL: &str = "list";
const PROPERTY: &str = "elements";

/// The representation of a set. An item is four times the vertex plus the position of the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Bytes of a property of the vertex. A transaction reads, changes and writes them as a whole.
    Property,
    /// The ranks of edges of a label from the vertex, added by blind writes.
    Out,
    /// The ranks of edges of a label to the vertex: the other direction of the same edges.
    In,
    /// The neighbours by edges of the default label. Each element is a separate vertex.
    Plain,
}

pub(crate) const KINDS: [Kind; 4] = [Kind::Property, Kind::Out, Kind::In, Kind::Plain];

pub(crate) fn item(vertex: u64, kind: Kind) -> Item {
    (vertex * 4) as Item + KINDS.iter().position(|&k| k == kind).unwrap_or(0) as Item
}

/// True if any two writes to the item conflict.
pub(crate) fn is_whole(item: Item) -> bool {
    item.is_multiple_of(4)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct World {
    pub(crate) isolation: Isolation,
    pub(crate) keys: KeyKind,
    /// The durability of commits; `None` for a store without files.
    pub(crate) durability: Option<Durability>,
}

impl World {
    pub(crate) fn is_durable(self) -> bool {
        self.durability.is_some()
    }

    /// Opens the store, and returns it with the last commit that it recovered.
    pub(crate) fn open(self, disk: &SimFs) -> (Graph, Timestamp) {
        let options = Options::new()
            .thresholds(hedgerow::Thresholds::SMALL)
            .isolation(self.isolation)
            .keys(self.keys)
            .log_segment_bytes(1 << 18);
        let graph = match self.durability {
            Some(durability) => options.durability(durability).open_on(disk.handle()),
            None => options.in_memory(),
        };
        let graph = graph.unwrap();
        let recovered = graph.published_ts();
        graph.define_label(LABEL, LabelOptions::new().multi(true)).unwrap();
        graph.define_edge_property(LABEL, "element", PropertyType::I64).unwrap();
        graph.define_vertex_property(KindId::DEFAULT, PROPERTY, PropertyType::Bytes).unwrap();
        (graph, recovered)
    }
}

fn from_bytes(value: Option<Value>) -> Vec<Element> {
    let Some(Value::Bytes(bytes)) = value else { return Vec::new() };
    bytes.chunks_exact(4).map(|b| Element::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn to_bytes(elements: &[Element]) -> Value {
    elements.iter().flat_map(|e| e.to_le_bytes()).collect::<Vec<u8>>()[..].into()
}

fn ranks(list: Option<Vec<(VertexKey, LabelId, u64)>>) -> Vec<Element> {
    list.unwrap_or_default().into_iter().map(|(_, _, rank)| rank as Element).collect()
}

fn sinks(list: Option<Vec<VertexKey>>) -> Vec<Element> {
    let element = |key| match key {
        VertexKey::U64(key) => (key - SINKS) as Element,
        key => panic!("not a number of the default kind: {key}"),
    };
    list.unwrap_or_default().into_iter().map(element).collect()
}

fn sorted(mut elements: Vec<Element>) -> Vec<Element> {
    elements.sort_unstable();
    elements
}

/// Returns the elements of a set that a transaction reads, in ascending order.
pub(crate) fn read(txn: &mut WriteTxn, vertex: u64, kind: Kind) -> Result<Vec<Element>> {
    Ok(sorted(match kind {
        Kind::Property => from_bytes(txn.vertex_property(vertex, PROPERTY)?),
        Kind::Out => ranks(txn.edge_list(vertex, (LABEL, Direction::Out))?),
        Kind::In => ranks(txn.edge_list(vertex, (LABEL, Direction::In))?),
        Kind::Plain => sinks(txn.neighbors(vertex, ("", Direction::Out))?),
    }))
}

/// Returns the elements of a set in a snapshot, in ascending order.
pub(crate) fn look(snapshot: &Snapshot, vertex: u64, kind: Kind) -> Vec<Element> {
    sorted(match kind {
        Kind::Property => from_bytes(snapshot.vertex_property(vertex, PROPERTY).unwrap()),
        Kind::Out => ranks(snapshot.edge_list(vertex, (LABEL, Direction::Out)).unwrap()),
        Kind::In => ranks(snapshot.edge_list(vertex, (LABEL, Direction::In)).unwrap()),
        Kind::Plain => sinks(snapshot.neighbors(vertex, ("", Direction::Out)).unwrap()),
    })
}

/// Writes all elements of a property.
pub(crate) fn set(txn: &mut WriteTxn, vertex: u64, elements: &[Element]) -> Result<()> {
    txn.insert_vertex(vertex)?;
    txn.update_vertex(vertex, [(PROPERTY, to_bytes(elements))]).map(drop)
}

/// Returns the edge that represents an element of the set `Out` of `vertex`, and the edge's destination.
pub(crate) fn edge(vertex: u64, element: Element) -> (EdgeKey<'static>, u64) {
    let to = vertex / HOT * HOT + u64::from(element) % HOT;
    (EdgeKey::new(LABEL, vertex, to).rank(u64::from(element)), to)
}

pub(crate) fn sink(element: Element) -> u64 {
    SINKS + u64::from(element)
}
