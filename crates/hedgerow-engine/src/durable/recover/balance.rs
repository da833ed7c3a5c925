//! The check that the two copies of each edge in the images of a whole graph agree.

use std::hash::{BuildHasher, RandomState};

use hedgerow_core::{Direction, LabelId, SUBGRAPH_VERTICES, ValueRef, VertexId};
use hedgerow_tier::{AdjacencyPart, ImageId, SubgraphImage};

/// Draws two numbers that no writer of a file can know.
pub(super) fn secret() -> [u64; 2] {
    let state = RandomState::new();
    [state.hash_one(0u8), state.hash_one(1u8)]
}

/// Returns a hash of the properties of fixed width of one edge copy. In an undirected graph both copies of an
/// edge have these properties.
fn fixed_props(part: &AdjacencyPart, at: usize, secret: [u64; 2]) -> u64 {
    part.columns.iter().filter(|(_, column)| column.kind().is_fixed()).fold(0, |sum, (id, column)| {
        let bits = match column.get(at) {
            ValueRef::Bool(b) => u64::from(b),
            ValueRef::I64(n) | ValueRef::Timestamp(n) => n as u64,
            ValueRef::F64(x) => x.to_bits(),
            _ => return sum,
        };
        let x = (bits ^ secret[1]).wrapping_mul(0x9e37_79b9_7f4a_7c15 ^ u64::from(id.0) << 32 | 1);
        (sum ^ x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9 | 1)
    })
}

/// Returns a sum over the edges of an image in which the two copies of an edge cancel out: over a whole graph
/// it is zero. If two copies disagree about an edge, its weight or its properties, it is not zero (except
/// with a chance of one in 2^64). Collisions cannot be forged, since they depend on `secret`, which is drawn
/// at each opening.
pub(super) fn balance_of(image: &SubgraphImage, directed: bool, secret: [u64; 2]) -> u64 {
    let mix = |src: u32, dst: u32, label: LabelId, rank: u64, weight: f64| {
        let x = ((u64::from(src) << 32) | u64::from(dst)) ^ weight.to_bits().rotate_left(17) ^ secret[0];
        let x = x ^ (rank ^ u64::from(label.0) << 48).wrapping_mul(0xd6e8_feb8_6659_fd93);
        let x = (x ^ (x >> 31)).wrapping_mul(secret[1] | 1);
        (x ^ (x >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let ImageId { label, subgraph } = image.id;
    if label == LabelId::VERTICES {
        return 0;
    }
    let mut sum = 0u64;
    for part in &image.parts {
        for local in 0..SUBGRAPH_VERTICES {
            let v = (subgraph.0 << 6) | local as u32;
            for at in part.offsets[local] as usize..part.offsets[local + 1] as usize {
                let Some(&VertexId(u)) = part.neighbors.get(at) else { break };
                let weight = part.weights.as_ref().and_then(|w| w.get(at).copied()).unwrap_or(1.0);
                let rank = part.ranks.as_ref().and_then(|r| r.get(at).copied()).unwrap_or(0);
                let props = if directed { 0 } else { fixed_props(part, at, secret) };
                let mix = |src, dst| mix(src, dst, label, rank, weight) ^ props;
                sum = match (directed, part.direction) {
                    (true, Direction::Out) => sum.wrapping_add(mix(v, u)),
                    (true, Direction::In) => sum.wrapping_sub(mix(u, v)),
                    (false, _) if v < u => sum.wrapping_add(mix(v, u)),
                    (false, _) if v > u => sum.wrapping_sub(mix(u, v)),
                    (false, _) => sum,
                };
            }
        }
    }
    sum
}
