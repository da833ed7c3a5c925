//! Checksums: XXH3 with 64 bits for headers, records and blocks, with 128 bits for whole files. They detect
//! accidents, not forgery: a program that can write a file can also write its checksum.

use std::fmt;

use xxhash_rust::xxh3;

/// Returns the 64-bit checksum of `bytes`.
#[inline]
pub fn checksum64(bytes: &[u8]) -> u64 {
    xxh3::xxh3_64(bytes)
}

/// Returns the 128-bit checksum of `bytes`.
#[inline]
pub fn checksum128(bytes: &[u8]) -> u128 {
    xxh3::xxh3_128(bytes)
}

/// A checksum over bytes that are added in steps. It is equal to the checksum of their concatenation.
#[derive(Clone, Default)]
pub struct Checksum {
    state: Box<xxh3::Xxh3>,
}

impl Checksum {
    /// Returns the checksum of no bytes.
    pub fn new() -> Self {
        Checksum::default()
    }

    /// Adds `bytes` to the checksum.
    pub fn update(&mut self, bytes: &[u8]) {
        self.state.update(bytes);
    }

    /// Returns the 64-bit checksum of all bytes added.
    pub fn digest64(&self) -> u64 {
        self.state.digest()
    }

    /// Returns the 128-bit checksum of all bytes added.
    pub fn digest128(&self) -> u128 {
        self.state.digest128()
    }
}

impl fmt::Debug for Checksum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Checksum({:#018x})", self.digest64())
    }
}
