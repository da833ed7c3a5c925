//! The names of the files of a store.

use hedgerow_io::FileId;

/// The suffix of a manifest's name until it is renamed.
pub(super) const TEMPORARY: &str = ".tmp";

/// The name of the lock file of the directory, which exists before the first manifest.
const LOCK: &str = "LOCK";

/// Returns the name of manifest number `sequence`: `manifest-<16 hex digits>.man`.
pub fn manifest_name(sequence: u64) -> String {
    format!("manifest-{sequence:016x}.man")
}

/// Returns the number of the manifest called `name`; `None` if that is not the name of a manifest.
pub(super) fn manifest_number(name: &str) -> Option<u64> {
    number(name, "manifest-", ".man")
}

/// Returns the file id of the segment called `name`; `None` if that is not the name of a segment.
pub fn segment_id(name: &str) -> Option<FileId> {
    number(name, "seg-", ".csr").map(FileId)
}

/// True if `name` is the temporary name of a manifest.
pub(super) fn is_temporary(name: &str) -> bool {
    name.strip_suffix(TEMPORARY).and_then(manifest_number).is_some()
}

/// True if `name` is the name of a temporary file in which a segment's keys were sorted.
pub(super) fn is_temporary_of_segment(name: &str) -> bool {
    let stem = name.strip_suffix(TEMPORARY).and_then(|stem| stem.rsplit_once('-'));
    stem.is_some_and(|(segment, run)| number(segment, "seg-", "").and(number(run, "", "")).is_some())
}

/// True for names that exist before the first manifest: a directory that has only these can become a new
/// store.
pub(super) fn is_before_first_manifest(name: &str) -> bool {
    name == LOCK || is_temporary(name)
}

/// True if a file of a store can have this name: 1 to 64 lower-case letters, digits or hyphens, then `.wal`,
/// `.csr` or `.man`. No such name leads out of its directory.
pub fn is_store_file_name(name: &str) -> bool {
    let Some((stem, "wal" | "csr" | "man")) = name.split_once('.') else {
        return false;
    };
    (1..=64).contains(&stem.len())
        && stem.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
}

/// Returns the number in a name. Only the normal spelling is accepted: another spelling would name another
/// file.
fn number(name: &str, prefix: &str, suffix: &str) -> Option<u64> {
    let digits = name.strip_prefix(prefix)?.strip_suffix(suffix)?;
    let lower = digits.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b));
    (digits.len() == 16 && lower).then(|| u64::from_str_radix(digits, 16).ok())?
}

#[cfg(test)]
mod tests {
    use super::is_temporary_of_segment;

    #[test]
    fn a_sorted_file_of_a_segment_is_known_by_its_name() {
        assert!(is_temporary_of_segment("seg-000000000000001f-0000000000000001.tmp"));
        for name in [
            "seg-000000000000001f.csr",
            "seg-000000000000001f.tmp",
            "seg-1f-0000000000000001.tmp",
            "seg-000000000000001f-1.tmp",
            "log-000000000000001f-0000000000000001.tmp",
        ] {
            assert!(!is_temporary_of_segment(name), "{name}");
        }
    }
}
