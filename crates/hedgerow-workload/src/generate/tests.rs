//! Tests of the shape and the stability of generated graphs.

use super::{EdgeList, kron, shuffle, uniform};
use crate::rng::{Rng, mix};

fn degrees(graph: &EdgeList) -> Vec<u32> {
    let mut degrees = vec![0; graph.vertices];
    graph.edges.iter().for_each(|&(u, v)| {
        degrees[u as usize] += 1;
        degrees[v as usize] += 1;
    });
    degrees
}

fn digest(graph: &EdgeList) -> u64 {
    graph.edges.iter().fold(0, |hash, &(u, v)| mix(hash ^ (u64::from(u) << 32 | u64::from(v))))
}

#[test]
fn edges_are_unique_ascending_without_loops() {
    for graph in [kron(10, 16, 1), uniform(10, 16, 1), kron(0, 4, 1), uniform(0, 4, 1), uniform(1, 4, 1)] {
        assert!(!graph.directed);
        assert!(graph.edges.windows(2).all(|w| w[0] < w[1]));
        assert!(graph.edges.iter().all(|&(u, v)| u < v && (v as usize) < graph.vertices));
    }
}

#[test]
fn kron_is_skewed_and_uniform_is_not() {
    let (skewed, flat) = (degrees(&kron(14, 16, 1)), degrees(&uniform(14, 16, 1)));
    let max = |d: &[u32]| d.iter().max().copied().unwrap_or(0);
    let isolated = |d: &[u32]| d.iter().filter(|&&d| d == 0).count();
    assert!(max(&skewed) > 2000, "largest degree {}", max(&skewed));
    assert!(max(&flat) < 80, "largest degree {}", max(&flat));
    assert!(isolated(&skewed) > 2000 && isolated(&flat) == 0);
    // The ids are permuted, so the hubs are not all at the front.
    let front = skewed[..skewed.len() / 2].iter().map(|&d| u64::from(d)).sum::<u64>();
    let all = skewed.iter().map(|&d| u64::from(d)).sum::<u64>();
    assert!((0.4..0.6).contains(&(front as f64 / all as f64)));
}

#[test]
fn seeds_fix_graphs_for_ever() {
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().expect("a pool");
    let many = rayon::ThreadPoolBuilder::new().num_threads(5).build().expect("a pool");
    assert_eq!(alone.install(|| kron(13, 16, 3)), many.install(|| kron(13, 16, 3)));
    assert_ne!(digest(&kron(8, 16, 1)), digest(&kron(8, 16, 2)));
    let found = [digest(&kron(10, 16, 42)), digest(&uniform(10, 16, 42))];
    assert_eq!(found, FIXED, "a seed must give the same graph in every version");
    let mut items: Vec<u32> = (0..10).collect();
    shuffle(&mut items, 42);
    assert_eq!(items, SHUFFLED);
    let mut empty: [u32; 0] = [];
    shuffle(&mut empty, 1);
}

const FIXED: [u64; 2] = [12_595_788_171_314_123_027, 16_044_553_030_793_836_930];
const SHUFFLED: [u32; 10] = [1, 0, 9, 4, 2, 7, 5, 8, 6, 3];

#[test]
fn random_numbers_stay_in_range_and_spread() {
    let mut rng = Rng::new(9);
    let mut counts = [0; 7];
    (0..70_000).for_each(|_| counts[rng.below(7) as usize] += 1);
    assert!(counts.iter().all(|c| (9_500..10_500).contains(c)), "{counts:?}");
    assert_eq!(rng.below(0), 0);
    let mean = (0..10_000).map(|_| rng.unit()).sum::<f64>() / 10_000.0;
    assert!((0.48..0.52).contains(&mean));
    assert_ne!(Rng::part(1, 1).next_u64(), Rng::part(1, 2).next_u64());
}
