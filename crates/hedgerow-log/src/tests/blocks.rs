//! Writes past the cache and writes through it result in the same bytes, in any mixture.

use std::sync::Arc;

use hedgerow_io::{Access, CountingFs, RealFs, Vfs, read_exact_at};
use proptest::prelude::*;

use super::*;

/// The minimum lengths of a segment in bytes. They are no multiples of a block, so the log must not write the
/// last block as a whole block: opening refuses a file that is too long.
const BYTES: [u64; 2] = [10_000, 1_500_008];

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The number of commits, and the number of edges of each.
    Commits(u64, u64),
    WriteOut,
    Sync,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        6 => (1..40u64, 1..8u64).prop_map(|(commits, edges)| Step::Commits(commits, edges)),
        1 => (1..3u64, 1_000..40_000u64).prop_map(|(commits, edges)| Step::Commits(commits, edges)),
        2 => Just(Step::WriteOut),
        8 => Just(Step::Sync),
    ];
    prop::collection::vec(step, 1..60)
}

/// Runs the steps and returns the bytes of all segments.
fn written(fs: Arc<dyn Vfs>, segment_bytes: u64, steps: &[Step]) -> Vec<(String, Vec<u8>)> {
    let options = LogOptions { segment_bytes, ..LogOptions::new(STORE) };
    let log = Log::create(fs.clone(), options, LogPosition::START).expect("create log");
    let mut ts = 0;
    for &step in steps {
        match step {
            Step::Commits(commits, edges) => {
                for _ in 0..commits {
                    ts += 1;
                    let mut record = RecordBuilder::new();
                    for n in 0..edges as u32 {
                        let (src, dst) = (VertexId(n), VertexId(ts as u32));
                        let edge = Op::PutEdge { label: LabelId(0), src, dst, weight: None };
                        record.push(edge).expect("a record of bounded size");
                    }
                    let _ = log.reserve(&mut record).expect("reserve").append(&mut record, Timestamp(ts));
                }
            }
            Step::WriteOut => log.write_out().expect("write"),
            Step::Sync => _ = log.flush_and_sync().expect("sync"),
        }
    }
    log.write_out().expect("write");
    let mut names = fs.list().expect("list");
    names.sort();
    let bytes_of = |name: &String| {
        let file = fs.open(name, Access::Read).expect("open");
        let mut bytes = vec![0; file.len().expect("len") as usize];
        read_exact_at(&*file, &mut bytes, 0).expect("read");
        bytes
    };
    names.iter().map(|name| (name.clone(), bytes_of(name))).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn blocks_are_what_plain_writes_are(segment_bytes in prop::sample::select(BYTES.as_slice()), steps in steps()) {
        let scratch = tempfile::tempdir().expect("a directory");
        let real: Arc<dyn Vfs> = Arc::new(RealFs::open_dir(scratch.path()).expect("open"));
        let plain = SimFs::new();
        plain.refuse_blocks(true);
        let expected = written(plain.handle(), segment_bytes, &steps);
        for (kind, fs) in [("simulated", SimFs::new().handle()), ("real", real)] {
            let found = written(fs, segment_bytes, &steps);
            prop_assert_eq!(found.len(), expected.len());
            for ((name, bytes), (_, plain)) in found.iter().zip(&expected) {
                let differs = bytes.iter().zip(plain).position(|(a, b)| a != b);
                prop_assert!(differs.is_none() && bytes.len() == plain.len(), "{} {}: {:?}", kind, name, differs);
            }
        }
    }
}

/// A sync of a few records writes one block, the end of the log. The log writes zeros only once for many
/// syncs.
#[test]
fn zeros_are_written_once_and_then_blocks() {
    let fs = Arc::new(CountingFs::new(SimFs::new().handle()));
    let options = LogOptions { segment_bytes: 1 << 20, ..LogOptions::new(STORE) };
    let log = Log::create(fs.clone(), options, LogPosition::START).expect("create log");
    let writes = || fs.counters().writes.load(std::sync::atomic::Ordering::Relaxed);
    let before = writes();
    (1..=500).for_each(|ts| commit(&log, ts));
    let written = writes() - before;
    assert!(log.end().0 < 256 << 10, "within what one filling covers");
    assert_eq!(written, 501, "one for each sync and one of zeros");
}
