//! Segments of checkpoints that lie under right checksums: the reader refuses them, or reads images; what the
//! whole store then opens as is sound in every point of `check`.
#![no_main]

use hedgerow::Options;
use hedgerow_fuzz::SOUND;
use hedgerow_testkit::SimFs;
use hedgerow_tier::{SegmentReader, TierError};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let Some(files) = SOUND.changed(input, ".csr") else { return };
    let disk = SimFs::from_files(&files);
    for segment in &SOUND.manifest.segments {
        if let Ok(reader) = SegmentReader::open(disk.handle(), &segment.info, SOUND.manifest.store) {
            let _ = reader.read_all(|_| Ok::<(), TierError>(()));
        }
    }
    if let Ok(graph) = Options::new().create(false).read_only(true).open_on(disk.handle()) {
        let report = graph.check().expect("an open store");
        assert!(report.is_ok(), "{report:?}");
    }
});
