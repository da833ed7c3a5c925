//! Images for tests, of one label each.

use std::collections::BTreeMap;

use hedgerow_core::{Columns, Direction, GraphConfig, KeyKind, LabelId, PropertyId, Row, Timestamp, Value};
use proptest::collection::btree_map;
use proptest::prelude::*;

use crate::id::PAGE_SUBGRAPHS;
use crate::segment::degrees::degree_mask;
use crate::segment::testing::{
    self, config_strategy, dense_image, id_of, keys_strategy, part, part_strategy,
};
use crate::segment::{AdjacencyPart, ImageKeys, SubgraphImage};

/// Generates a configuration and valid images, ascending by label and subgraph. The images are near each
/// other, on few pages, or far apart.
pub(super) fn segment_strategy() -> impl Strategy<Value = (GraphConfig, Vec<SubgraphImage>)> {
    config_strategy().prop_flat_map(|config| {
        let label =
            prop_oneof![4 => Just(0), 2 => 1u16..3, 1 => any::<u16>(), 1 => Just(LabelId::VERTICES.0)];
        let subgraph =
            prop_oneof![4 => 0u32..3 * PAGE_SUBGRAPHS, 1 => 0u32..1 << 26, 1 => Just((1u32 << 26) - 1)];
        btree_map((label, subgraph), any::<bool>(), 0..12).prop_flat_map(move |ids: BTreeMap<_, _>| {
            let ids = ids.into_keys();
            let images: Vec<_> = ids.map(|(label, id)| image_strategy(config, label, id)).collect();
            (Just(config), images)
        })
    })
}

fn image_strategy(config: GraphConfig, label: u16, id: u32) -> impl Strategy<Value = SubgraphImage> {
    let directions = (any::<bool>(), any::<bool>(), any::<bool>());
    (any::<u64>(), any::<u64>(), any::<u64>(), directions).prop_flat_map(
        move |(as_of, present, thin, (out, incoming, weighted))| {
            let present = (present & thin) & if id == (1 << 26) - 1 { !0 >> 1 } else { !0 };
            let directions = [(out, Direction::Out), (incoming, Direction::In)];
            let parts: Vec<_> = directions
                .into_iter()
                .filter(|(has, _)| *has && present != 0)
                .map(|(_, direction)| part_strategy(direction, present, config.weighted && weighted))
                .collect();
            let kind = if label == 0 { config.keys } else { KeyKind::Dense };
            (keys_strategy(kind, present.count_ones() as usize), parts)
                .prop_map(move |(keys, parts)| image_of(label, id, as_of, present, keys, parts))
        },
    )
}

/// Returns an image. If its label is not the default one, only vertices with neighbors are present.
fn image_of(
    label: u16,
    id: u32,
    as_of: u64,
    present: u64,
    keys: ImageKeys,
    parts: Vec<AdjacencyPart>,
) -> SubgraphImage {
    let with_neighbors = parts.iter().fold(0, |mask, part| mask | degree_mask(&part.offsets));
    let keys = match keys {
        // Without keys, keys of several kinds look the same in a file as keys of the graph's type.
        ImageKeys::Kinds(keys) if keys.is_empty() => return image_without_vertices(label, id, as_of),
        keys => keys,
    };
    SubgraphImage {
        id: id_of(label, id),
        as_of: Timestamp(as_of),
        present: if label == 0 { present } else { with_neighbors },
        keys,
        parts,
    }
}

fn image_without_vertices(label: u16, id: u32, as_of: u64) -> SubgraphImage {
    let (id, as_of) = (id_of(label, id), Timestamp(as_of));
    SubgraphImage { id, as_of, present: 0, keys: ImageKeys::Dense, parts: Vec::new() }
}

/// Returns a vertex with `count` neighbors. Each edge has a text of 1,000 bytes, an id and a rank.
pub(super) fn text_image(id: u32, count: u32) -> SubgraphImage {
    let list: Vec<u32> = (0..count).collect();
    let text = |i: u32| Value::from(format!("{i:01000}").as_str());
    let rows: Vec<Option<Row>> = (0..count)
        .map(|i| Row::new(vec![(PropertyId(1), Value::I64(i64::from(i))), (PropertyId(7), text(i))]))
        .collect();
    let mut out = part(Direction::Out, &[(5, &list)]);
    out.columns = Columns::of_rows(rows.iter().map(|row| row.as_ref().into()));
    out.ranks = Some((0..u64::from(count)).collect());
    SubgraphImage { present: 1 << 5, parts: vec![out], ..dense_image(id, 0) }
}

/// Returns a vertex with `degree` outgoing neighbors at distances of `step`, with weights and ranks if
/// requested.
pub(super) fn list_image(id: u32, degree: u32, step: u32, weights: bool, ranks: bool) -> SubgraphImage {
    let list: Vec<u32> = (0..degree).map(|i| i * step).collect();
    let mut out = part(Direction::Out, &[(5, &list)]);
    out.weights = weights.then(|| (0..degree).map(f64::from).collect());
    out.ranks = ranks.then(|| (0..u64::from(degree)).collect());
    SubgraphImage { present: 1 << 5, parts: vec![out], ..dense_image(id, 0) }
}

/// Returns images of three labels, with two pages in the first label. They have keys, weights, ranks and
/// properties.
pub(super) fn small_images() -> Vec<SubgraphImage> {
    let (mut near, mut far) = (testing::weighted_image(), testing::weighted_image());
    near.keys = ImageKeys::U64(vec![u64::MAX, 8, 9]);
    (far.id, far.keys) = (id_of(0, 77), ImageKeys::U64(vec![5, 6, 7]));
    let mut labelled = testing::rich_image();
    labelled.id.label = LabelId(2);
    (labelled.present, labelled.keys) = (1 << 1, ImageKeys::Dense);
    let mut of_vertices = labelled.clone();
    of_vertices.id.label = LabelId::VERTICES;
    vec![testing::rich_image(), near, far, labelled, of_vertices]
}

/// Returns `count` subgraphs of `vertices` vertices with number keys.
pub(super) fn keyed_images(count: u32, vertices: usize) -> Vec<SubgraphImage> {
    (0..count)
        .map(|id| SubgraphImage {
            keys: ImageKeys::U64((0..vertices as u64).map(|key| key * 3 + u64::from(id)).collect()),
            ..dense_image(id, vertices)
        })
        .collect()
}
