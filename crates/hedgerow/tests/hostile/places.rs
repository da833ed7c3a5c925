//! The places of numbers in files, according to the pages in `docs/format`, with forbidden values.

/// Offset, width and name of a number.
pub(crate) type Place = (usize, usize, &'static str);

const MAX: u64 = u64::MAX;

/// The header of any file.
pub(crate) const HEADER: [(Place, &[u64]); 9] = [
    ((0, 8, "magic"), &[0, 1, MAX]),
    ((8, 2, "kind"), &[0, 4, 9, 65535]),
    ((10, 2, "major version"), &[3, 99, 65535]),
    ((20, 4, "features to write"), &[1, 1 << 31]),
    ((24, 4, "features to read"), &[1, 0xffff_ffff]),
    ((32, 8, "store"), &[0, MAX]),
    ((40, 8, "rest of store"), &[0, MAX]),
    ((48, 8, "file id"), &[0, 77, MAX]),
    ((8, 2, "kind of another file"), &[7]),
];

/// The fixed part of a manifest with one segment and one log.
pub(crate) const MANIFEST: [(Place, &[u64]); 15] = [
    ((64, 8, "number"), &[0, 1 << 40, MAX]),
    ((72, 1, "key type"), &[3, 255]),
    ((73, 1, "flags of the graph"), &[8, 255]),
    ((74, 2, "reserved"), &[1, 65535]),
    ((76, 4, "next vertex id"), &[0, 1]),
    ((80, 8, "checkpoint"), &[0, 1, 1 << 56, MAX]),
    ((88, 8, "durable position"), &[1 << 40, MAX]),
    ((96, 8, "next file id"), &[0, 1]),
    ((104, 4, "number of segments"), &[0, 2, 1 << 20, 0xffff_ffff]),
    ((108, 4, "number of logs"), &[0, 1 << 20, 0xffff_ffff]),
    ((112, 4, "number of sections"), &[17, 1 << 20, 0xffff_ffff]),
    ((116, 4, "reserved"), &[1, 0xffff_ffff]),
    ((120, 8, "segment's file id"), &[0, 9, MAX]),
    ((136, 8, "segment's size"), &[0, 1, 1 << 40, MAX]),
    ((160, 8, "segment's subgraphs"), &[0, 1 << 40, MAX]),
];

/// Further numbers in the entry of a segment.
pub(crate) const SEGMENT_ENTRY: [(Place, &[u64]); 14] = [
    ((129, 1, "segment's reserved bytes"), &[1, 2, 255]),
    ((130, 4, "segment's reserved bytes"), &[1, 0xffff_ffff]),
    ((134, 2, "segment's reserved bytes"), &[1, 65535]),
    ((168, 8, "segment's vertices"), &[0, 1 << 40, MAX]),
    ((176, 8, "segment's edges"), &[0, 1 << 40, MAX]),
    ((184, 8, "segment's timestamp"), &[0, 1 << 40, MAX]),
    ((192, 2, "segment's first label"), &[1, 65534, 65535]),
    ((194, 2, "segment's reserved bytes"), &[1, 65535]),
    ((196, 4, "segment's first page"), &[1, 1 << 20, 0xffff_ffff]),
    ((200, 2, "segment's last label"), &[0, 77, 65534]),
    ((202, 2, "segment's reserved bytes"), &[1, 65535]),
    ((204, 4, "segment's last page"), &[1, 1 << 20, 0xffff_ffff]),
    ((208, 8, "segment's reserved bytes"), &[1, MAX]),
    ((216, 8, "segment's reserved bytes"), &[1, MAX]),
];

/// The entry of a log segment, after one entry of a segment.
pub(crate) const LOG_ENTRY: [(Place, &[u64]); 2] = [
    ((224, 8, "log's file id"), &[0, 1, 1 << 40, MAX]),
    ((232, 8, "log's first position"), &[1, 7, 1 << 40, MAX]),
];

/// The preamble of a log segment.
pub(crate) const PREAMBLE: [(Place, &[u64]); 7] = [
    ((64, 8, "base"), &[1, 1 << 40, 1 << 62, MAX]),
    ((72, 8, "previous checksum"), &[1, MAX]),
    ((80, 8, "previous segment"), &[77, MAX]),
    ((88, 8, "last timestamp"), &[1 << 40, MAX]),
    ((96, 8, "allocated"), &[0, 1 << 62, MAX]),
    ((104, 8, "reserved"), &[1]),
    ((112, 8, "reserved"), &[MAX]),
];

/// The frame of a record, from its beginning.
pub(crate) const FRAME: [(Place, &[u64]); 5] = [
    ((0, 4, "length"), &[0, 1, 1 << 20, 1 << 28, 0xffff_ffff]),
    ((4, 4, "type"), &[0, 2, 3, 4, 0xffff_ffff]),
    ((8, 8, "position"), &[0, 8, 1 << 40, MAX]),
    ((16, 8, "timestamp"), &[0, 1, 1 << 56, MAX]),
    ((24, 8, "durable"), &[1 << 40, MAX]),
];

/// The head of a run of operations, from its beginning.
pub(crate) const RUN: [(Place, &[u64]); 4] = [
    ((0, 1, "kind"), &[0, 8, 255]),
    ((1, 1, "flags"), &[8, 255]),
    ((2, 2, "label"), &[3, 999, 65534]),
    ((4, 4, "count"), &[0, 1 << 20, 0xffff_ffff]),
];

/// The footer of a segment, from its beginning.
pub(crate) const FOOTER: [(Place, &[u64]); 17] = [
    ((0, 8, "file id"), &[0, MAX]),
    ((8, 8, "store"), &[0, MAX]),
    ((16, 8, "rest of store"), &[0, MAX]),
    ((24, 8, "directories"), &[0, 63, 64, 1 << 40, MAX]),
    ((32, 8, "top index"), &[0, 64, 1 << 40, MAX]),
    ((40, 8, "pages"), &[0, 77, 1 << 36, 1 << 40, MAX]),
    ((48, 8, "images"), &[0, 1 << 26, 1 << 40, MAX]),
    ((56, 8, "vertices"), &[0, 1 << 40, MAX]),
    ((64, 8, "edges"), &[0, 1 << 40, MAX]),
    ((72, 8, "timestamp"), &[0, MAX]),
    ((80, 1, "key type"), &[3, 255]),
    ((81, 1, "flags"), &[8, 255]),
    ((82, 2, "reserved"), &[1]),
    ((84, 4, "block size"), &[0, 1, 0xffff_ffff]),
    ((96, 8, "reserved"), &[1, MAX]),
    ((104, 8, "reserved"), &[1, MAX]),
    ((120, 8, "magic"), &[0, MAX]),
];

/// An entry of the top index, from its beginning.
pub(crate) const TOP_INDEX: [(Place, &[u64]); 10] = [
    ((0, 2, "label"), &[77, 65534]),
    ((2, 1, "images"), &[0, 2, 65, 255]),
    ((3, 1, "reserved"), &[1, 255]),
    ((4, 4, "page"), &[7, 1 << 20, 0xffff_ffff]),
    ((8, 8, "blocks"), &[0, 63, 65, 1 << 40, MAX]),
    ((16, 8, "directory"), &[0, 1, 1 << 40, MAX]),
    ((24, 4, "directory's length"), &[0, 15, 1 << 20, 0xffff_ffff]),
    ((28, 4, "vertices"), &[64, 0xffff_ffff]),
    ((32, 8, "edges"), &[1 << 40, MAX]),
    ((40, 8, "timestamp"), &[0, MAX]),
];

/// A directory, from its beginning to the length of its first block.
pub(crate) const DIRECTORY: [(Place, &[u64]); 5] = [
    ((0, 8, "subgraphs"), &[0, 2, 3, 1 << 63, MAX]),
    ((8, 4, "number of blocks"), &[0, 77, 1 << 20, 0xffff_ffff]),
    ((12, 1, "flags"), &[8, 255]),
    ((13, 3, "reserved"), &[1, 0xff_ffff]),
    ((16, 2, "length of a block"), &[0, 1, 65_521, 65535]),
];

/// The entry of an image in a directory, from its beginning.
pub(crate) const DIRECTORY_ENTRY: [(Place, &[u64]); 4] = [
    ((0, 8, "timestamp"), &[0, MAX]),
    ((8, 8, "live vertices"), &[0, 1, MAX]),
    ((16, 6, "edges"), &[1 << 40, (1 << 48) - 1]),
    ((22, 2, "length of a record"), &[0, 23, 65_521, 65535]),
];

/// The head of a block, from its beginning.
pub(crate) const BLOCK: [(Place, &[u64]); 3] = [
    ((0, 2, "length"), &[0, 1, 65_521, 65535]),
    ((2, 1, "kind"), &[1, 2, 3, 4, 255]),
    ((3, 1, "reserved"), &[1, 255]),
];

/// A record of neighbors, from its beginning.
pub(crate) const IMAGE: [(Place, &[u64]); 6] = [
    ((0, 4, "subgraph"), &[7, 1 << 26, 0xffff_ffff]),
    ((4, 2, "label"), &[77, 65534]),
    ((6, 1, "kind"), &[1, 2, 255]),
    ((7, 1, "parts"), &[3, 255]),
    ((8, 8, "timestamp"), &[0, MAX]),
    ((16, 8, "live vertices"), &[0, 1, MAX]),
];

/// A record of keys, from its beginning.
pub(crate) const KEYS: [(Place, &[u64]); 2] =
    [((0, 4, "subgraph"), &[7, 1 << 26, 0xffff_ffff]), ((4, 1, "encoding"), &[0, 5, 255])];

/// The head of an adjacency part, from its beginning.
pub(crate) const PART: [(Place, &[u64]); 6] = [
    ((0, 1, "direction"), &[2, 255]),
    ((1, 1, "width"), &[0, 3, 8]),
    ((2, 1, "neighbors"), &[0, 3, 255]),
    ((3, 1, "flags"), &[8, 255]),
    ((4, 4, "entries"), &[0, 1 << 20, 0xffff_ffff]),
    ((8, 8, "vertices"), &[0, MAX]),
];
