//! Tests of the lengths of a directory against the blocks of its page.

use super::*;
use crate::segment::block::{BLOCK_OVERHEAD, MOST_PAYLOAD};
use crate::segment::directory::{ImageEntry, decode, encode};
use crate::segment::top::PageEntry;

/// Returns an entry of subgraph `subgraph` with records of these lengths.
fn entry(subgraph: u32, topology: u16, pieces: u32, keys: u32, columns: u64) -> ImageEntry {
    let subgraph = SubgraphId(subgraph);
    ImageEntry {
        subgraph,
        as_of: Timestamp(3),
        present: 6,
        edges: 5,
        topology,
        keys,
        columns,
        pieces,
        delta: None,
    }
}

/// Decodes the directory of a page with blocks and images of these lengths. Returns the number of images, or
/// the fault.
fn judge(blocks: &[u16], images: &[ImageEntry]) -> Result<usize, &'static str> {
    let mut raw = Vec::new();
    encode(blocks, images, &mut raw);
    let page = PageEntry {
        id: PageId { label: LabelId(0), page: 0 },
        images: images.len() as u8,
        deltas: images.iter().filter(|image| image.delta.is_some()).count() as u8,
        vertices: 2 * images.len() as u32,
        edges: 5 * images.len() as u64,
        as_of: Timestamp(3),
        blocks: 64,
        directory: 0,
        directory_len: raw.len() as u32,
    };
    let end = 64 + blocks.iter().map(|len| u64::from(*len) + BLOCK_OVERHEAD as u64).sum::<u64>();
    decode(&raw, &page, end).map(|directory| directory.images.len()).map_err(|fault| fault.what)
}

#[test]
fn records_must_fill_their_blocks() {
    const DIFFER: Result<usize, &str> = Err("records that do not fill their blocks");
    let full = MOST_PAYLOAD as u16;
    let two = [entry(0, 40, 0, 0, 0), entry(9, 60, 0, 0, 0)];
    assert_eq!(judge(&[100], &two), Ok(2));
    assert_eq!(judge(&[40, 60], &two), Ok(2));
    for blocks in [&[99][..], &[101], &[50, 50], &[100, 1], &[100, 100], &[40], &[]] {
        assert_eq!(judge(blocks, &two), DIFFER, "{blocks:?}");
    }
    let cut = [entry(0, 40, 2, 0, 0), entry(9, 60, 0, 0, 0)];
    assert_eq!(judge(&[40, 7, 8, 60], &cut), Ok(2));
    for blocks in [&[40, 7, 60][..], &[41, 7, 8, 60], &[40, 60], &[40, 7, 8, 9, 60], &[100, 7, 8]] {
        assert_eq!(judge(blocks, &cut), DIFFER, "{blocks:?}");
    }
    assert_eq!(judge(&[40], &[entry(0, 40, u32::MAX, 0, 0)]), DIFFER);
    // Keys and properties begin new blocks, and so does a record that is longer than a block.
    let rich =
        [entry(0, 40, 0, 5, 0), entry(9, 60, 0, 6, 2 * MOST_PAYLOAD as u64 + 1), entry(10, 30, 0, 0, 9)];
    assert_eq!(judge(&[130, 11, full, full, 1, 9], &rich), Ok(3));
    for blocks in [
        &[130, 11, full, full, 10][..],
        &[130, 11 + 9, full, full, 1],
        &[141, full, full, 1, 9],
        &[130, 11, full, full - 1, 2, 9],
        &[130, 11, full, full, 1],
        &[130, full, full, 1, 9, 11],
        &[130, 11, full, full, 1, 9, 9],
    ] {
        assert_eq!(judge(blocks, &rich), DIFFER, "{blocks:?}");
    }
    let long = [entry(0, 40, 0, MOST_PAYLOAD as u32 + 4, (1 << 48) - 1)];
    assert_eq!(judge(&[40, full, 4, full], &long), DIFFER);
}

#[test]
fn lengths_out_of_range_are_refused() {
    let full = MOST_PAYLOAD as u16;
    assert_eq!(judge(&[full], &[entry(0, full, 0, 0, 0)]), Ok(1));
    assert_eq!(judge(&[full, 1], &[entry(0, full + 1, 0, 0, 0)]), Err("length of a record out of range"));
    assert_eq!(judge(&[23], &[entry(0, 23, 0, 0, 0)]), Err("length of a record out of range"));
    assert_eq!(judge(&[full + 1], &[entry(0, 40, 0, 0, 0)]), Err("blocks that do not fill the page"));
    assert_eq!(judge(&[0, 40], &[entry(0, 40, 0, 0, 0)]), Err("blocks that do not fill the page"));
}
