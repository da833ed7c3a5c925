//! Tests that compare C-trees with sets.

use std::collections::BTreeMap;

use hedgerow_workload::rng::Rng;

use super::*;
use crate::GraphForm;
use crate::aspen::chunk::with_run;
use crate::aspen::shape::AspenOptions;
use crate::planted::sound;

type Plain = BTreeMap<u32, f64>;

fn shape(weighted: bool, difference: bool, chunk: usize) -> Shape {
    let form = GraphForm { directed: false, weighted };
    Shape::new(form, AspenOptions { chunk, difference, ..AspenOptions::default() })
}

/// Checks that the list equals the set, and that the heads are exactly the ids that the hash chooses.
fn check(list: &CTree, plain: &Plain, shape: &Shape) {
    tree::check(&list.heads);
    let mut found = Vec::new();
    let _ = with_run(|run| {
        list.runs::<true>(shape.coding, run, &mut |targets, weights| {
            let weight = |i: usize| weights.get(i).copied().unwrap_or(1.0);
            found.extend(targets.iter().enumerate().map(|(i, target)| (target.0, weight(i))));
            ControlFlow::Continue(())
        })
    });
    assert!(found.iter().copied().eq(plain.iter().map(|(&id, &weight)| (id, weight))), "{found:?}");
    assert_eq!(list.len(), plain.len());
    let mut heads = Vec::new();
    tree::range(&list.heads, 0, u32::MAX, &mut |key, _| heads.push(key));
    assert!(heads.iter().eq(plain.keys().filter(|id| shape.is_head(**id))), "{heads:?}");
    assert!(list.targets(shape.coding).iter().map(|t| t.0).eq(plain.keys().copied()));
}

/// Returns random ids below a bound, with weights.
fn random(rng: &mut Rng, len: u64, bound: u64, weighted: bool) -> Plain {
    (0..len).map(|_| (rng.below(bound) as u32, if weighted { rng.below(5) as f64 } else { 1.0 })).collect()
}

fn of(plain: &Plain, shape: &Shape) -> CTree {
    let weights = if shape.coding.weighted { plain.values().copied().collect() } else { vec![] };
    CTree::of(&Merged { targets: plain.keys().copied().map(VertexId).collect(), weights }, shape)
}

#[test]
fn operations_are_those_of_sets() {
    let _sound = sound();
    for seed in 0..200 {
        let mut rng = Rng::new(seed);
        let (weighted, difference) = (rng.chance(0.5), rng.chance(0.7));
        let shape = shape(weighted, difference, [2, 4, 16][rng.below(3) as usize]);
        let bound = [50, 1000, 1 << 31][rng.below(3) as usize];
        let len = |rng: &mut Rng| [0, 1, 10, 300][rng.below(4) as usize];
        let (len_of_a, len_of_b) = (len(&mut rng), len(&mut rng));
        let a = random(&mut rng, len_of_a, bound, weighted);
        let b = random(&mut rng, len_of_b, bound, weighted);
        let (list, other) = (of(&a, &shape), of(&b, &shape));
        check(&list, &a, &shape);
        let mut all = a.clone();
        all.extend(&b);
        check(&union(list.clone(), other.clone(), &shape, false), &all, &shape);
        let mut rest = a.clone();
        rest.retain(|id, _| !b.contains_key(id));
        check(&difference_of(&list, &other, &shape), &rest, &shape);
        let key = a.keys().nth(a.len() / 3).copied().filter(|_| rng.chance(0.5));
        let key = key.unwrap_or(rng.below(bound) as u32);
        let (left, found, right) = list.clone().split(key, shape.coding);
        assert_eq!(found, a.get(&key).copied());
        check(&left, &a.range(..key).map(|(&id, &weight)| (id, weight)).collect(), &shape);
        check(&right, &a.range(key + 1..).map(|(&id, &weight)| (id, weight)).collect(), &shape);
        for id in a.keys().chain(b.keys()) {
            assert_eq!(list.find(VertexId(*id), shape.coding), a.get(id).copied());
        }
        // The operations did not change the lists that share nodes with their results.
        check(&list, &a, &shape);
        check(&other, &b, &shape);
    }
}

fn difference_of(list: &CTree, gone: &CTree, shape: &Shape) -> CTree {
    difference(list.clone(), gone.clone(), shape, false)
}

#[test]
fn changes_are_those_of_sets() {
    let _sound = sound();
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let weighted = rng.chance(0.5);
        let shape = shape(weighted, rng.chance(0.7), 4);
        let (mut list, mut plain) = (CTree::default(), Plain::new());
        for step in 0..60 {
            let (before, held) = (plain.clone(), list.clone());
            let count = [1, 1, 3, 7, 40][rng.below(5) as usize];
            let changes: BTreeMap<u32, Option<f64>> = (0..count)
                .map(|_| {
                    let weight = if weighted { rng.below(9) as f64 } else { 1.0 };
                    // The first steps insert more ids; the last steps remove more.
                    let inserts = rng.chance(if step < 35 { 0.8 } else { 0.2 });
                    (rng.below(200) as u32, inserts.then_some(weight))
                })
                .collect();
            for (&id, weight) in &changes {
                match weight {
                    Some(weight) => plain.insert(id, *weight),
                    None => plain.remove(&id),
                };
            }
            let change = |(&id, &weight): (&u32, &Option<f64>)| Change { target: VertexId(id), weight };
            let changes: Vec<Change> = changes.iter().map(change).collect();
            let effect = list.change(&changes, &shape, false);
            assert_eq!(effect.entries, plain.len() as i64 - before.len() as i64);
            assert!(effect.changed || plain == before, "a change is told");
            check(&list, &plain, &shape);
            check(&held, &before, &shape);
        }
    }
}
