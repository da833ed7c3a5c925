//! Tests with numbers of the top index and the footer at their limits and one beyond.

use super::*;
use crate::segment::top::{Footer, PAGE_BYTES, PageEntry, decode_top_index};
use crate::segment::totals::Totals;

const DIRECTORIES: u64 = 64 + 100;

/// Decodes a top index of one page. The directory of the page has the minimum length for its images, minus
/// `less` bytes.
fn judge(page: u32, images: u8, less: u32) -> Result<usize, &'static str> {
    let directory_len = 16 + 24 * u32::from(images) - less;
    let entry = PageEntry {
        id: PageId { label: LabelId(0), page },
        images,
        deltas: 0,
        vertices: 1,
        edges: 0,
        as_of: Timestamp(1),
        blocks: 64,
        directory: DIRECTORIES,
        directory_len,
    };
    let mut raw = Vec::new();
    entry.encode(&mut raw);
    let totals = Totals::default().add(u64::from(images), 1, 0, Timestamp(1)).unwrap();
    let footer = Footer {
        file_id: FILE,
        store: STORE,
        directories: DIRECTORIES,
        top_index: entry.directory_end().unwrap(),
        key_head: None,
        pages: 1,
        totals,
        config: config(KeyKind::Dense, false),
        top_checksum: 0,
    };
    decode_top_index(&raw, &footer).map(|pages| pages.len()).map_err(|fault| fault.what)
}

#[test]
fn pages_and_images_of_the_top_index() {
    assert_eq!(judge(0, 1, 0), Ok(1));
    assert_eq!(judge((1 << 20) - 1, 64, 0), Ok(1));
    assert_eq!(judge(1 << 20, 64, 0), Err("page out of range"));
    assert_eq!(judge(0, 0, 0), Err("number of images out of range"));
    assert_eq!(judge(0, 65, 0), Err("number of images out of range"));
    assert_eq!(judge(0, 64, 1), Err("directory too short"));
}

#[test]
fn pages_of_a_footer() {
    let judge = |pages: u64| {
        let footer = Footer {
            file_id: FILE,
            store: STORE,
            directories: 64,
            top_index: 64,
            key_head: None,
            pages,
            totals: Totals::default(),
            config: config(KeyKind::Dense, false),
            top_checksum: 0,
        };
        let mut body = Vec::new();
        footer.encode_body(&mut body);
        let read = Footer::decode_body(&body, 64 + pages * PAGE_BYTES + 128);
        read.map(|read| read == footer).map_err(|fault| fault.what)
    };
    assert_eq!(judge(1 << 36), Ok(true));
    assert_eq!(judge((1 << 36) + 1), Err("more pages than there are ids"));
}
