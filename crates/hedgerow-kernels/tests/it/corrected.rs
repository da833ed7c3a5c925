//! Tests of unsettled lists: a main list with additions and removals must have the same effect as the merged
//! list.

use std::convert::Infallible;
use std::ops::{ControlFlow, Range};

use hedgerow_core::{ByVertex, Direction, Neighbors, Resident, SubgraphId, Topology, VertexId, scan_blocks};
use hedgerow_kernels::{
    BfsConfig, ClosenessOf, Compared, MatchingSize, PageRankConfig, adamic_adar, bfs, bfs_parents, closeness,
    jaccard, matching, pagerank, triangle_count, verify, wcc,
};
use hedgerow_workload::Csr;
use hedgerow_workload::rng::Rng;

use crate::testing::{close, plain_graph, random_graph, with_threads};

/// A graph with the lists of `whole`, split at random into main lists, additions and removals.
struct Corrected {
    whole: Csr,
    lists: [Vec<Parts>; 2],
    /// The only direction that can be read, or `None` if both can be read.
    stored: Option<Direction>,
}

#[derive(Default)]
struct Parts {
    main: Vec<VertexId>,
    added: Vec<VertexId>,
    removed: Vec<VertexId>,
}

impl Corrected {
    fn new(whole: Csr, seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let bound = whole.vertex_bound() as u64;
        let mut lists: [Vec<Parts>; 2] = Default::default();
        for direction in [Direction::Out, Direction::In] {
            for v in 0..bound as u32 {
                let neighbors = whole.neighbors(VertexId(v), direction);
                let mut parts = Parts::default();
                for u in neighbors.iter() {
                    if rng.chance(0.2) { parts.added.push(u) } else { parts.main.push(u) }
                }
                let gone = VertexId(rng.below(bound) as u32);
                if rng.chance(0.5) && !neighbors.contains(gone) && whole.contains(VertexId(v)) {
                    parts.removed.push(gone);
                    parts.main.push(gone);
                    parts.main.sort_unstable();
                }
                lists[direction as usize].push(parts);
            }
        }
        Corrected { whole, lists, stored: None }
    }
}

impl Topology for Corrected {
    type Error = Infallible;
    type Block<'a> = ByVertex<'a, Corrected>;

    fn is_stored(&self, direction: Direction) -> bool {
        self.stored.is_none_or(|stored| stored == direction)
    }

    fn degree_estimate(&self, v: VertexId, direction: Direction) -> usize {
        self.degree(v, direction)
    }

    fn scan(
        &self,
        subgraphs: Range<SubgraphId>,
        direction: Direction,
        f: impl FnMut(SubgraphId, ByVertex<'_, Corrected>) -> ControlFlow<()>,
    ) -> Result<(), Infallible> {
        scan_blocks(subgraphs, |subgraph| ByVertex::new(self, subgraph, direction), f);
        Ok(())
    }

    fn visit(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        direction: Direction,
        mut f: impl FnMut(VertexId, &[VertexId]),
    ) -> Result<(), Infallible> {
        assert!(self.is_stored(direction));
        frontier.into_iter().for_each(|v| self.neighbors(v, direction).for_each_run(|run| f(v, run)));
        Ok(())
    }

    counts_of!(whole);
}

impl Resident for Corrected {
    fn neighbors(&self, v: VertexId, direction: Direction) -> Neighbors<'_> {
        let parts = self.lists[direction as usize].get(v.index());
        // Blocks extend beyond the last vertex.
        let Some(Parts { main, added, removed }) = parts else { return Neighbors::default() };
        Neighbors { main, added, removed }
    }
}

#[test]
fn corrections_count() {
    let mut removals = 0;
    for seed in 0..20 {
        let directed = seed % 2 == 0;
        let whole = random_graph(400, 1500, directed, 0.2, seed);
        let g = Corrected::new(whole, seed);
        removals += g.lists.iter().flatten().filter(|parts| !parts.removed.is_empty()).count();
        assert_eq!(wcc(&g).expect("ids fit"), verify::wcc(&g.whole));
        assert_eq!(triangle_count(&g).expect("ids fit"), verify::triangle_count(&g.whole));
        let source = (0..400).map(VertexId).find(|&v| g.contains(v)).expect("some are live");
        for alpha in [0, 15, u32::MAX] {
            let config = BfsConfig { alpha, beta: 1000, ..BfsConfig::default() };
            let expected = verify::bfs(&g.whole, source, Direction::Out);
            assert_eq!(bfs(&g, source, &config).expect("live"), expected);
        }
        let scores = pagerank(&g, &PageRankConfig::default()).expect("valid");
        close(&scores, &verify::pagerank(&g.whole, 0.85, 20), 1e-12).expect("scores as of the merged lists");
    }
    assert!(removals > 1000, "only {removals} lists had removals");
}

#[test]
fn corrections_count_where_vertices_are_compared_and_joined() {
    for seed in 0..20 {
        let whole = random_graph(200, 700, seed % 2 == 0, 0.2, seed);
        let g = Corrected::new(whole, seed);
        let live: Vec<VertexId> = (0..200).map(VertexId).filter(|&v| g.contains(v)).collect();
        let direction = [Direction::Out, Direction::In][seed as usize % 2];
        let found = closeness(&g, &ClosenessOf::All, direction).expect("valid");
        close(&found, &verify::closeness(&g.whole, &live, direction), 1e-12).expect("as of the merged lists");
        let config = BfsConfig { direction, ..BfsConfig::default() };
        let expected = verify::bfs_parents(&g.whole, live[0], direction);
        assert_eq!(bfs_parents(&g, live[0], &config).expect("live"), expected);
        let compared = Compared::Nearest { sources: live[..5].to_vec(), k: 7 };
        let expected = verify::jaccard(&g.whole, &compared, direction);
        assert_eq!(jaccard(&g, &compared, direction).expect("live"), expected);
        let expected = verify::maximal_matching(&g.whole);
        assert_eq!(matching(&g, MatchingSize::Maximal).expect("any graph"), expected);
    }
}

/// Threads read long lists into a common buffer, and these lists have corrections too. The graph may store
/// only one direction.
#[test]
fn long_lists_with_corrections_are_compared() {
    let leaves = 1 << 16;
    let edges: Vec<(u32, u32)> =
        (3..leaves).flat_map(|v| [(v % 3, v), (v * 7 % 3, v)]).chain([(3, 0), (4, 0), (4, 1)]).collect();
    let mut g = Corrected::new(plain_graph(leaves as usize, &edges, true), 1);
    let pairs = [(0, 1), (1, 0), (0, 2), (3, 4), (5, 6), (6, 9)].map(|(u, v)| (VertexId(u), VertexId(v)));
    let compared = Compared::Pairs(pairs.into());
    for stored in [None, Some(Direction::Out), Some(Direction::In)] {
        g.stored = stored;
        for direction in [Direction::Out, Direction::In] {
            let near = Compared::Nearest { sources: vec![VertexId(4)], k: 3 };
            let alone =
                with_threads(1, || [jaccard(&g, &near, direction), adamic_adar(&g, &near, direction)]);
            for threads in [1, 3] {
                let found = with_threads(threads, || jaccard(&g, &compared, direction)).expect("live");
                assert!(
                    found == verify::jaccard(&g.whole, &compared, direction),
                    "{stored:?} {threads} threads"
                );
                let again = with_threads(threads, || {
                    [jaccard(&g, &near, direction), adamic_adar(&g, &near, direction)]
                });
                assert!(again == alone, "{stored:?} {threads} threads");
            }
        }
    }
}
