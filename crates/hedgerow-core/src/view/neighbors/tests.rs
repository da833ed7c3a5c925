use super::*;
use crate::view::WeightedNeighbors;

fn ids(list: &[u32]) -> Vec<VertexId> {
    list.iter().copied().map(VertexId).collect()
}

/// Returns triples of main entries, added entries and removed entries. For each pair of lists, each sublist
/// of the main entries is removed once.
fn cases() -> Vec<(Vec<u32>, Vec<u32>, Vec<u32>)> {
    let lists: [&[u32]; 6] = [&[], &[1], &[1, 1], &[1, 2, 5], &[2, 2, 2, 7], &[1, 1, 3, 3, 3, 9]];
    let mut cases = Vec::new();
    for main in lists {
        for added in lists {
            for mask in 0..1u32 << main.len() {
                let removed = (0..main.len()).filter(|i| mask >> i & 1 != 0).map(|i| main[i]).collect();
                cases.push((main.to_vec(), added.to_vec(), removed));
            }
        }
    }
    cases
}

fn expected(main: &[u32], added: &[u32], removed: &[u32]) -> Vec<u32> {
    let mut all = main.to_vec();
    for r in removed {
        let at = all.iter().position(|x| x == r).expect("part of main");
        all.remove(at);
    }
    all.extend(added);
    all.sort_unstable();
    all
}

#[test]
fn every_access_agrees_on_multisets() {
    let mut buffer = Vec::new();
    for (main, added, removed) in cases() {
        let whole = expected(&main, &added, &removed);
        let (main, added, removed) = (ids(&main), ids(&added), ids(&removed));
        let neighbors = Neighbors { main: &main, added: &added, removed: &removed };
        let case = format!("{neighbors:?}");
        assert_eq!(neighbors.len(), whole.len(), "{case}");
        assert_eq!(neighbors.is_empty(), whole.is_empty(), "{case}");
        assert_eq!(neighbors.iter().map(|v| v.0).collect::<Vec<_>>(), whole, "{case}");
        assert_eq!(neighbors.sorted(&mut buffer), ids(&whole), "{case}");
        for v in 0..11 {
            assert_eq!(neighbors.contains(VertexId(v)), whole.contains(&v), "{v} in {case}");
        }
        let mut seen = Vec::new();
        neighbors.for_each(|v| seen.push(v.0));
        seen.sort_unstable();
        assert_eq!(seen, whole, "{case}");
        let mut seen = Vec::new();
        let done = neighbors.try_for_each(|v| {
            seen.push(v.0);
            if seen.len() < 3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        assert_eq!((seen.len(), done.is_break()), (whole.len().min(3), whole.len() >= 3), "{case}");
    }
}

#[test]
fn weights_follow_their_edges() {
    let main = ids(&[1, 3, 5, 7]);
    let (added, removed) = (ids(&[2, 9]), ids(&[5]));
    let neighbors = Neighbors { main: &main, added: &added, removed: &removed };
    let weighted = WeightedNeighbors {
        neighbors,
        main: &[0.1, 0.3, 0.5, 0.7],
        added: &[0.2, 0.9],
        updated: &[(101, 3.0), (102, 5.0)],
        first: 100,
    };
    let mut seen = Vec::new();
    weighted.for_each(|v, w| seen.push((v.0, w)));
    assert_eq!(seen, [(1, 0.1), (3, 3.0), (7, 0.7), (2, 0.2), (9, 0.9)]);
    seen.clear();
    weighted.for_each_sorted(|v, w| seen.push((v.0, w)));
    assert_eq!(seen, [(1, 0.1), (2, 0.2), (3, 3.0), (7, 0.7), (9, 0.9)]);
    assert!(weighted.as_slices().is_none());
    assert_eq!(weighted.len(), 5);

    let one_by_one = |list: WeightedNeighbors<'_>| {
        let weight = |v| list.weight_of(VertexId(v)).map(|weight| (v, weight));
        (0..11).filter_map(weight).collect::<Vec<_>>()
    };
    assert_eq!(one_by_one(weighted), seen);

    // The weight of a removed edge was updated before the removal.
    let gone = WeightedNeighbors { updated: &[(100, 1.5), (102, 5.0), (103, 7.5)], ..weighted };
    seen.clear();
    gone.for_each(|v, w| seen.push((v.0, w)));
    assert_eq!(seen, [(1, 1.5), (3, 0.3), (7, 7.5), (2, 0.2), (9, 0.9)]);
    assert_eq!(one_by_one(gone), [(1, 1.5), (2, 0.2), (3, 0.3), (7, 7.5), (9, 0.9)]);

    let plain = WeightedNeighbors::from_slices(&main, &[]);
    seen.clear();
    plain.for_each(|v, w| seen.push((v.0, w)));
    assert_eq!(seen, [(1, 1.0), (3, 1.0), (5, 1.0), (7, 1.0)]);
    assert_eq!(one_by_one(plain), seen);
    assert_eq!(plain.as_slices(), Some((main.as_slice(), [].as_slice())));
}
