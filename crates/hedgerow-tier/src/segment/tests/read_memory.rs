//! Tests of the memory that reads request: it equals the memory that they take, and each byte is requested
//! once.

use std::cell::Cell;

use hedgerow_core::LocalVertex;
use hedgerow_core::account::Account;

use super::images::{list_image, small_images, text_image};
use super::*;
use crate::{Extent, ListQuery, ReadCache, ReadMemory, SubgraphRecord};

/// Returns the bytes of the values of properties, without the index of the columns.
fn bytes_of_columns(part: &AdjacencyPart) -> usize {
    part.columns.iter().map(|(_, column)| column.bytes()).sum()
}

/// Returns the bytes of the lists and of the values of an image.
fn bytes_of(image: &SubgraphImage) -> (usize, usize) {
    let parts = || image.parts.iter();
    let weights = parts().map(|part| part.weights.as_ref().map_or(0, |weights| weights.capacity() * 8));
    let lists = parts().map(|part| part.neighbors.capacity() * 4).sum::<usize>() + weights.sum::<usize>();
    let ranks = parts().map(|part| part.ranks.as_ref().map_or(0, |ranks| ranks.capacity() * 8));
    (lists, parts().map(bytes_of_columns).sum::<usize>() + ranks.sum::<usize>())
}

/// The memory that a decoder may request in addition: room after a list, flags and offsets of columns, and
/// number keys of 64 vertices.
const BESIDE: usize = 2 * 64 * 16 + 8 * 1024;

/// Reads the images in order and one by one. Asserts for each image that the requested memory fits its size.
fn asks_for_what_it_takes(config: GraphConfig, images: &[SubgraphImage]) {
    let fs = SimFs::new();
    let info = write(&fs, config, images);
    let reader = SegmentReader::open(fs.handle(), &info, STORE).unwrap();
    let (lists, values, buffers) = (Cell::new(0_usize), Cell::new(0_usize), Cell::new(0_usize));
    let mut has = |memory| {
        match memory {
            ReadMemory::Buffers(bytes) => buffers.set(bytes as usize),
            ReadMemory::Image(bytes) => lists.set(lists.get() + bytes as usize),
            ReadMemory::Values(bytes) | ReadMemory::Copy(bytes) => values.set(values.get() + bytes as usize),
        }
        true
    };
    let asked_enough = |image: &SubgraphImage| {
        let (asked_lists, asked_values) = (lists.take(), values.take());
        let (of_lists, of_values) = bytes_of(image);
        let id = image.id.subgraph;
        assert!(
            of_lists <= asked_lists && asked_lists <= of_lists + BESIDE,
            "{id:?}: lists {of_lists}, {asked_lists}"
        );
        assert!(
            of_values <= asked_values && asked_values <= of_values + BESIDE,
            "{id:?}: values {of_values}, {asked_values}"
        );
        let columns = image.parts.iter().map(bytes_of_columns).sum::<usize>();
        if columns > 1 << 17 {
            assert!(buffers.get() >= columns, "the record is put together: {columns}, {}", buffers.get());
        }
    };
    let of_pages: u64 = (0..reader.page_count()).map(|page| reader.bytes_of_page(page)).sum();
    assert!(
        of_pages < info.bytes && reader.bytes_of_page(reader.page_count()) == 0,
        "{of_pages} of {info:?}"
    );
    for page in 0..reader.page_count() {
        let read = reader.read_records(
            page,
            |_| true,
            &mut has,
            |record| {
                asked_enough(&record.into_image().unwrap());
                Ok::<(), TierError>(())
            },
        );
        read.unwrap();
    }
    let cache = ReadCache::new(&std::sync::Arc::new(Account::new(None)), (0, 0), 0);
    for image in images {
        let page = reader.find_page(image.id.page()).unwrap();
        let read = reader.read_record(page, image.id, &cache, &mut has).unwrap();
        asked_enough(&read.and_then(SubgraphRecord::into_image).unwrap());
        // Twice the record of properties, and the share of one list, which may be the whole record.
        if image.parts.iter().any(|part| bytes_of_columns(part) > 1 << 17) {
            let query = ListQuery {
                image: image.id,
                local: LocalVertex(image.present.trailing_zeros() as u8),
                direction: Direction::Out,
                extent: Extent::Whole,
                rows: true,
            };
            reader.read_list(page, &query, &cache, &mut has).unwrap().unwrap();
            let (of_values, asked) = (bytes_of(image).1, values.take());
            assert!(2 * of_values <= asked && asked <= 3 * of_values + BESIDE, "{of_values}, {asked}");
            lists.take();
        }
    }
}

#[test]
fn reads_ask_for_each_byte_that_they_take_once() {
    asks_for_what_it_takes(config(KeyKind::Dense, false), &[text_image(1, 3000), text_image(3, 200)]);
    let cut = [list_image(1, 90_000, 7, false, true), list_image(4, 9, 7, false, true)];
    asks_for_what_it_takes(config(KeyKind::Dense, false), &cut);
    let weighted = [list_image(1, 90_000, 7, true, false), list_image(4, 9, 7, true, false)];
    asks_for_what_it_takes(config(KeyKind::Dense, true), &weighted);
    asks_for_what_it_takes(config(KeyKind::U64, true), &small_images());
}
