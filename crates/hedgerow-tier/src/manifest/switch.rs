//! Manifest files: the search for the current one, and the switch to the next one.

use std::io;
use std::sync::Arc;

use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_io::checksum::checksum128;
use hedgerow_io::{
    Access, Corruption, CorruptionKind, Dir, FileError, FileHeader, FileId, FileKind, HEADER_BYTES, IoError,
    Vfs,
};

use super::Manifest;
use super::codec::{decode_body, encode_body};
use super::names::{
    TEMPORARY, is_before_first_manifest, is_temporary, is_temporary_of_segment, manifest_name,
    manifest_number, segment_id,
};
use crate::TierError;

/// The length of the checksum at the end of a manifest.
const HASH_BYTES: usize = 16;

/// The largest manifest that is read. No manifest needs this size (at 104 bytes for each segment), and it can
/// be read at once.
const MAX_MANIFEST_BYTES: u64 = 256 * 1024 * 1024;

/// The number of times that a reader without a lock lists the directory. It must list it again if a writer
/// removes the listed manifest before the reader opens it.
const MOST_LOOKS: usize = 16;

/// The current manifest of a directory, and its stray files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedManifest {
    /// The manifest. Its `next_file_id` is above the id of every segment in the directory, also of stray
    /// ones.
    pub manifest: Manifest,
    /// The name of its file.
    pub file: String,
    /// Files that an interrupted switch or checkpoint left behind, ascending: unfinished manifests, older
    /// manifests, segments that the manifest does not name. They can be removed. No log file is among them.
    pub stray: Vec<String>,
}

/// The name of a manifest file, and its content if it can be read.
pub type NamedManifest = (String, Result<Manifest, TierError>);

impl Manifest {
    /// Makes this the manifest of the store in `fs`. After `Ok` every later opening finds it. All files that
    /// it names, and their directory entries, must be durable before the call. Writes and syncs the file
    /// under a temporary name, renames it and syncs the directory; blocks on both syncs. Older manifests stay
    /// until [`remove_older`](Self::remove_older) is called after a success.
    ///
    /// # Errors
    /// [`TierError::InvalidManifest`], [`TierError::ManifestNotNext`] and [`TierError::File`]: the old
    /// manifest is still the valid one. [`TierError::SwitchUnknown`]: the old or the new one is valid.
    pub fn store(&self, fs: &Arc<dyn Vfs>) -> Result<(), TierError> {
        if let Some(reason) = self.fault() {
            return Err(TierError::InvalidManifest { reason });
        }
        let bytes = self.encode();
        if bytes.len() as u64 > MAX_MANIFEST_BYTES {
            return Err(TierError::InvalidManifest { reason: "manifest too large" });
        }
        let dir = Dir::new(fs.clone());
        let file = manifest_name(self.sequence);
        let temporary = format!("{file}{TEMPORARY}");
        let names = dir.list()?;
        if let Some(found) = newest(&names).filter(|newest| *newest >= self.sequence) {
            return Err(TierError::ManifestNotNext { file, found: manifest_name(found) });
        }
        if names.contains(&temporary) {
            dir.unlink(&temporary)?;
            // Without this sync a crash could keep the rename below but undo the removal. Then the old file
            // would be renamed.
            dir.sync()?;
        }
        if let Err(error) = write_synced(&dir, &temporary, &bytes) {
            return Err(give_up(&dir, &temporary, error));
        }
        match dir.rename(&temporary, &file) {
            // The disk had no room for the new name, so nothing has changed.
            Err(error) if error.is_disk_full() => Err(give_up(&dir, &temporary, error)),
            renamed => {
                renamed.and_then(|()| dir.sync()).map_err(|source| TierError::SwitchUnknown { file, source })
            }
        }
    }

    /// Finds the manifest of the store in `fs`: the one with the highest number, and no other if that one is
    /// damaged. `None` if the directory is empty or has only files from before the first manifest: the lock,
    /// an unfinished manifest. Then a new store can be made in it; the first file must be its first manifest.
    /// Syncs the directory, so that the manifest will be found again after a crash.
    ///
    /// # Errors
    /// [`TierError::NotAStore`]; [`TierError::File`]: damage, another format, or a failure of the file
    /// system; [`TierError::UnknownSection`].
    pub fn load(fs: &Arc<dyn Vfs>) -> Result<Option<LoadedManifest>, TierError> {
        Manifest::find(fs, true)
    }

    /// Like [`load`](Self::load), but only for readers: it changes nothing and does not sync. So the returned
    /// manifest may not be durable, and a caller must not remove files that it does not name. Repeats the
    /// search if a writer seems to have switched meanwhile, which is possible if the caller has no lock.
    ///
    /// # Errors
    /// Those of [`load`](Self::load).
    pub fn look(fs: &Arc<dyn Vfs>) -> Result<Option<LoadedManifest>, TierError> {
        for _ in 1..MOST_LOOKS {
            match Manifest::find(fs, false) {
                Err(error) if error.may_be_a_switch() => {}
                found => return found,
            }
        }
        Manifest::find(fs, false)
    }

    fn find(fs: &Arc<dyn Vfs>, sync: bool) -> Result<Option<LoadedManifest>, TierError> {
        let dir = Dir::new(fs.clone());
        let mut names = dir.list()?;
        names.sort_unstable();
        let Some(sequence) = newest(&names) else {
            if names.iter().all(|name| is_before_first_manifest(name)) {
                return Ok(None);
            }
            names.truncate(8);
            return Err(TierError::NotAStore { path: fs.path().display().to_string(), entries: names });
        };
        // A process that died between its rename and its sync left a name that may not be durable. Its
        // manifest must be durable before the files that it does not name are unlinked.
        if sync {
            dir.sync()?;
        }
        let mut manifest = Manifest::read(&dir, sequence)?;
        names.retain(|name| manifest.is_stray(name));
        for id in names.iter().filter_map(|name| segment_id(name)) {
            let beyond = id.0.checked_add(1).map(FileId);
            // The largest possible id cannot be skipped: creating its file will fail and change nothing.
            manifest.next_file_id = manifest.next_file_id.max(beyond.unwrap_or(id));
        }
        Ok(Some(LoadedManifest { manifest, file: manifest_name(sequence), stray: names }))
    }

    /// Reads all manifests in the directory, newest first, with the error of each that cannot be read. Only
    /// for salvage, which may use an older manifest; an opening never does.
    ///
    /// # Errors
    /// [`TierError::File`] if the directory cannot be listed.
    pub fn all(fs: &Arc<dyn Vfs>) -> Result<Vec<NamedManifest>, TierError> {
        let dir = Dir::new(fs.clone());
        let mut numbers: Vec<u64> = dir.list()?.iter().filter_map(|name| manifest_number(name)).collect();
        numbers.sort_unstable_by_key(|&number| std::cmp::Reverse(number));
        Ok(numbers.into_iter().map(|n| (manifest_name(n), Manifest::read(&dir, n))).collect())
    }

    /// Removes the older manifests and the unfinished ones, syncs the directory if any existed, and returns
    /// their number. May be called after [`store`](Self::store) succeeded or [`load`](Self::load) returned
    /// this manifest.
    ///
    /// # Errors
    /// [`TierError::File`]; the rest can be removed by a later call.
    pub fn remove_older(&self, fs: &Arc<dyn Vfs>) -> Result<usize, TierError> {
        let dir = Dir::new(fs.clone());
        let mut removed = 0;
        for name in dir.list()? {
            let older = manifest_number(&name).is_some_and(|number| number < self.sequence);
            if older || is_temporary(&name) {
                dir.unlink(&name)?;
                removed += 1;
            }
        }
        if removed > 0 {
            dir.sync()?;
        }
        Ok(removed)
    }

    fn is_stray(&self, name: &str) -> bool {
        let unnamed = |id| !self.segments.iter().any(|segment| segment.info.file_id == id);
        is_temporary(name)
            || is_temporary_of_segment(name)
            || manifest_number(name).is_some_and(|number| number < self.sequence)
            || segment_id(name).is_some_and(unnamed)
    }

    /// Returns the bytes of the whole file.
    pub(super) fn encode(&self) -> Vec<u8> {
        let header = FileHeader::new(FileKind::Manifest, self.store, FileId(self.sequence), 0);
        let mut bytes = header.encode().to_vec();
        encode_body(self, &mut bytes);
        let hash = checksum128(&bytes);
        bytes.extend(hash.to_le_bytes());
        bytes
    }

    /// Reads manifest number `sequence`.
    fn read(dir: &Dir, sequence: u64) -> Result<Manifest, TierError> {
        let name = manifest_name(sequence);
        let file = dir.open(&name, Access::Read)?;
        let found = file.byte_len()?;
        if found > MAX_MANIFEST_BYTES {
            return Err(TierError::invalid(&name, MAX_MANIFEST_BYTES, "larger than any manifest"));
        }
        let mut bytes = Vec::new();
        let reserved = bytes.try_reserve_exact(found as usize);
        reserved.map_err(|_| TierError::invalid(&name, 0, "no memory for a manifest of this size"))?;
        bytes.resize(found as usize, 0);
        file.read_exact_at(&mut bytes, 0)?;
        Manifest::decode(&name, &bytes, sequence)
    }

    pub(super) fn decode(name: &str, bytes: &[u8], sequence: u64) -> Result<Manifest, TierError> {
        let header = FileHeader::decode(bytes, FileKind::Manifest)
            .and_then(|header| header.check_owner(header.store, FileId(sequence)).map(|()| header))
            .map_err(|error| TierError::header(name, error))?;
        let covered = bytes.len().checked_sub(HASH_BYTES).filter(|covered| *covered >= HEADER_BYTES);
        let parts = covered.and_then(|covered| bytes.split_at_checked(covered));
        let parts = parts.and_then(|(covered, hash)| Some((covered, hash.first_chunk()?)));
        let Some((covered, hash)) = parts else {
            let kind = CorruptionKind::Truncated {
                expected: (HEADER_BYTES + HASH_BYTES) as u64,
                found: bytes.len() as u64,
            };
            return Err(Corruption::new(name, bytes.len() as u64, kind).into());
        };
        let (expected, found) = (u128::from_le_bytes(*hash), checksum128(covered));
        if expected != found {
            return Err(Corruption::new(name, 0, CorruptionKind::FileChecksum { expected, found }).into());
        }
        let body = covered.get(HEADER_BYTES..).unwrap_or(&[]);
        let manifest = decode_body(body, header.store)
            .map_err(|fault| TierError::invalid(name, (HEADER_BYTES + fault.position) as u64, fault.what))?;
        if manifest.sequence != sequence {
            return Err(TierError::invalid(name, HEADER_BYTES as u64, "number differs from the file's name"));
        }
        match manifest.sections.iter().find(|section| section.required && !section.is_known()) {
            Some(&super::Section { tag, version, .. }) => {
                Err(TierError::UnknownSection { file: name.to_owned(), tag, version })
            }
            None => Ok(manifest),
        }
    }
}

fn newest(names: &[String]) -> Option<u64> {
    names.iter().filter_map(|name| manifest_number(name)).max()
}

fn write_synced(dir: &Dir, name: &str, bytes: &[u8]) -> Result<(), IoError> {
    let file = dir.create(name)?;
    file.write_all_at(bytes, 0)?;
    if faults::is_on(PlantedFault::ManifestNotSynced) {
        return Ok(());
    }
    file.sync_all()
}

impl TierError {
    /// True for an error that a reader without a lock meets during a switch of manifests. Either the listed
    /// manifest is gone, or neither name was in the listing.
    fn may_be_a_switch(&self) -> bool {
        match self {
            TierError::File(FileError::Io(error)) => {
                error.source.kind() == io::ErrorKind::NotFound && manifest_number(&error.file).is_some()
            }
            TierError::NotAStore { .. } => true,
            _ => false,
        }
    }
}

/// Removes the unfinished manifest if possible. If not, it is a stray file that an opening ignores.
fn give_up(dir: &Dir, temporary: &str, error: IoError) -> TierError {
    let _ = dir.unlink(temporary);
    error.into()
}
