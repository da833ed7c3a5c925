//! Benchmarks of the log in memory: encoding the record of a commit, and appending it to the buffer of the
//! next sync.

use divan::Bencher;
use divan::counter::ItemsCount;
use hedgerow_core::{LabelId, Op, Timestamp, VertexId};
use hedgerow_log::{Log, LogOptions, LogPosition, RecordBuilder, StoreId};
use hedgerow_testkit::SimFs;

/// The numbers of edges of a commit.
const EDGES: [u32; 3] = [1, 100, 10_000];
/// The number of records that one sample appends.
const RECORDS: u64 = 256;

fn main() {
    divan::main();
}

/// Puts the edges of a commit into the record, and computes its checksum.
fn encode(record: &mut RecordBuilder, edges: u32) {
    record.clear();
    for n in 0..edges {
        let (src, dst) = (VertexId(n.wrapping_mul(0x9e37_79b1)), VertexId(n.wrapping_mul(0x85eb_ca6b)));
        let put = record.push(Op::PutEdge { label: LabelId(0), src, dst, weight: None });
        assert!(put.is_ok(), "a record of some edges is not too large");
    }
    record.finish();
}

#[divan::bench(args = EDGES)]
fn encode_record(bencher: Bencher<'_, '_>, edges: u32) {
    let mut record = RecordBuilder::new();
    bencher.counter(ItemsCount::new(edges)).bench_local(|| encode(&mut record, edges));
}

/// Returns a log without records, and records to append. Its file system is in memory, and the log does not
/// use it before its buffer is full.
fn empty_log(edges: u32) -> (Log, Vec<RecordBuilder>) {
    let options = LogOptions { segment_bytes: 1 << 20, ..LogOptions::new(StoreId([9; 16])) };
    let log = Log::create(SimFs::new().handle(), options, LogPosition::START).expect("a log in memory");
    let mut record = RecordBuilder::new();
    encode(&mut record, edges);
    (log, vec![record; RECORDS as usize])
}

/// Measures the work that committers do one after another: reserving and appending.
#[divan::bench(args = [1, 100])]
fn append_record(bencher: Bencher<'_, '_>, edges: u32) {
    bencher.counter(ItemsCount::new(RECORDS)).with_inputs(|| empty_log(edges)).bench_refs(
        |(log, records)| {
            for (ts, record) in (1..).map(Timestamp).zip(records) {
                log.reserve(record).expect("room in the segment").append(record, ts);
            }
        },
    );
}
