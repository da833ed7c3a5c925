//! Tests that compare trees with sets.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use hedgerow_core::VertexId;
use hedgerow_workload::rng::Rng;

use super::{Child, Node, Tree};
use crate::change::Change;
use crate::merged::Merged;
use crate::planted::sound;
use crate::rapidstore::shape::{Shape, ShortLists};

/// Returns the ids and weights that a tree holds.
fn content(tree: &Tree) -> Vec<(u32, f64)> {
    let mut all = Vec::new();
    let _ = tree.runs(&mut |targets, weights| {
        all.extend(targets.iter().enumerate().map(|(i, t)| (t.0, weights.get(i).copied().unwrap_or(1.0))));
        ControlFlow::Continue(())
    });
    all
}

/// Checks that every node branches on a deeper byte than the node above it, and that no leaf is empty or too
/// long.
fn check_node(node: &Node, shape: &Shape, is_root: bool) {
    assert!(is_root || node.children.len() > 1 || matches!(node.children[..], [Child::Leaf(_)]), "{node:?}");
    let starts: usize = node.starts.0.iter().map(|word| word.count_ones() as usize).sum();
    assert_eq!(starts, node.children.len());
    for (i, child) in node.children.iter().enumerate() {
        match child {
            Child::Leaf(leaf) => assert!(leaf.len() > 0 && leaf.len() <= shape.segment),
            Child::Node(inner) => {
                assert!(inner.depth > node.depth, "{inner:?} below {node:?}");
                assert_eq!(super::byte_at(inner.prefix, node.depth) as usize, node.starts.nth(i));
                check_node(inner, shape, false);
            }
        }
    }
}

/// Returns a random id that shares leading bytes with many other ids.
fn id(rng: &mut Rng) -> u32 {
    let mut id = 0;
    for _ in 0..4 {
        id = id << 8 | [0, 1, 2, 255, rng.below(256) as u32][rng.below(5) as usize];
    }
    id
}

#[test]
fn trees_are_sets_of_ids() {
    let _sound = sound();
    for seed in 0..50 {
        let mut rng = Rng::new(seed);
        let weighted = rng.chance(0.5);
        let segment = [2, 3, 8, 512][rng.below(4) as usize];
        let leaf_per_key = rng.chance(0.2);
        let shape =
            Shape { segment, longest_short: 0, short_lists: ShortLists::Clustered, leaf_per_key, weighted };
        let (mut tree, mut expected) = (None::<Tree>, BTreeMap::new());
        let mut older = Vec::new();
        for _ in 0..60 {
            let count = [1, 1, 1, 5, 200][rng.below(5) as usize];
            let removes = rng.chance(0.4);
            let mut changes = BTreeMap::new();
            for _ in 0..count {
                let known = expected.keys().nth(rng.below(expected.len().max(1) as u64) as usize).copied();
                let target = known.filter(|_| rng.chance(0.5)).unwrap_or_else(|| id(&mut rng));
                let weight = (!removes).then(|| if weighted { rng.below(5) as f64 } else { 1.0 });
                changes.insert(target, weight);
            }
            for (&target, &weight) in &changes {
                match weight {
                    Some(weight) => drop(expected.insert(target, weight)),
                    None => drop(expected.remove(&target)),
                }
            }
            let changes: Vec<Change> = changes
                .iter()
                .map(|(&target, &weight)| Change { target: VertexId(target), weight })
                .collect();
            let mut scratch = Merged::default();
            match &mut tree {
                Some(tree) => drop(tree.apply(&changes, &shape, &mut scratch)),
                None => {
                    scratch.merge((&[], &[]), &changes, weighted);
                    if scratch.len() > 0 {
                        tree = Some(Tree::of(&scratch, &shape));
                    }
                }
            }
            let Some(tree) = &tree else { continue };
            let all: Vec<(u32, f64)> = expected.iter().map(|(&target, &weight)| (target, weight)).collect();
            assert_eq!(content(tree), all, "seed {seed}");
            check_node(&tree.root, &shape, true);
            for target in (0..20).map(|_| id(&mut rng)).chain(expected.keys().copied().take(20)) {
                assert_eq!(
                    tree.find(VertexId(target)),
                    expected.get(&target).copied(),
                    "seed {seed}: {target:x}"
                );
            }
            if rng.chance(0.1) {
                older.push((tree.clone(), all));
            }
        }
        for (tree, all) in older {
            assert_eq!(content(&tree), all, "an older version, seed {seed}");
        }
    }
}
