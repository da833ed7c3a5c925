//! A fast hash for keys that are one `u64` and come from no adversary.

use std::hash::{BuildHasherDefault, Hasher};

use crate::rng::mix;

pub(super) type MixState = BuildHasherDefault<MixHasher>;

#[derive(Clone, Copy, Default)]
pub(super) struct MixHasher(u64);

impl Hasher for MixHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0 ^ u64::from(byte));
        }
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mix(self.0 ^ value);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
