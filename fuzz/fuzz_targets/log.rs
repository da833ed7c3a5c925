//! Logs that lie under right checksums: recovery refuses them or reads them, and neither panics nor allocates
//! without bound.
#![no_main]

use hedgerow::io::FileId;
use hedgerow_fuzz::SOUND;
use hedgerow_log::{Ops, Witness, recover};
use hedgerow_testkit::SimFs;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Ok(ops) = Ops::new(input) {
        assert!(ops.count() <= input.len(), "every operation takes bytes");
    }
    let Some(files) = SOUND.changed(input, ".wal") else { return };
    let manifest = &SOUND.manifest;
    let live: Vec<FileId> = manifest.logs.iter().map(|log| log.id).collect();
    let witness = Witness { store: manifest.store, live: &live, durable: manifest.durable_lsn };
    let _ = recover(SimFs::from_files(&files).handle(), witness, |_, ops| {
        ops.for_each(drop);
        Ok::<(), ()>(())
    });
});
