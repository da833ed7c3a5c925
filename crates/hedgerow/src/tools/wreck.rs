//! What was found of a damaged store: vertices and edges under their old ids, whatever is missing around them.

use std::collections::BTreeMap;

use hedgerow_core::{
    Direction, KeyKind, LabelId, Op, PropertyId, Row, SUBGRAPH_VERTICES, Value, VertexId, VertexKey,
};
use hedgerow_tier::{AdjacencyPart, ImageKeys, SubgraphImage};

use crate::error::Result;
use crate::graph::Graph;
use crate::options::{GraphConfig, Options};
use crate::schema::{LabelOptions, Schema};
use crate::write::EdgeKey;

/// Label, source, destination, rank. The ends of an undirected edge ascend.
type Place = (u16, u32, u32, u64);

/// How many operations one transaction takes.
const BATCH: usize = 4096;

#[derive(Clone, Debug)]
struct Found {
    weight: Option<f64>,
    row: Option<Row>,
    /// Whether it was read where it is kept with all its properties, and not from its other end.
    whole: bool,
}

/// Vertices and edges.
pub(super) struct Wreck {
    config: GraphConfig,
    pub(super) schema: Schema,
    vertices: BTreeMap<u32, VertexKey>,
    edges: BTreeMap<Place, Found>,
}

/// What became of a wreck.
pub(super) struct Rebuilt {
    pub(super) graph: Graph,
    /// Edges one end of which is lost.
    pub(super) dangling: u64,
    /// Edges known only from the end that does not keep all properties.
    pub(super) halves: u64,
    /// Vertices whose key is that of another one.
    pub(super) repeated: u64,
}

impl Wreck {
    pub(super) fn new(config: GraphConfig, schema: Schema) -> Wreck {
        Wreck { config, schema, vertices: BTreeMap::new(), edges: BTreeMap::new() }
    }

    /// Adds what an image holds.
    pub(super) fn add_image(&mut self, image: &SubgraphImage) {
        let first = image.id.0.wrapping_mul(SUBGRAPH_VERTICES as u32);
        let live = (0..SUBGRAPH_VERTICES as u32).filter(|local| image.present >> local & 1 == 1);
        for (i, id) in live.map(|local| first | local).enumerate() {
            let key = match &image.keys {
                ImageKeys::Dense => Some(VertexKey::U64(u64::from(id))),
                ImageKeys::U64(keys) => keys.get(i).map(|&n| VertexKey::U64(n)),
                ImageKeys::Str(keys) => keys.get(i).map(|s| VertexKey::Str(s.clone())),
            };
            self.vertices.extend(key.map(|key| (id, key)));
        }
        for part in &image.parts {
            for local in 0..SUBGRAPH_VERTICES {
                let range = part.offsets[local] as usize..part.offsets[local + 1] as usize;
                range.for_each(|at| self.add_entry(first | local as u32, part, at));
            }
        }
    }

    fn add_entry(&mut self, v: u32, part: &AdjacencyPart, at: usize) {
        let Some(&VertexId(u)) = part.neighbors.get(at) else { return };
        let (src, dst) = match part.direction {
            Direction::In => (u, v),
            Direction::Out if self.config.directed => (v, u),
            Direction::Out => (v.min(u), v.max(u)),
        };
        let whole = part.direction == Direction::Out && (self.config.directed || v <= u);
        let found = Found {
            weight: part.weights.as_ref().and_then(|weights| weights.get(at).copied()),
            row: part.columns.row(at),
            whole,
        };
        let rank = part.ranks.as_ref().and_then(|ranks| ranks.get(at).copied()).unwrap_or(0);
        let place = (part.label.0, src, dst, rank);
        if whole || !self.edges.contains_key(&place) {
            self.edges.insert(place, found);
        }
    }

    /// Does what an operation of the log says, as far as that is possible.
    pub(super) fn apply(&mut self, op: Op<'_>) {
        let mut put = |place: Place, weight, row| {
            self.edges.insert(place, Found { weight, row, whole: true });
        };
        match op {
            Op::InsertVertex { id, key } => _ = self.vertices.insert(id.0, key.to_owned()),
            Op::RemoveVertex { id } => _ = self.vertices.remove(&id.0),
            Op::PutEdge { label, src, dst, weight } => put((label.0, src.0, dst.0, 0), weight, None),
            Op::PutItem { label, src, dst, rank, weight, row } => {
                let row = hedgerow_log::decode_row(row).ok().flatten();
                put((label.0, src.0, dst.0, rank), weight, row);
            }
            Op::RemoveEdge { label, src, dst } => _ = self.edges.remove(&(label.0, src.0, dst.0, 0)),
            Op::RemoveItem { label, src, dst, rank } => {
                _ = self.edges.remove(&(label.0, src.0, dst.0, rank));
            }
            Op::DefineLabel { .. } | Op::DefineProperty { .. } => {
                // What the schema knows already it refuses.
                let _ = self.schema.add(hedgerow_core::Timestamp::ZERO, op);
            }
        }
    }

    /// Puts everything that hangs together into a new graph in memory.
    pub(super) fn rebuild(mut self) -> Result<Rebuilt> {
        let GraphConfig { directed, keys, weighted, reverse } = self.config;
        let options = Options::new().directed(directed).keys(keys).weighted(weighted).reverse(reverse);
        let graph = options.in_memory()?;
        let mut rebuilt = Rebuilt { graph: graph.clone(), dangling: 0, halves: 0, repeated: 0 };
        if keys == KeyKind::Dense {
            // The number of a vertex is its key: its edges are proof of it.
            let ends: Vec<u32> = self.edges.keys().flat_map(|&(_, src, dst, _)| [src, dst]).collect();
            self.vertices.extend(ends.into_iter().map(|v| (v, VertexKey::U64(u64::from(v)))));
        }
        self.define(&graph)?;
        let all: Vec<&VertexKey> = self.vertices.values().collect();
        for batch in all.chunks(BATCH) {
            let mut tx = graph.write()?;
            for key in batch {
                rebuilt.repeated += u64::from(!tx.insert_vertex(*key)?);
            }
            tx.commit()?;
        }
        let edges: Vec<(&Place, &Found)> = self.edges.iter().collect();
        for batch in edges.chunks(BATCH) {
            let mut tx = graph.write()?;
            tx.create_endpoints(false)?;
            for (place, found) in batch {
                let (Some(src), Some(dst)) = (self.vertices.get(&place.1), self.vertices.get(&place.2))
                else {
                    rebuilt.dangling += u64::from(place.0 != LabelId::VERTICES.0);
                    continue;
                };
                let label = LabelId(place.0);
                let mut values = self.values(label, found.row.as_ref());
                if label == LabelId::VERTICES {
                    tx.put_vertex_with(src, values)?;
                    continue;
                }
                rebuilt.halves += u64::from(!found.whole && !values.is_empty());
                let weight = found.weight.filter(|_| weighted && label == LabelId::DEFAULT);
                values.extend(weight.map(|w| (crate::write::WEIGHT.to_owned(), Value::F64(w))));
                let name = self.label_name(label);
                tx.put_edge_with(EdgeKey::new(name.as_str(), src, dst).rank(place.3), values)?;
            }
            tx.commit()?;
        }
        Ok(rebuilt)
    }

    /// Defines labels and properties in the order of their ids, and labels of which only edges are left.
    fn define(&self, graph: &Graph) -> Result<()> {
        for label in self.schema.labels().iter().skip(1) {
            graph.define_label(label.name(), LabelOptions::new().multi(label.is_multi()))?;
        }
        let known = |label: u16| self.schema.label_by_id(LabelId(label)).is_some();
        let mut ranked: BTreeMap<u16, bool> = BTreeMap::new();
        for &(label, _, _, rank) in self.edges.keys().filter(|place| !known(place.0)) {
            *ranked.entry(label).or_default() |= rank != 0;
        }
        for (label, multi) in ranked {
            graph.define_label(&self.label_name(LabelId(label)), LabelOptions::new().multi(multi))?;
        }
        for label in self.schema.labels() {
            for property in label.properties() {
                let name: &str = label.name();
                graph.define_edge_property(name, property.name(), property.property_type())?;
            }
        }
        for property in self.schema.vertex_properties() {
            graph.define_vertex_property(property.name(), property.property_type())?;
        }
        Ok(())
    }

    fn label_name(&self, label: LabelId) -> String {
        let known = self.schema.label_by_id(label);
        known.map_or_else(|| format!("label-{}", label.0), |label| label.name().to_string())
    }

    fn values(&self, label: LabelId, row: Option<&Row>) -> Vec<(String, Value)> {
        let label = self.schema.label_by_id(label);
        let name = |id: PropertyId| {
            let known = label.and_then(|label| label.property_by_id(id));
            known.map_or_else(|| format!("property-{}", id.0), |property| property.name().to_string())
        };
        let cells = row.map_or(&[][..], Row::cells);
        cells.iter().map(|(id, value)| (name(*id), value.clone())).collect()
    }
}
