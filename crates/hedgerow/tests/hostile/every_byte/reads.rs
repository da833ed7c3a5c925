//! The reads of a damaged store, and the answer of each, as one number.

use std::hash::{Hash, Hasher};
use std::ops::ControlFlow;

use hedgerow::{
    Direction, EdgeKey, Resident, Result, Snapshot, TieredView, Topology, Value, VertexId, VertexKey,
    WeightedTopology,
};
use hedgerow_testkit::LABELS;

/// The answer of a read, as one number. It is fast, because the test reads each store in full without
/// optimization.
#[derive(Default)]
struct Said(u64);

impl Hasher for Said {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(byte.into());
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(number.into());
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}

/// One read. A read of a vertex reads lists, which are cold if there is a memory limit. The remaining reads
/// read all vertices or edges.
#[derive(Clone, Debug)]
pub(super) enum Read {
    Exists(VertexKey),
    OfVertex(VertexKey),
    List(VertexKey, Direction),
    Degree(VertexKey, Direction),
    Edges(&'static str, VertexKey, Direction),
    AllLabels(VertexKey, Direction),
    Edge(VertexKey, VertexKey),
    /// A list in its stored order, without a check that the vertex exists.
    Run(VertexId, Direction),
    Vertices,
    /// The edges of a label by pages: a scan in one direction, a visit in the other.
    ByPage(&'static str),
    Rows(&'static str),
    Resident(&'static str),
}

impl Read {
    /// Returns every read of these vertices and of all labels. Only a rich graph has labels in addition to
    /// the default one. If a graph keeps no incoming edges, incoming reads of one vertex read all outgoing
    /// edges. One vertex with such reads is then sufficient.
    pub(super) fn all(vertices: &[VertexKey], rich: bool, reverse: bool) -> Vec<Read> {
        let labels = || LABELS.iter().map(|(name, _)| *name).take(if rich { LABELS.len() } else { 1 });
        let mut all = Vec::new();
        for (at, vertex) in vertices.iter().enumerate() {
            let v = || vertex.clone();
            all.extend([Read::Exists(v()), Read::OfVertex(v())]);
            all.push(Read::Edge(v(), vertices[(at + 1) % vertices.len()].clone()));
            let both = [Direction::Out, Direction::In];
            for &direction in if reverse || at == 0 { &both[..] } else { &both[..1] } {
                all.extend([Read::List(v(), direction), Read::Degree(v(), direction)]);
                all.extend(labels().map(|label| Read::Edges(label, v(), direction)));
                all.push(Read::AllLabels(v(), direction));
            }
        }
        all.push(Read::Vertices);
        all.extend(labels().flat_map(|label| [Read::ByPage(label), Read::Rows(label)]));
        all.extend(labels().map(Read::Resident));
        all
    }

    /// Returns the vertex if the read uses only the lists of that vertex. If a graph keeps no incoming edges,
    /// an incoming read uses the lists of all other vertices.
    pub(super) fn vertex(&self) -> Option<&VertexKey> {
        const OUT: Direction = Direction::Out;
        match self {
            Read::Exists(v) | Read::OfVertex(v) | Read::List(v, OUT) | Read::Degree(v, OUT) => Some(v),
            Read::Edges(_, v, OUT) | Read::AllLabels(v, OUT) | Read::Edge(v, _) => Some(v),
            _ => None,
        }
    }

    /// Returns the answer of a snapshot.
    pub(super) fn ask(&self, snapshot: &Snapshot) -> Result<u64> {
        let mut said = Said::default();
        match self {
            Read::Exists(v) => {
                let id = snapshot.vertex_id(v)?;
                (snapshot.contains_vertex(v)?, id).hash(&mut said);
                id.map(|id| snapshot.vertex_key(id)).transpose()?.hash(&mut said);
            }
            Read::OfVertex(v) => format!("{:?}", snapshot.vertex_properties(v)?).hash(&mut said),
            Read::List(v, direction) => {
                let list = snapshot.default_label().weighted_neighbors(v, *direction)?;
                let list = list.map(|list| list.into_iter().map(|(v, w)| (v, w.to_bits())));
                list.map(Iterator::collect::<Vec<_>>).hash(&mut said);
            }
            Read::Degree(v, direction) => snapshot.degree(v, *direction)?.hash(&mut said),
            Read::Edges(label, v, direction) => edges(snapshot, (label, v, *direction), &mut said)?,
            Read::AllLabels(v, direction) => snapshot.edge_list(v, *direction)?.hash(&mut said),
            Read::Edge(a, b) => {
                let weight = snapshot.default_label().weight_between(a, b)?.map(f64::to_bits);
                (snapshot.contains_edge((a, b))?, weight).hash(&mut said);
                format!("{:?}", snapshot.edge_properties(EdgeKey::new("", a, b))?).hash(&mut said);
            }
            Read::Run(v, direction) => {
                let mut list = Vec::new();
                snapshot.default_label().visit_neighbors(*v, *direction, |run, weights| {
                    list.extend(
                        run.iter().enumerate().map(|(at, v)| (*v, weights.get(at).map(|w| w.to_bits()))),
                    );
                })?;
                list.sort_unstable();
                list.hash(&mut said);
            }
            Read::Vertices => {
                for vertex in snapshot.vertices()? {
                    vertex?.hash(&mut said);
                }
                snapshot.scan_vertices()?.keys()?.0.hash(&mut said);
            }
            Read::ByPage(label) => by_page(&TieredView::new(snapshot, *label)?, &mut said)?,
            Read::Rows(label) => {
                snapshot.for_each_edge(*label, |row| {
                    (row.src(), row.dst(), row.rank(), row.weight().to_bits()).hash(&mut said);
                })?;
                snapshot.edge_count_of(*label)?.hash(&mut said);
            }
            Read::Resident(label) => {
                let view = snapshot.view(*label)?;
                view.edge_count().hash(&mut said);
                for v in view.vertices() {
                    let out: Vec<VertexId> = view.neighbors(v, Direction::Out).into_iter().collect();
                    (v, out).hash(&mut said);
                }
            }
        }
        Ok(said.finish())
    }
}

/// Hashes the edges of a vertex with their properties.
fn edges(
    snapshot: &Snapshot,
    (label, vertex, direction): (&str, &VertexKey, Direction),
    said: &mut Said,
) -> Result<()> {
    for edge in snapshot.edges(vertex, (label, direction))?.into_iter().flatten() {
        (edge.key, edge.rank).hash(said);
        for (name, value) in edge.properties {
            name.hash(said);
            match value {
                Value::F64(number) => number.to_bits().hash(said),
                other => format!("{other:?}").hash(said),
            }
        }
    }
    Ok(())
}

fn by_page(view: &TieredView, said: &mut Said) -> Result<()> {
    view.edge_count().hash(said);
    let vertices: Vec<VertexId> = view.vertices().collect();
    vertices.hash(said);
    view.try_for_each_edge(|a, b, weight| {
        (a, b, weight.to_bits()).hash(said);
        ControlFlow::Continue(())
    })?;
    // The order of a visit is not defined.
    let mut visited = 0_u64;
    view.visit_weighted(vertices, Direction::In, |v, run, weights| {
        for (at, other) in run.iter().enumerate() {
            let mut edge = Said::default();
            (v, other, weights.get(at).map(|w| w.to_bits())).hash(&mut edge);
            visited = visited.wrapping_add(edge.finish());
        }
    })?;
    visited.hash(said);
    Ok(())
}
