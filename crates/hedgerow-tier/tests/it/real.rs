//! The same cycle with the files of the operating system.

use std::sync::Arc;

use hedgerow_io::{RealFs, Vfs};
use hedgerow_tier::{Manifest, TierError};

use crate::cycle::{checkpoint, inspect};

#[test]
fn checkpoints_on_real_files_come_back() {
    let dir = tempfile::tempdir().unwrap();
    let fs: Arc<dyn Vfs> = Arc::new(RealFs::open_dir(dir.path()).unwrap());
    assert_eq!(Manifest::load(&fs).unwrap(), None);
    let mut manifest = None;
    for round in 1..=3 {
        manifest = Some(checkpoint(&fs, manifest.as_ref(), round, || ()).unwrap());
        let again: Arc<dyn Vfs> = Arc::new(RealFs::open_dir(dir.path()).unwrap());
        assert_eq!(inspect(&again).unwrap(), (manifest.clone(), round));
    }
    let mut names = fs.list().unwrap();
    names.sort();
    assert_eq!(names, ["manifest-0000000000000004.man", "seg-0000000000000003.csr"]);
}

#[test]
fn a_directory_of_other_files_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let fs: Arc<dyn Vfs> = Arc::new(RealFs::open_dir(dir.path()).unwrap());
    fs.create("thesis.tex").unwrap();
    assert!(matches!(Manifest::load(&fs), Err(TierError::NotAStore { .. })));
    assert_eq!(fs.list().unwrap(), ["thesis.tex"]);
}
