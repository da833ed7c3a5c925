use super::*;

fn key(n: u64) -> VertexKey {
    VertexKey::U64(n)
}

#[test]
fn a_vertex_takes_its_edges_and_undirected_edges_have_two_ends() {
    let config = ModelConfig { directed: false, weighted: true, keys: KeyKind::U64, rich: false };
    let mut model = Model::new(config);
    assert!(model.apply(&ModelOp::PutEdge(key(2), key(1), 0.5)));
    assert!(!model.apply(&ModelOp::InsertEdge(key(1), key(2), 9.0)));
    assert!(model.apply(&ModelOp::InsertEdge(key(2), key(2), 2.0)));
    assert_eq!(model.weight(&key(1), &key(2)), Some(0.5));
    let lists = model.neighbors(&key(2)).unwrap();
    assert_eq!(lists[0], [(key(1), 0.5), (key(2), 2.0)]);
    assert_eq!(lists[0], lists[1]);
    assert!(model.apply(&ModelOp::RemoveVertex(key(2))));
    assert_eq!((model.vertex_count(), model.edge_count()), (1, 0));
    assert!(!model.has_endpoints(&ModelOp::PutEdge(key(1), key(2), 1.0)));
}

/// The lists of all vertices at once equal the lists of each single vertex.
#[test]
fn lists_of_all_vertices_agree_with_those_of_one() {
    for config in ModelConfig::all().map(ModelConfig::with_labels) {
        let (mut model, mut generator) = (Model::new(config), Generator::new(config, 3, 0, 12));
        for _ in 0..40 {
            let ops = generator.transaction(Some(&model), 16);
            ops.iter().for_each(|op| _ = model.apply(op));
        }
        assert!(
            model.edges().any(|(src, dst, _)| src == dst)
                && model.items().any(|(item, _)| item.src == item.dst)
        );
        let all = model.all_neighbors();
        assert!(all.keys().copied().eq(model.vertices()));
        assert!(all.iter().all(|(key, lists)| model.neighbors(key).as_ref() == Some(lists)));
        for (label, incoming) in LABELS.iter().flat_map(|(label, _)| [(label, false), (label, true)]) {
            let all = model.all_neighbors_of(label, incoming);
            assert!(all.keys().copied().eq(model.vertices()));
            assert!(all.iter().all(|(key, list)| model.neighbors_of(label, key, incoming) == *list));
        }
    }
}

#[test]
fn a_seed_decides_and_all_kinds_of_operations_come() {
    for config in ModelConfig::all().flat_map(|config| [config, config.with_labels()]) {
        let draw = || {
            let (mut model, mut all) = (Model::new(config), Vec::new());
            let mut generator = Generator::new(config, 7, 0, 24);
            for _ in 0..50 {
                let ops = generator.transaction(Some(&model), 16);
                for op in &ops {
                    model.apply(op);
                }
                all.extend(ops);
            }
            (model, all)
        };
        let (model, ops) = draw();
        assert_eq!((&model, &ops), (&draw().0, &draw().1));
        let kinds: std::collections::HashSet<_> = ops.iter().map(std::mem::discriminant).collect();
        assert_eq!(kinds.len(), if config.rich { 6 } else { 5 });
        assert!(model.edge_count() > 10, "{config:?}");
    }
}
