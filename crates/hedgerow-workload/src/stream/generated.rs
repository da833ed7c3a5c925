//! A seeded stream that grows like a social network.
//!
//! - **Growth.** Both ends of an edge are mostly ends of earlier edges, drawn uniformly from these, so that a
//!   vertex gains edges in proportion to the edges that it has: degrees follow a power law. Other ends are
//!   new vertices.
//! - **Communities.** The vertices of a transaction are in one of many communities; the n-th community is
//!   drawn in proportion to 1/(n + 4). One transaction in sixteen also has vertices of a second community.
//!   Without communities almost any two transactions of fifty events would share a hub, and no two writers
//!   could work in parallel.
//! - **Bursts.** A few transactions hold hundreds of events, half of them around one vertex.
//! - **Removals.** Some events remove an edge inserted earlier, a few remove a vertex with its edges. Both
//!   may be inserted again later.

use hedgerow_core::VertexKey;

use super::event::Event;
use crate::rng::Rng;

/// The configuration of a generated stream. Equal configurations give equal streams, in every version.
#[derive(Clone, Debug, PartialEq)]
pub struct GeneratedConfig {
    /// The seed of the stream.
    pub seed: u64,
    /// The number of events; the stream ends with exactly this many.
    pub events: u64,
    /// The number of communities, at least 1.
    pub communities: u32,
    /// The share of events that remove an edge, 0 to 1.
    pub remove_edges: f64,
    /// The share of events that remove a vertex, 0 to 1.
    pub remove_vertices: f64,
}

impl Default for GeneratedConfig {
    fn default() -> Self {
        GeneratedConfig {
            seed: 1,
            events: 2_000_000,
            communities: 64,
            remove_edges: 0.04,
            remove_vertices: 0.002,
        }
    }
}

/// The longest transaction, in events.
pub const MAX_EVENTS: u64 = 1000;

/// The share of edge ends that are new vertices.
const NEW_VERTEX: f64 = 0.12;

pub(super) struct Generated {
    config: GeneratedConfig,
    rng: Rng,
    left: u64,
    /// Sums of the communities' weights, for drawing one.
    cumulated: Vec<f64>,
    communities: Vec<Community>,
    vertices: u64,
}

/// The members and edges of a community so far, as numbers of vertices.
#[derive(Clone, Default)]
struct Community {
    members: Vec<u64>,
    /// The edges that may be present: removals of vertices are not tracked here.
    edges: Vec<(u64, u64)>,
}

impl Generated {
    pub(super) fn new(config: &GeneratedConfig) -> Self {
        let count = config.communities.max(1);
        let mut sum = 0.0;
        let cumulated = (0..count).map(|n| {
            sum += 1.0 / (f64::from(n) + 4.0);
            sum
        });
        Generated {
            cumulated: cumulated.collect(),
            communities: vec![Community::default(); count as usize],
            rng: Rng::part(config.seed, 0x5354_5245),
            left: config.events,
            vertices: 0,
            config: config.clone(),
        }
    }

    /// Returns the events of the next transaction; none at the end.
    pub(super) fn next_events(&mut self) -> Vec<Event> {
        let (count, is_burst) = self.draw_size();
        let count = count.min(self.left);
        self.left -= count;
        let home = self.draw_community();
        let second = if self.rng.chance(1.0 / 16.0) { self.draw_community() } else { home };
        let center = if is_burst { self.draw_vertex(home) } else { 0 };
        (0..count)
            .map(|_| {
                let around = (is_burst && self.rng.chance(0.5)).then_some(center);
                self.draw_event(home, second, around)
            })
            .collect()
    }

    /// Draws sizes with a mean of about 50: a tenth of all transactions are single events, a few are bursts.
    fn draw_size(&mut self) -> (u64, bool) {
        match self.rng.unit() {
            u if u < 0.10 => (1, false),
            u if u < 0.96 => (1 + self.rng.below(61), false),
            _ => (200 + self.rng.below(MAX_EVENTS - 199), true),
        }
    }

    fn draw_community(&mut self) -> usize {
        let total = self.cumulated.last().copied().unwrap_or(0.0);
        let at = self.rng.unit() * total;
        self.cumulated.partition_point(|&sum| sum <= at).min(self.communities.len() - 1)
    }

    fn draw_event(&mut self, home: usize, second: usize, around: Option<u64>) -> Event {
        let kind = self.rng.unit();
        let community = &mut self.communities[home];
        if kind < self.config.remove_vertices && !community.members.is_empty() {
            let at = self.rng.below(community.members.len() as u64) as usize;
            return Event::RemoveVertex { vertex: key(community.members[at]), by: None };
        }
        if kind < self.config.remove_vertices + self.config.remove_edges && !community.edges.is_empty() {
            let at = self.rng.below(community.edges.len() as u64) as usize;
            let (src, dst) = community.edges.swap_remove(at);
            return Event::RemoveEdge { src: key(src), dst: key(dst) };
        }
        let src = match around {
            Some(center) => center,
            None => self.draw_vertex(home),
        };
        let place = if self.rng.chance(0.5) { home } else { second };
        let dst = self.draw_vertex(place);
        self.communities[home].edges.push((src, dst));
        Event::Upsert { src: key(src), dst: key(dst) }
    }

    /// Returns an end of an earlier edge of the community, or a new vertex.
    fn draw_vertex(&mut self, community: usize) -> u64 {
        let is_new = self.rng.chance(NEW_VERTEX);
        let community = &mut self.communities[community];
        if is_new || community.edges.is_empty() {
            self.vertices += 1;
            community.members.push(self.vertices);
            return self.vertices;
        }
        let draw = self.rng.below(community.edges.len() as u64 * 2);
        let (src, dst) = community.edges[(draw / 2) as usize];
        if draw.is_multiple_of(2) { src } else { dst }
    }
}

/// Spreads numbers over 40 bits, one to one, so that keys are no dense ids.
fn key(vertex: u64) -> VertexKey {
    VertexKey::U64(vertex.wrapping_mul(0x9E37_79B9_7F4A_7C15) & ((1 << 40) - 1))
}
