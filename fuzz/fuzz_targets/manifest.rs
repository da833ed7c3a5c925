//! Manifests that lie under right checksums: refused or read, without a panic.
#![no_main]

use hedgerow_fuzz::SOUND;
use hedgerow_testkit::SimFs;
use hedgerow_tier::Manifest;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    if let Some(files) = SOUND.changed(input, ".man") {
        let _ = Manifest::look(&SimFs::from_files(&files).handle());
    }
});
