//! A store of airports and airlines, and a store of only some of its vertices.

use hedgerow::{
    Durability, EdgeKey, Graph, KeyKind, KindId, LabelOptions, Options, PropertyType, Snapshot, Topology,
    VertexKey,
};
use hedgerow_testkit::SimFs;
use hedgerow_testkit::sim_fs::SplitMix64;

pub(super) const LABELS: [&str; 4] = ["route", "ferry", "owns", "plain"];
pub(super) const AIRPORTS: u64 = 300;
/// The number of airlines: they fill more than one page of ids.
pub(super) const AIRLINES: u64 = 5_000;

pub(super) struct Edge {
    pub(super) label: &'static str,
    pub(super) src: VertexKey,
    pub(super) dst: VertexKey,
    pub(super) weight: f64,
}

/// A store with airports, ports, airlines with texts for keys, and vertices of the default kind. Routes join
/// airports, ferries join ports, airlines own airports. Edges of the label without kinds join any vertices.
pub(super) struct World {
    pub(super) graph: Graph,
    pub(super) airport: KindId,
    pub(super) port: KindId,
    pub(super) airline: KindId,
    pub(super) edges: Vec<Edge>,
    pub(super) rng: SplitMix64,
}

impl World {
    pub(super) fn new(options: &Options, disk: &SimFs) -> World {
        let graph = options.clone().open_on(disk.handle()).unwrap();
        let airport = graph.define_kind("airport", KeyKind::U64).unwrap();
        let port = graph.define_kind("port", KeyKind::U64).unwrap();
        let airline = graph.define_kind("airline", KeyKind::Str).unwrap();
        let weighted = || LabelOptions::new().property("weight", PropertyType::F64);
        graph.define_label("route", weighted().ends(airport, airport)).unwrap();
        graph.define_label("ferry", weighted().ends(port, port)).unwrap();
        graph.define_label("owns", weighted().ends(airline, airport)).unwrap();
        graph.define_label("plain", weighted()).unwrap();
        let mut world = World { graph, airport, port, airline, edges: Vec::new(), rng: SplitMix64::new(7) };
        world.fill();
        world
    }

    fn key(&mut self, kind: KindId) -> VertexKey {
        if kind == self.airline {
            return kind.key(&*format!("line {}", self.rng.below(AIRLINES))).to_owned();
        }
        let n = self.rng.below(if kind == KindId::DEFAULT { 50 } else { AIRPORTS });
        kind.key(n).to_owned()
    }

    fn fill(&mut self) {
        // Removed vertices leave their ids to vertices of other kinds.
        let mut tx = self.graph.write().unwrap();
        (0..100_u64).for_each(|n| _ = tx.insert_vertex(self.port.key(10_000 + n)).unwrap());
        tx.commit().unwrap();
        let mut tx = self.graph.write().unwrap();
        (0..100_u64).for_each(|n| _ = tx.remove_vertex(self.port.key(10_000 + n)).unwrap());
        tx.commit().unwrap();
        let mut tx = self.graph.write().unwrap();
        for n in 0..AIRLINES {
            tx.insert_vertex(self.airline.key(&*format!("line {n}"))).unwrap();
            if n < 50 {
                tx.insert_vertex(n).unwrap();
            }
            if n % 16 == 0 && n / 16 < AIRPORTS {
                tx.insert_vertex(self.airport.key(n / 16)).unwrap();
                tx.insert_vertex(self.port.key(n / 16)).unwrap();
            }
        }
        tx.commit().unwrap();
        self.connect(900);
    }

    /// Inserts edges of all labels.
    pub(super) fn connect(&mut self, count: usize) {
        let (airport, port, airline) = (self.airport, self.port, self.airline);
        let mut tx = self.graph.write().unwrap();
        for at in 0..count {
            let any = [KindId::DEFAULT, airport, port, airline];
            let (label, [from, to]) = match at % 4 {
                0 => ("route", [airport; 2]),
                1 => ("ferry", [port; 2]),
                2 => ("owns", [airline, airport]),
                _ => ("plain", [any[at / 4 % 4], any[at / 16 % 4]]),
            };
            let (src, dst) = (self.key(from), self.key(to));
            // Multiples of one half have exact sums.
            let weight = (1 + self.rng.below(9)) as f64 / 2.0;
            tx.put_edge_with(EdgeKey::new(label, &src, &dst), [("weight", weight)]).unwrap();
            self.edges.push(Edge { label, src, dst, weight });
        }
        tx.commit().unwrap();
    }

    /// Makes a store of only the vertices of these kinds and all edges of these labels, with the same vertex
    /// ids and without kinds.
    pub(super) fn alone(
        &self,
        snapshot: &Snapshot,
        kinds: &[KindId],
        labels: &[&str],
        edges: usize,
    ) -> Graph {
        let directed = self.graph.config().directed;
        let graph = Options::new().keys(KeyKind::Dense).directed(directed).in_memory().unwrap();
        let options = || LabelOptions::new().property("weight", PropertyType::F64);
        LABELS.iter().for_each(|label| _ = graph.define_label(label, options()).unwrap());
        let bound = snapshot.default_label().view().unwrap().vertex_bound() as u64;
        let mut tx = graph.write().unwrap();
        for vertex in snapshot.vertices().unwrap() {
            let (id, key) = vertex.unwrap();
            if kinds.contains(&key.kind()) {
                tx.insert_vertex(u64::from(id.0)).unwrap();
            }
        }
        let id = |key: &VertexKey| u64::from(snapshot.vertex_id(key).unwrap().unwrap().0);
        for edge in self.edges[..edges].iter().filter(|edge| labels.contains(&edge.label)) {
            let key = EdgeKey::new(edge.label, id(&edge.src), id(&edge.dst));
            tx.put_edge_with(key, [("weight", edge.weight)]).unwrap();
        }
        tx.commit().unwrap();
        // The store gets the same number of ids.
        if !graph.snapshot().unwrap().contains_vertex(bound - 1).unwrap() {
            let mut tx = graph.write().unwrap();
            tx.insert_vertex(bound - 1).unwrap();
            tx.commit().unwrap();
            let mut tx = graph.write().unwrap();
            tx.remove_vertex(bound - 1).unwrap();
            tx.commit().unwrap();
        }
        graph
    }
}

pub(super) fn options(directed: bool) -> Options {
    let options = crate::common::small().directed(directed).durability(Durability::Manual);
    options.background_settling(false)
}
