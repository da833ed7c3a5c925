//! Tests of reads of images in several segments: the newest image is valid in each kind of read.

use std::collections::BTreeMap;

use hedgerow_core::{Direction, LocalVertex, Timestamp, VertexId};
use hedgerow_tier::{Extent as ImageExtent, ImageId, ListQuery, TierError};

use crate::sources::testing::model::{Model, WholeImages};
use crate::sources::testing::stack::{Layer, Stack};
use crate::sources::testing::{Change, Edge, image, sound};
use crate::sources::{ChainId, Identity, Sources, WordKind};

const VERTEX: LocalVertex = LocalVertex(3);

/// The images of three segments, oldest first, each as (label, subgraph). In segment number `n`, from 1 on,
/// each image has the timestamp `n`, and its vertex has `n` neighbors.
const SEGMENTS: [&[(u16, u32)]; 3] =
    [&[(0, 0), (0, 1), (0, 2), (0, 70), (1, 0)], &[(0, 1), (1, 0)], &[(0, 0), (0, 1)]];

/// Adds a segment with these images as of `as_of`. Each image has `degree` edges.
fn add(stack: &mut Stack, images: &[(u16, u32)], degree: u32, as_of: Timestamp) -> Result<(), TierError> {
    let (mut state, edge) = (Model::default(), Edge { weight: 1.0, row: None });
    let images: Vec<ImageId> = images.iter().map(|&(label, subgraph)| image(label, subgraph)).collect();
    for &image in &images {
        state.apply(&Change::Vertex { image, local: VERTEX, exists: true });
        for other in (0..degree).map(VertexId) {
            let (chain, at) =
                (ChainId::new(image, Direction::Out), Identity { local: VERTEX, other, rank: 0 });
            state.apply(&Change::Edge { chain, at, kind: WordKind::Put, edge: edge.clone() });
        }
    }
    stack.add_segment(&WholeImages { state, images: images.into_iter().collect() }, as_of)
}

fn stack() -> Stack {
    let mut stack = Stack::new();
    for (images, number) in SEGMENTS.into_iter().zip(1..) {
        add(&mut stack, images, number, Timestamp(number.into())).unwrap();
    }
    stack
}

fn sources(stack: &Stack) -> &Sources {
    match stack.layers.as_slice() {
        [Layer::Segments(sources)] => sources,
        other => panic!("{other:?}"),
    }
}

/// Returns the timestamp of the valid image of each id.
fn newest() -> BTreeMap<ImageId, u64> {
    let images =
        SEGMENTS.into_iter().zip(1..).flat_map(|(images, at)| images.iter().map(move |of| (*of, at)));
    images.map(|((label, subgraph), at)| (image(label, subgraph), at)).collect()
}

fn list(image: ImageId, extent: ImageExtent) -> ListQuery {
    ListQuery { image, local: VERTEX, direction: Direction::Out, extent, rows: false }
}

#[test]
fn the_newest_image_is_valid_in_each_read() {
    let _sound = sound();
    let stack = stack();
    let (sources, cache, newest) = (sources(&stack), &stack.cache, newest());
    let (mut of_pages, mut of_summaries) = (BTreeMap::new(), BTreeMap::new());
    for page in sources.pages() {
        let read = sources.read_page(page, |image, file| {
            assert_eq!(file, format!("seg-{:016}.csr", image.as_of.0 + 1).as_str());
            of_pages.insert(image.id, image.as_of.0);
            Ok::<_, TierError>(())
        });
        read.unwrap();
        of_summaries.extend(sources.summaries(page).unwrap().iter().map(|image| (image.id, image.as_of.0)));
    }
    assert_eq!((&of_pages, &of_summaries), (&newest, &newest));
    let mut of_all = BTreeMap::new();
    let all = sources.for_each_summary(|_, image| of_all.extend([(image.id, image.as_of.0)]));
    all.unwrap();
    assert_eq!(of_all, newest);
    for (&id, &number) in &newest {
        let (image, _) = sources.read_image(id, cache, &mut |_| true).unwrap().unwrap();
        assert_eq!(image.as_of.0, number);
        for extent in [ImageExtent::Degree, ImageExtent::Whole, ImageExtent::Near(VertexId(0))] {
            let (found, _) = sources.read_list(&list(id, extent), cache, &mut |_| true).unwrap().unwrap();
            assert_eq!((u64::from(found.degree), found.present), (number, VERTEX.bit()));
        }
    }
    assert!(sources.read_image(image(0, 5), cache, &mut |_| true).unwrap().is_none());
    assert!(
        sources.read_list(&list(image(1, 1), ImageExtent::Whole), cache, &mut |_| true).unwrap().is_none()
    );
}

#[test]
fn only_wanted_images_are_read_and_each_once() {
    let _sound = sound();
    let stack = stack();
    let (page, mut found) = (image(0, 0).page(), Vec::new());
    let read = sources(&stack).read_images((page, 0b10), &mut |_| true, |image, _| {
        found.push((image.id.subgraph.0, image.as_of.0));
        Ok::<_, TierError>(())
    });
    read.unwrap();
    assert_eq!(found, [(1, 3)]);
    let before = stack.fs.read_count();
    let read =
        sources(&stack).read_images((page, 0), &mut |_| true, |_, _| Err(TierError::NoRoom { needed: 1 }));
    read.unwrap();
    assert_eq!(stack.fs.read_count(), before);
}

/// A read of a list reads one directory and one block of the segment that has the valid image. If newer
/// segments have the page but not the image, it also reads one directory of each. It reads nothing of older
/// segments.
#[test]
fn a_list_takes_a_directory_of_each_newer_segment_and_one_block() {
    let _sound = sound();
    for (id, reads) in [(image(0, 1), 2), (image(0, 2), 4), (image(1, 0), 2), (image(0, 70), 2)] {
        let stack = stack();
        let before = stack.fs.read_count();
        let query = list(id, ImageExtent::Whole);
        sources(&stack).read_list(&query, &stack.cache, &mut |_| true).unwrap();
        assert_eq!(stack.fs.read_count() - before, reads, "{id}");
        // The cache has the directories and the block now, so the second read reads no file.
        sources(&stack).read_list(&query, &stack.cache, &mut |_| true).unwrap();
        assert_eq!(stack.fs.read_count() - before, reads, "{id}");
    }
}

#[test]
fn an_image_that_is_later_than_the_one_in_a_newer_segment_is_damage() {
    let _sound = sound();
    let mut stack = Stack::new();
    for as_of in [5, 3] {
        add(&mut stack, &[(0, 0)], 1, Timestamp(as_of)).unwrap();
    }
    let error = sources(&stack).for_each_summary(|_, _| ()).unwrap_err();
    assert!(error.to_string().contains("an image later than the one in a newer segment"), "{error}");
}
