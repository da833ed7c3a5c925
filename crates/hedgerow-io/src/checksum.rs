//! Checksums: XXH3 with 64 bits for headers, records and blocks, with 128 bits for whole files. They find accidents,
//! not forgery: whoever can write a file can also write its checksum.

use std::fmt;

use xxhash_rust::xxh3;

/// The 64-bit checksum of `bytes`.
#[inline]
pub fn checksum64(bytes: &[u8]) -> u64 {
    xxh3::xxh3_64(bytes)
}

/// The 128-bit checksum of `bytes`.
#[inline]
pub fn checksum128(bytes: &[u8]) -> u128 {
    xxh3::xxh3_128(bytes)
}

/// A checksum over parts that come one after another; equal to that of their concatenation.
#[derive(Clone, Default)]
pub struct Checksum {
    state: Box<xxh3::Xxh3>,
}

impl Checksum {
    /// A checksum of nothing yet.
    pub fn new() -> Self {
        Checksum::default()
    }

    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    /// The 64-bit checksum of all that was added.
    pub fn digest64(&self) -> u64 {
        self.state.digest()
    }

    /// The 128-bit checksum of all that was added.
    pub fn digest128(&self) -> u128 {
        self.state.digest128()
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({:#018x})", self.digest64())
    }
}
