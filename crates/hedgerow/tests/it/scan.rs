//! All edges of a label, and properties as weights.

use std::sync::Arc;

use hedgerow::{
    ArgumentError, Direction, EdgeKey, EdgeSelection, Error, Graph, LabelOptions, PropertyType, Snapshot,
    Topology, Value, ValueRef, View,
};

fn view_weighted_by(snapshot: &Snapshot, label: &str, property: &str) -> hedgerow::Result<Arc<View>> {
    snapshot.view(&EdgeSelection::of(label).weighted_by(property, None))
}

fn road(src: u64, dst: u64) -> EdgeKey<'static> {
    EdgeKey::new("road", src, dst)
}

fn fill(graph: &Graph) {
    let options =
        LabelOptions::new().property("miles", PropertyType::F64).property("name", PropertyType::Utf8);
    graph.define_label("road", options).unwrap();
    let mut tx = graph.write().unwrap();
    for (src, dst, miles) in [(1, 2, 5.0), (3, 2, 0.5), (1, 3, 1.0), (4, 4, 2.0)] {
        let name = format!("{src}-{dst}");
        tx.put_edge_with(road(src, dst), [("miles", Value::F64(miles)), ("name", name.into())]).unwrap();
    }
    tx.put_edge((2, 9)).unwrap();
    tx.commit().unwrap();
}

#[test]
fn every_edge_comes_once_with_its_properties() {
    for directed in [true, false] {
        let graph = crate::common::small().directed(directed).in_memory().unwrap();
        fill(&graph);
        for settled in [false, true] {
            if settled {
                graph.settle().unwrap();
            }
            let s = graph.snapshot().unwrap();
            let schema = s.schema();
            let name = schema.label("road").unwrap().property("name").unwrap().id();
            let mut found = Vec::new();
            s.for_each_edge("road", |edge| {
                let ValueRef::Utf8(text) = edge.get(name) else { panic!("no name") };
                assert_eq!((edge.rank(), edge.weight()), (0, 1.0));
                found.push(text.to_owned());
            })
            .unwrap();
            found.sort();
            assert_eq!(found, ["1-2", "1-3", "3-2", "4-4"]);
        }
    }
}

#[test]
fn a_property_is_the_weight_in_both_directions() {
    for directed in [true, false] {
        let graph = crate::common::small().directed(directed).in_memory().unwrap();
        fill(&graph);
        let s = graph.snapshot().unwrap();
        let view = view_weighted_by(&s, "road", "miles").unwrap();
        assert_eq!((view.vertex_count(), view.edge_count(), view.is_directed()), (5, 4, directed));
        for key in [1u64, 2, 3, 4, 9] {
            let v = s.vertex_id(key).unwrap().unwrap();
            for direction in [Direction::Out, Direction::In] {
                let mut found = Vec::new();
                view.weighted_neighbors(v, direction)
                    .for_each(|u, w| found.push((s.vertex_key(u).unwrap().unwrap(), w)));
                found.sort_by(|a, b| a.0.cmp(&b.0));
                let edges = s.edges(key, ("road", direction)).unwrap().unwrap();
                let expected: Vec<_> = edges
                    .into_iter()
                    .map(|edge| match edge.properties[0].1 {
                        Value::F64(miles) => (edge.key, miles),
                        ref other => panic!("{other:?}"),
                    })
                    .collect();
                assert_eq!(found, expected, "{key} {direction:?}");
            }
        }
        let refused = |label: &str, property: &str| {
            view_weighted_by(&s, label, property).map(drop).unwrap_err().to_string()
        };
        assert!(refused("road", "hours").contains("has no property hours"), "{}", refused("road", "hours"));
        assert_eq!(refused("road", "name"), "property name is of type utf8: a weight must be a number");
        assert!(refused("", "weight").contains("has no property weight"), "{}", refused("", "weight"));
        assert!(matches!(
            view_weighted_by(&s, "rail", "miles"),
            Err(Error::Argument(ArgumentError::NoSuchLabel { .. }))
        ));
        let mut tx = graph.write().unwrap();
        tx.put_edge_with(road(2, 3), [("name", "new")]).unwrap();
        tx.commit().unwrap();
        let error = view_weighted_by(&graph.snapshot().unwrap(), "road", "miles").map(drop).unwrap_err();
        assert!(error.to_string().contains("has no value of property miles"), "{error}");
    }
}
