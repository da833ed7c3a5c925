//! Images of all labels.

use std::collections::BTreeSet;

use hedgerow_core::{Direction, GraphConfig, LabelId, SubgraphId, Timestamp};
use proptest::collection::{btree_map, btree_set};
use proptest::prelude::*;

use crate::segment::testing::{self, config_strategy, keys_strategy, part_strategy};
use crate::segment::{ImageScope, SubgraphImage};

fn of_all_labels(image: SubgraphImage) -> SubgraphImage {
    SubgraphImage { scope: ImageScope::AllLabels, ..image }
}

pub(super) fn dense_image(id: u32, vertices: usize) -> SubgraphImage {
    of_all_labels(testing::dense_image(id, vertices))
}

pub(super) fn star_image(id: u32, degree: u32) -> SubgraphImage {
    of_all_labels(testing::star_image(id, degree))
}

/// With a part of another label than the default one.
pub(super) fn weighted_image() -> SubgraphImage {
    with_label(3, testing::weighted_image())
}

/// With a part of another label than the default one.
pub(super) fn rich_image() -> SubgraphImage {
    with_label(2, testing::rich_image())
}

fn with_label(label: u16, mut image: SubgraphImage) -> SubgraphImage {
    image.parts.iter_mut().for_each(|part| part.label = LabelId(label));
    of_all_labels(image)
}

/// Any configuration with any subgraphs that it allows, ascending.
pub(super) fn segment_strategy() -> impl Strategy<Value = (GraphConfig, Vec<SubgraphImage>)> {
    config_strategy().prop_flat_map(|config| {
        let ids = btree_set(0u32..1 << 26, 0..8);
        ids.prop_flat_map(move |ids: BTreeSet<u32>| {
            let images: Vec<_> = ids.into_iter().map(|id| image_strategy(config, id)).collect();
            (Just(config), images)
        })
    })
}

fn image_strategy(config: GraphConfig, id: u32) -> impl Strategy<Value = SubgraphImage> {
    let parts = btree_map((any::<u16>(), any::<bool>()), any::<bool>(), 0..4);
    (any::<u64>(), any::<u64>(), any::<u64>(), parts).prop_flat_map(move |(as_of, present, thin, parts)| {
        let present = (present & thin) & if id == (1 << 26) - 1 { !0 >> 1 } else { !0 };
        let parts = if present == 0 { Default::default() } else { parts };
        let parts: Vec<_> = parts
            .into_iter()
            .map(|((label, reverse), weighted)| {
                let direction = if reverse { Direction::In } else { Direction::Out };
                part_strategy(label, direction, present, config.weighted && weighted)
            })
            .collect();
        let as_of = Timestamp(as_of);
        (keys_strategy(config.keys, present.count_ones() as usize), parts).prop_map(move |(keys, parts)| {
            SubgraphImage { id: SubgraphId(id), scope: ImageScope::AllLabels, as_of, present, keys, parts }
        })
    })
}
