//! What the fuzz targets share: a sound store, and what an input makes of its files.
//!
//! An input is a list of changes: where, how many bytes, and to which value. All checksums are written anew,
//! so that the readers behind the checksums are reached.
#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::sync::LazyLock;

use hedgerow::{EdgeKey, LabelOptions, Options};
use hedgerow_testkit::{Forge, SimFs};
use hedgerow_tier::Manifest;

/// Bytes by file name.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Bytes of an input that one change takes: file, place, width, value.
const CHANGE: usize = 1 + 4 + 1 + 8;
/// More changes than these only make inputs slow.
const MOST_CHANGES: usize = 4;

/// A store with segments and a log, all kinds of edges, labels and properties.
pub struct Sound {
    /// Its files.
    pub files: Files,
    /// Its manifest.
    pub manifest: Manifest,
    forge: Forge,
}

/// The store that inputs change; made once for a process.
pub static SOUND: LazyLock<Sound> = LazyLock::new(|| {
    let disk = SimFs::new();
    write(&disk).expect("a simulated disk takes everything");
    let files = disk.files();
    let manifest = Manifest::look(&disk.handle()).ok().flatten().expect("a store").manifest;
    Sound { forge: Forge::new(&files), files, manifest }
});

fn write(disk: &SimFs) -> hedgerow::Result<()> {
    let graph = Options::new().weighted(true).background_settling(false).open_on(disk.handle())?;
    graph.define_label("likes", LabelOptions::new().multi(true))?;
    for round in 0..2 {
        for i in 0..40 {
            let mut txn = graph.write()?;
            txn.put_edge((i % 7, i * 3 + round, f64::from(i as u32)))?;
            txn.put_edge_with(EdgeKey::new("likes", i % 5, i).rank(round), [("since", i as i64)])?;
            if i % 11 == 10 {
                txn.remove_vertex(i - 3)?;
            }
            txn.commit()?;
        }
        if round == 0 {
            graph.checkpoint()?;
        }
    }
    graph.close()
}

impl Sound {
    /// The files after the changes that `input` asks for, in files whose names end with `kind`; `None` if it
    /// asks for none.
    pub fn changed(&self, input: &[u8], kind: &str) -> Option<Files> {
        let names: Vec<&String> = self.files.keys().filter(|name| name.ends_with(kind)).collect();
        let change = |bytes: &[u8]| {
            let name = names[bytes[0] as usize % names.len()];
            let width = 1 << (bytes[5] % 4);
            let place = u32::from_le_bytes([bytes[1], bytes[2], bytes[3], bytes[4]]) as usize;
            let place = place % (self.files[name].len().saturating_sub(width) + 1);
            let value = bytes[6..].iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte));
            (name.as_str(), place, width, value)
        };
        let changes: Vec<_> = input.chunks_exact(CHANGE).take(MOST_CHANGES).map(change).collect();
        (!changes.is_empty() && !names.is_empty()).then(|| self.forge.with(&changes))
    }
}
