//! From what was found of a damaged store to a graph in memory.

use std::collections::{BTreeSet, HashMap};

use hedgerow_core::{GraphConfig, KeyKind, LabelId, PropertyId, Row, Value, VertexId, VertexKey};

use super::names::Unnamed;
use super::salvaged::{EdgeTuple, Found, FoundVertex, SalvagedGraph};
use crate::error::Result;
use crate::graph::Graph;
use crate::options::Options;
use crate::state::edge_key::EdgeKey;

/// How many operations one transaction takes.
const BATCH: usize = 4096;

/// What became of a wreck.
pub(super) struct Rebuilt {
    pub(super) graph: Graph,
    /// Edges one end of which is lost.
    pub(super) dangling: u64,
    /// Edges known only from the end that does not keep all properties.
    pub(super) halves: u64,
    /// Vertices known only by their edges, in a graph whose vertices have properties.
    pub(super) bare: u64,
    /// Vertices in a subgraph whose image of their properties is lost, and of which the log has none.
    pub(super) stripped: u64,
    /// Vertices whose key is that of another one, which was written later.
    pub(super) repeated: u64,
    /// Vertices that lost commits removed, as later ones show.
    pub(super) replaced: u64,
    /// Vertices and edges that may be stale.
    pub(super) doubtful: (u64, u64),
    /// Names made up for labels and properties that have lost theirs.
    pub(super) made_up: Vec<String>,
}

impl SalvagedGraph {
    /// Puts everything that hangs together into a new graph in memory.
    pub(super) fn rebuild(mut self) -> Result<Rebuilt> {
        let GraphConfig { directed, keys, weighted, reverse } = self.config;
        let options = Options::new().directed(directed).keys(keys).weighted(weighted).reverse(reverse);
        let options = options.background_settling(false);
        let graph = options.in_memory()?;
        self.drop_gone_edges();
        let repeated = self.drop_repeated();
        let bare = self.date_vertices();
        self.names.complete_kinds(self.vertices.values().map(|vertex| &vertex.key));
        let of = |id| self.vertices.get(id).map(|vertex| vertex.key.kind());
        self.names.complete(self.edges.iter().map(|(&(label, ref src, ref dst, rank), found)| Unnamed {
            label,
            rank,
            row: found.row.as_ref(),
            ends: [of(src), of(dst)],
        }));
        let made_up = self.names.define_in(&graph)?;
        let doubtful = self.vertices.keys().filter(|&&id| self.is_doubtful(id)).count() as u64;
        let mut rebuilt = Rebuilt {
            graph: graph.clone(),
            dangling: 0,
            halves: 0,
            bare,
            stripped: self.vertices.keys().filter(|&&id| self.is_stripped(id)).count() as u64,
            repeated,
            replaced: self.replaced,
            doubtful: (doubtful, 0),
            made_up,
        };
        let all: Vec<&VertexKey> = self.vertices.values().map(|vertex| &vertex.key).collect();
        for batch in all.chunks(BATCH) {
            let mut tx = graph.write()?;
            for key in batch {
                tx.insert_vertex(*key)?;
            }
            tx.commit()?;
        }
        let edges: Vec<(&EdgeTuple, &Found)> = self.edges.iter().collect();
        for batch in edges.chunks(BATCH) {
            self.put_edges(batch, &mut rebuilt)?;
        }
        Ok(rebuilt)
    }

    /// Whether the vertex, or what is known of its properties, may be stale.
    fn is_doubtful(&self, id: u32) -> bool {
        let eras = [self.vertices.get(&id).map(|vertex| vertex.era), self.properties(id).map(|row| row.era)];
        eras.into_iter().flatten().any(|era| era < self.certain_from)
    }

    /// Whether the properties of the vertex may have been in an image that is lost.
    fn is_stripped(&self, id: u32) -> bool {
        self.without_properties.contains(&VertexId(id).subgraph()) && self.properties(id).is_none()
    }

    fn properties(&self, id: u32) -> Option<&Found> {
        self.edges.get(&(LabelId::VERTICES.0, id, id, 0))
    }

    /// Puts edges and properties of vertices into the graph, in one transaction.
    fn put_edges(&self, batch: &[(&EdgeTuple, &Found)], rebuilt: &mut Rebuilt) -> Result<()> {
        let mut tx = rebuilt.graph.write()?;
        tx.create_endpoints(false)?;
        for (place, found) in batch {
            let label = LabelId(place.0);
            let (Some(src), Some(dst)) = (self.vertices.get(&place.1), self.vertices.get(&place.2)) else {
                rebuilt.dangling += u64::from(label != LabelId::VERTICES);
                continue;
            };
            let mut values = self.values(label, found.row.as_ref());
            if label == LabelId::VERTICES {
                tx.put_vertex_with(&src.key, values)?;
                continue;
            }
            let era = if self.rebound { found.era.min(src.era).min(dst.era) } else { found.era };
            rebuilt.doubtful.1 += u64::from(era < self.certain_from);
            rebuilt.halves += u64::from(!found.whole && self.names.has_properties(label));
            let weight = found.weight.filter(|_| self.config.weighted && label == LabelId::DEFAULT);
            values.extend(weight.map(|w| (crate::state::edge_key::WEIGHT.to_owned(), Value::F64(w))));
            let name = self.names.label(label).unwrap_or_default();
            tx.put_edge_with(EdgeKey::new(name, &src.key, &dst.key).rank(place.3), values)?;
        }
        tx.commit()?;
        Ok(())
    }

    /// Of several vertices with one key the one that was written last has it.
    fn drop_repeated(&mut self) -> u64 {
        if self.config.keys == KeyKind::Dense {
            return 0;
        }
        let mut last: HashMap<&VertexKey, (u32, u32)> = HashMap::with_capacity(self.vertices.len());
        for (&id, vertex) in &self.vertices {
            let newest = last.entry(&vertex.key).or_default();
            *newest = (*newest).max((vertex.era, id));
        }
        if last.len() == self.vertices.len() {
            return 0;
        }
        let stays: BTreeSet<u32> = last.into_values().map(|(_, id)| id).collect();
        let before = self.vertices.len();
        self.vertices.retain(|id, _| stays.contains(id));
        (before - self.vertices.len()) as u64
    }

    /// An edge is proof of its ends: of their existence where a vertex is its number, and where ids cannot have been given to
    /// others, of their keys. Returns how many vertices only their edges prove, and of which properties may be lost.
    fn date_vertices(&mut self) -> u64 {
        let dense = self.config.keys == KeyKind::Dense;
        if self.rebound || !(dense || self.certain_from > 1) {
            return 0;
        }
        let mut bare = BTreeSet::new();
        let vertices = &mut self.vertices;
        for (place, found) in &self.edges {
            for id in [place.1, place.2] {
                if let Some(vertex) = vertices.get_mut(&id) {
                    vertex.era = vertex.era.max(found.era);
                } else if dense {
                    let key = VertexKey::U64(u64::from(id));
                    vertices.insert(id, FoundVertex { key, era: found.era });
                    bare.insert(id);
                }
            }
        }
        bare.retain(|&id| self.properties(id).is_none());
        if self.names.has_properties(LabelId::VERTICES) { bare.len() as u64 } else { 0 }
    }

    fn values(&self, label: LabelId, row: Option<&Row>) -> Vec<(String, Value)> {
        let name = |id: PropertyId| self.names.property(label, id).unwrap_or_default().to_owned();
        let cells = row.map_or(&[][..], Row::cells);
        cells.iter().map(|(id, value)| (name(*id), value.clone())).collect()
    }
}
