//! A minimal store: a log, and a manifest that names its segments. It follows the recipe in the documentation
//! of the crate step by step.

use super::*;
use hedgerow_io::{Access, Dir};

/// The content of a manifest: its number, the live segments, the durable position, and the last timestamp
/// that the checkpoint covers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Manifest {
    pub(super) number: u64,
    pub(super) live: Vec<u64>,
    pub(super) durable: u64,
    pub(super) checkpoint: u64,
}

impl Manifest {
    fn text(&self) -> String {
        let live: Vec<String> = self.live.iter().map(u64::to_string).collect();
        format!("{} {} {}.", self.durable, self.checkpoint, live.join(","))
    }

    fn parse(number: u64, text: &str) -> Option<Manifest> {
        let mut parts = text.strip_suffix('.')?.split(' ');
        let durable = parts.next()?.parse().ok()?;
        let checkpoint = parts.next()?.parse().ok()?;
        let live = parts.next()?.split(',').map(|id| id.parse().ok()).collect::<Option<_>>()?;
        Some(Manifest { number, live, durable, checkpoint })
    }

    /// Returns the newest manifest of a store, or `None` before the first switch.
    pub(super) fn newest(dir: &Dir) -> Option<Manifest> {
        let numbered = |name: &String| name.strip_prefix("manifest-")?.strip_suffix(".man")?.parse().ok();
        let number: u64 = dir.list().expect("list").iter().filter_map(numbered).max()?;
        let file = dir.open(&format!("manifest-{number}.man"), Access::Read).expect("open manifest");
        let mut bytes = vec![0; file.byte_len().expect("length") as usize];
        file.read_exact_at(&mut bytes, 0).expect("read manifest");
        Manifest::parse(number, std::str::from_utf8(&bytes).expect("a manifest is text"))
            .expect("whole")
            .into()
    }

    fn switch(&self, dir: &Dir) -> Result<(), FileError> {
        let name = format!("manifest-{}.man", self.number);
        let temporary = format!("{name}.tmp");
        if dir.list()?.contains(&temporary) {
            dir.unlink(&temporary)?;
        }
        let file = dir.create(&temporary)?;
        file.write_all_at(self.text().as_bytes(), 0)?;
        file.sync_all()?;
        dir.rename(&temporary, &name)?;
        Ok(dir.sync()?)
    }
}

/// A running store.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) log: Log,
    dir: Dir,
    manifest: Manifest,
}

/// A store after opening, and the commits that it has.
#[derive(Debug)]
pub(super) struct Opened {
    pub(super) store: Store,
    /// The timestamps of all commits of the store, including those that the checkpoint covers.
    pub(super) commits: Vec<u64>,
}

impl Store {
    pub(super) fn create(fs: &SimFs) -> Result<Store, FileError> {
        let dir = Dir::new(fs.handle());
        let log = Log::create(fs.handle(), options(), LogPosition::START)?;
        let mut store = Store { log, dir, manifest: Manifest::default() };
        store.switch(0)?;
        Ok(store)
    }

    /// Opens a store by the recipe. Returns `None` if the creation of the store did not finish.
    pub(super) fn open(fs: &SimFs) -> Result<Option<Opened>, RecoverError<Infallible>> {
        let dir = Dir::new(fs.handle());
        let Some(manifest) = Manifest::newest(&dir) else { return Ok(None) };
        let (seen, recovered) = read(fs, &manifest.live, Lsn(manifest.durable))?;
        let after = manifest.checkpoint;
        let commits: Vec<u64> = (1..=after).chain(seen.into_iter().filter(|&ts| ts > after)).collect();
        let resumed = recovered.resume(options(), FIRST_SEGMENT_BYTES)?;
        let next = Manifest {
            number: manifest.number + 1,
            live: resumed.log.live_after(Timestamp(after)).iter().map(|id| id.0).collect(),
            durable: resumed.log.durable().0,
            checkpoint: after,
        };
        next.switch(&dir)?;
        let log = resumed.remove_obsolete()?;
        dir.unlink(&format!("manifest-{}.man", manifest.number))?;
        dir.sync()?;
        Ok(Some(Opened { store: Store { log, dir, manifest: next }, commits }))
    }

    /// Switches to a manifest whose checkpoint covers `ts`.
    fn switch(&mut self, ts: u64) -> Result<(), FileError> {
        let old = self.manifest.number;
        self.manifest = Manifest {
            number: old + 1,
            live: self.log.live_after(Timestamp(ts)).iter().map(|id| id.0).collect(),
            durable: self.log.durable().0,
            checkpoint: ts,
        };
        self.manifest.switch(&self.dir)?;
        if old > 0 {
            self.dir.unlink(&format!("manifest-{old}.man"))?;
            self.dir.sync()?;
        }
        Ok(())
    }

    /// Makes a checkpoint of all commits up to `ts`, which must be durable.
    pub(super) fn checkpoint(&mut self, ts: u64) -> Result<(), FileError> {
        self.switch(ts)?;
        self.log.remove_segments_through(Timestamp(ts))?;
        Ok(())
    }

    pub(super) fn try_append(&self, ts: u64) -> Result<(), ReserveError> {
        let mut record = record_of(ts);
        self.log.reserve(&mut record)?.append(&mut record, Timestamp(ts));
        Ok(())
    }
}
