//! Errors of the disk tier.

use hedgerow_io::{Corruption, CorruptionKind, FileError, FormatError, IoError};
use thiserror::Error;

use crate::id::ImageId;

/// An error of the disk tier.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TierError {
    /// A file could not be used: the file system failed, the file is damaged, or its format is unknown.
    #[error(transparent)]
    File(#[from] FileError),
    /// The directory contains files, but no manifest.
    #[error("{path} is not empty and is not a store: it holds no manifest")]
    NotAStore {
        /// The directory.
        path: String,
        /// Some of the files in it, in no particular order.
        entries: Vec<String>,
    },
    /// The manifest has an unknown section that a reader must understand.
    #[error(
        "{file} needs a feature that this version does not know (section {tag}, version {version} of the section)"
    )]
    UnknownSection {
        /// The manifest.
        file: String,
        /// The tag of the section.
        tag: u32,
        /// The version of the section.
        version: u16,
    },
    /// A manifest with this number or a higher one exists already.
    #[error("{file} is not the next manifest: the directory already has {found}")]
    ManifestNotNext {
        /// The manifest that was to be written.
        file: String,
        /// The manifest that exists.
        found: String,
    },
    /// The switch to a new manifest failed after the new one may have become visible. A later opening may
    /// find either of the two. The store must stop writing and must delete nothing.
    #[error("it is unknown whether {file} replaced the manifest before it: {source}")]
    SwitchUnknown {
        /// The new manifest.
        file: String,
        /// The failed operation.
        source: IoError,
    },
    /// The manifest to be written breaks a rule; nothing was written.
    #[error("manifest not written: {reason}")]
    InvalidManifest {
        /// The rule.
        reason: &'static str,
    },
    /// The image is not above the one before, as the order of a segment requires; nothing was written.
    #[error("{found} cannot follow {previous} in a segment")]
    OutOfOrder {
        /// The image written last.
        previous: ImageId,
        /// The image that was to be written.
        found: ImageId,
    },
    /// The image to be written breaks a rule; nothing was written.
    #[error("image of {image} not written: {reason}")]
    InvalidImage {
        /// The image.
        image: ImageId,
        /// The rule.
        reason: &'static str,
    },
    /// An earlier write to this segment failed, so the segment cannot be completed.
    #[error("{file} cannot be completed after a failed write")]
    WriterFailed {
        /// The segment.
        file: String,
    },
    /// The caller has no memory for the next step of a read.
    #[error("no memory for {needed} bytes of a read")]
    NoRoom {
        /// The number of bytes that the read needs.
        needed: u64,
    },
    /// The caller asked for a page number that the segment does not have.
    #[error("page {index} is out of range: the segment has {len} pages")]
    NoSuchPage {
        /// The requested number.
        index: usize,
        /// The number of pages.
        len: usize,
    },
}

impl TierError {
    /// Reports damage in `file` at `offset`: content that breaks a rule although its checksum is right.
    pub(crate) fn invalid(file: &str, offset: u64, what: &'static str) -> TierError {
        Corruption::new(file, offset, CorruptionKind::Invalid(what)).into()
    }

    /// Reports a header that cannot be used. The manifest or the file's name determines the kind of the file.
    /// So every error but an unknown format is damage.
    pub(crate) fn header(file: &str, error: FormatError) -> TierError {
        match error {
            FormatError::FutureVersion { .. }
            | FormatError::OldVersion { .. }
            | FormatError::UnknownFeature { .. } => {
                TierError::File(FileError::Format { file: file.to_owned(), error })
            }
            _ => Corruption::new(file, 0, CorruptionKind::Header(error)).into(),
        }
    }

    /// Returns the damage, if this error reports one.
    pub fn corruption(&self) -> Option<&Corruption> {
        match self {
            TierError::File(FileError::Corruption(corruption)) => Some(corruption),
            _ => None,
        }
    }
}

impl From<IoError> for TierError {
    fn from(error: IoError) -> Self {
        TierError::File(error.into())
    }
}

impl From<Corruption> for TierError {
    fn from(error: Corruption) -> Self {
        TierError::File(error.into())
    }
}
