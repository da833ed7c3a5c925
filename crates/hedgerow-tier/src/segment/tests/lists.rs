//! Tests of reading single lists: they equal the lists of the images, and take the expected number of reads.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::account::Account;
use hedgerow_core::{LocalVertex, RowRef, VertexId};
use hedgerow_io::{CorruptionKind, CountingFs, IoCounters};

use super::images::{list_image, small_images, text_image};
use super::*;
use crate::segment::image::check_part;
use crate::segment::testing::{dense_image, rich_image, weighted_image};
use crate::{Extent, FoundList, ListImage, ListQuery, ReadCache};

/// The destination, the rank, the bits of the weight and the properties of an edge.
type Edge = (VertexId, u64, Option<u64>, Option<hedgerow_core::Row>);

fn cache_of(bytes: usize) -> ReadCache {
    ReadCache::new(&Arc::new(Account::new(None)), (bytes, bytes), 0)
}

/// Returns the edges of a vertex as the image has them. Leaves out the properties unless `rows` is set.
fn edges_of(part: &AdjacencyPart, local: usize, rows: bool) -> Vec<Edge> {
    let range = part.offsets[local] as usize..part.offsets[local + 1] as usize;
    let edge = |at: usize| {
        let row = rows.then(|| RowRef::Columns(&part.columns, at).to_row()).flatten();
        let weight = part.weights.as_ref().map(|weights| weights[at].to_bits());
        (part.neighbors[at], part.ranks.as_ref().map_or(0, |ranks| ranks[at]), weight, row)
    };
    range.map(edge).collect()
}

fn expected(image: &SubgraphImage, query: &ListQuery) -> (u32, Vec<Edge>) {
    let part = image.parts.iter().find(|part| part.direction == query.direction);
    let edges = part.map_or_else(Vec::new, |part| edges_of(part, query.local.index(), query.rows));
    (edges.len() as u32, edges)
}

/// Checks that the read list equals that of the image.
fn check(image: &SubgraphImage, query: &ListQuery, found: &ListImage) {
    let (degree, all) = expected(image, query);
    let edges = found.part.as_ref().map_or_else(Vec::new, |part| {
        let only = part.offsets[query.local.index() + 1] as usize;
        assert!(only == part.neighbors.len() && part.offsets[query.local.index()] == 0);
        edges_of(part, query.local.index(), query.rows)
    });
    assert_eq!(found.present, image.present);
    match query.extent {
        Extent::Vertex => assert_eq!((found.degree, edges), (0, Vec::new())),
        Extent::Degree => assert_eq!((found.degree, edges), (degree, Vec::new())),
        Extent::Whole => assert_eq!((found.degree, edges), (degree, all)),
        Extent::Near(dst) => {
            let of_dst =
                |edges: Vec<Edge>| edges.into_iter().filter(|edge| edge.0 == dst).collect::<Vec<_>>();
            assert_eq!(found.degree, degree);
            assert_eq!(of_dst(edges), of_dst(all));
        }
    }
}

/// Returns all possible queries for the vertices of an image with lists, and for two vertices without.
fn queries(image: &SubgraphImage) -> Vec<ListQuery> {
    let has_list = |local: usize| image.parts.iter().any(|part| !part.neighbors_of(local).is_empty());
    let without = (0..64).filter(|&local| !has_list(local)).take(2);
    let mut queries = Vec::new();
    for local in (0..64).filter(|&local| has_list(local)).chain(without) {
        for direction in [Direction::Out, Direction::In] {
            let part = image.parts.iter().find(|part| part.direction == direction);
            let list = part.map_or(&[][..], |part| part.neighbors_of(local));
            let some = list.iter().step_by(list.len() / 5 + 1).chain(list.last());
            let near = some.flat_map(|v| [v.0, v.0.saturating_sub(1), v.0.saturating_add(1)]);
            let near = near.chain([0, u32::MAX - 1]).map(|v| Extent::Near(VertexId(v)));
            for extent in [Extent::Vertex, Extent::Degree, Extent::Whole].into_iter().chain(near) {
                for rows in [false, true] {
                    let local = LocalVertex(local as u8);
                    queries.push(ListQuery { image: image.id, local, direction, extent, rows });
                }
            }
        }
    }
    queries
}

/// Reads all lists of all images, with and without a cache.
fn every_list_comes_back(config: GraphConfig, images: &[SubgraphImage]) {
    let fs = SimFs::new();
    let info = write(&fs, config, images);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    for cache in [cache_of(0), cache_of(1 << 20)] {
        for image in images {
            let page = reader.find_page(image.id.page()).unwrap();
            for query in queries(image) {
                let found = reader.read_list(page, &query, &cache, &mut |_| true).unwrap().unwrap();
                check(image, &query, &found.into_image().unwrap());
            }
        }
    }
}

/// Returns the number of images with a readable list of neighbors.
pub(super) fn readable(reader: &SegmentReader, images: &[SubgraphImage]) -> usize {
    let can_be_read = |image: &&SubgraphImage| {
        let page = reader.find_page(image.id.page()).unwrap();
        let whole = |query: &ListQuery| query.extent == Extent::Whole && expected(image, query).0 > 0;
        let reads = |query: &ListQuery| reader.read_list(page, query, &cache_of(0), &mut |_| true).is_ok();
        queries(image).iter().filter(|query| whole(query)).any(reads)
    };
    images.iter().filter(can_be_read).count()
}

/// Reads lists of a file that may be forged. Asserts that each read fails with an error that names the file,
/// or returns a list that breaks no rule of an image.
pub(super) fn break_no_rule(reader: &SegmentReader, images: &[SubgraphImage]) {
    let (cache, config) = (cache_of(1 << 20), reader.config());
    for image in images {
        let Some(page) = reader.find_page(image.id.page()) else { continue };
        for query in queries(image).iter().filter(|query| query.extent == Extent::Whole) {
            match reader.read_list(page, query, &cache, &mut |_| true) {
                Ok(found) => {
                    let part = found.and_then(|found| found.into_image()?.part);
                    let broken = part.and_then(|part| check_part(&part.as_ref(), !0, &config));
                    assert_eq!(broken, None);
                }
                Err(error) => assert_eq!(error.corruption().unwrap().file, segment_name(FILE)),
            }
        }
    }
}

#[test]
fn lists_of_records_of_every_shape_come_back() {
    // Short lists, and vertices with pieces in both directions.
    every_list_comes_back(config(KeyKind::Dense, false), &[dense_image(0, 64), star_image(1, 60_000)]);
    // Weights, ranks, or both, in one record and in pieces.
    for (weights, ranks) in [(true, false), (false, true), (true, true)] {
        for (degree, step) in [(40, 900), (9_000, 40), (17_000, 3)] {
            let image = list_image(1, degree, step, weights, ranks);
            every_list_comes_back(config(KeyKind::Dense, true), &[image, dense_image(2, 3)]);
        }
    }
    // Properties in several blocks, properties of labels, and properties of vertices.
    every_list_comes_back(config(KeyKind::Dense, false), &[text_image(3, 200), dense_image(5, 9)]);
    every_list_comes_back(config(KeyKind::U64, true), &small_images());
    every_list_comes_back(config(KeyKind::U64, true), &[rich_image(), weighted_image()]);
}

/// Edges to one neighbor that differ in their ranks continue over several pieces.
#[test]
fn parallel_edges_over_several_pieces_are_found() {
    let mut image = list_image(1, 12_000, 1, false, true);
    let part = &mut image.parts[0];
    // Neighbors 3 and 5 occur thousands of times each, between other neighbors.
    part.neighbors = [(1, 2), (3, 5_500), (4, 1), (5, 6_496), (9, 1)]
        .iter()
        .flat_map(|&(v, n)| vec![VertexId(v); n])
        .collect();
    every_list_comes_back(config(KeyKind::Dense, false), &[image]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_list_of_any_segment_comes_back((config, images) in segment_strategy()) {
        every_list_comes_back(config, &images);
    }
}

#[test]
fn what_a_page_does_not_have_is_not_found() {
    let fs = SimFs::new();
    let info = write(&fs, config(KeyKind::Dense, false), &[dense_image(3, 64)]);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    let mut query = queries(&dense_image(3, 64))[2];
    for (label, subgraph) in [(0, 4), (1, 3), (0, 67)] {
        query.image = ImageId { label: LabelId(label), subgraph: SubgraphId(subgraph) };
        assert!(reader.read_list(0, &query, &cache_of(0), &mut |_| true).unwrap().is_none());
    }
    let refused = reader.read_list(1, &query, &cache_of(0), &mut |_| true);
    assert!(matches!(refused, Err(TierError::NoSuchPage { index: 1, len: 1 })));
}

/// Opens a segment of the images through a file system that counts reads.
fn counted(images: &[SubgraphImage]) -> (SegmentReader, Arc<IoCounters>) {
    let fs = SimFs::new();
    let info = write(&fs, config(KeyKind::Dense, false), images);
    let counting = CountingFs::new(fs.handle());
    let counters = counting.counters();
    (SegmentReader::open(Arc::new(counting), &info, STORE).unwrap(), counters)
}

/// A list in one block takes one read. A list in pieces takes one read for each piece and one for its head.
/// The first list takes one more read, for the directory.
#[test]
fn lists_take_a_read_for_each_block_that_they_lie_in() {
    let images: Vec<_> = (0..30).map(|id| dense_image(id, 64)).chain([star_image(40, 100_000)]).collect();
    let (reader, counters) = counted(&images);
    let cache = cache_of(4 << 20);
    let reads_of = |image: &SubgraphImage, extent, direction, cache: &ReadCache| {
        let before = counters.reads.load(Ordering::Relaxed);
        let local = LocalVertex(image.present.trailing_zeros() as u8);
        let query = ListQuery { image: image.id, local, direction, extent, rows: true };
        let found = reader.read_list(0, &query, cache, &mut |_| true).unwrap().unwrap();
        check(image, &query, &found.into_image().unwrap());
        counters.reads.load(Ordering::Relaxed) - before
    };
    let out = Direction::Out;
    assert_eq!(reads_of(&images[0], Extent::Vertex, out, &cache), 1, "the directory");
    assert_eq!(reads_of(&images[7], Extent::Vertex, out, &cache), 0);
    assert_eq!(reads_of(&images[7], Extent::Whole, out, &cache), 1, "its block");
    assert_eq!(reads_of(&images[7], Extent::Near(VertexId(9)), out, &cache), 0, "it is kept");
    let dead = ListQuery { local: LocalVertex(3), ..queries(&images[30])[2] };
    let before = counters.reads.load(Ordering::Relaxed);
    let found = reader.read_list(0, &dead, &cache, &mut |_| true).unwrap().unwrap();
    assert_eq!(found.into_image().unwrap().part, None);
    assert_eq!(counters.reads.load(Ordering::Relaxed), before, "no vertex, no read");
    let hub = &images[30];
    assert_eq!(reads_of(hub, Extent::Degree, out, &cache), 1, "its head");
    // The vertex has 100,000 neighbors in pieces of 13,104.
    let pieces = 100_000u64.div_ceil(13_104);
    for dst in [0, 1, 150_001, 299_998, 400_000] {
        let cold = cache_of(4 << 20);
        let reads = reads_of(hub, Extent::Near(VertexId(dst)), out, &cold);
        // The directory, the head, and a search of eight pieces.
        assert!((3..=2 + 4).contains(&reads), "{reads} for {dst}");
    }
    assert_eq!(reads_of(hub, Extent::Whole, out, &cache), pieces);
    assert_eq!(reads_of(hub, Extent::Whole, Direction::In, &cache), pieces);
    assert_eq!(reads_of(hub, Extent::Whole, Direction::In, &cache), 0, "kept");
    // There is no read-ahead: a read takes only the bytes of its blocks.
    let before = counters.read_bytes.load(Ordering::Relaxed);
    reads_of(&images[29], Extent::Whole, out, &cache);
    assert!(counters.read_bytes.load(Ordering::Relaxed) - before < 16 << 10);
}

/// If any byte of the file is damaged, a read returns the right list, or an error with the position. The
/// cache keeps nothing of a refused list.
#[test]
fn lists_of_a_damaged_file_are_right_or_errors() {
    let fs = SimFs::new();
    let images = small_images();
    let info = write(&fs, config(KeyKind::U64, true), &images);
    let bytes = files::bytes_of(&fs);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    let all: Vec<_> =
        images.iter().flat_map(|image| queries(image).into_iter().map(move |q| (image, q))).collect();
    let (mut refused, mut right) = (0, 0);
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 1 << (at % 8);
        fs.overwrite(&segment_name(FILE), &damaged);
        let cache = cache_of(1 << 20);
        for (image, query) in all.iter().skip(at % 7).step_by(7) {
            let page = reader.find_page(image.id.page()).unwrap();
            for _ in 0..2 {
                match reader.read_list(page, query, &cache, &mut |_| true) {
                    Ok(found) => {
                        check(image, query, &found.and_then(FoundList::into_image).unwrap());
                        right += 1;
                    }
                    Err(error) => {
                        let damage = error.corruption().unwrap();
                        assert!(
                            damage.file == segment_name(FILE) && damage.offset <= at as u64,
                            "{at}: {damage}"
                        );
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(refused > 1000 && right > 1000, "{refused} refused, {right} right");
    // Cached data from before the damage is still right. A read without the cache fails.
    fs.overwrite(&segment_name(FILE), &bytes[..100]);
    let (image, query) = all.iter().find(|(_, query)| query.extent == Extent::Whole).unwrap();
    let page = reader.find_page(image.id.page()).unwrap();
    let error = reader.read_list(page, query, &cache_of(0), &mut |_| true).unwrap_err();
    assert!(matches!(error.corruption().unwrap().kind, CorruptionKind::Truncated { .. }), "{error}");
}
