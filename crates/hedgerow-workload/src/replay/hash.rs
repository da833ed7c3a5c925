//! A fast hash for vertex keys and pairs of ids, which no adversary chooses here.

use std::hash::{BuildHasherDefault, Hasher};

use crate::rng::mix;

pub(super) type MixState = BuildHasherDefault<MixHasher>;

#[derive(Clone, Copy, Default)]
pub(super) struct MixHasher(u64);

impl Hasher for MixHasher {
    fn write(&mut self, bytes: &[u8]) {
        let (words, rest) = bytes.as_chunks::<8>();
        for word in words {
            self.write_u64(u64::from_le_bytes(*word));
        }
        for &byte in rest {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01B3);
        }
    }

    /// Hashes the ends of strings and the variants of enums. They are mixed with the bytes around them.
    fn write_u8(&mut self, value: u8) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x0000_0100_0000_01B3);
    }

    fn write_usize(&mut self, value: usize) {
        self.0 = self.0.rotate_left(5) ^ value as u64;
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = mix(self.0 ^ value);
    }

    fn finish(&self) -> u64 {
        // Multiplication carries differences only to higher bits, but the map uses the highest and the lowest
        // bits.
        self.0 ^ (self.0 >> 32)
    }
}
