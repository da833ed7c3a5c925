//! Bounded little-endian reading and writing. Every read checks the number of remaining bytes, so a hostile
//! length ends in an error before any allocation or indexing.

use thiserror::Error;

/// The error of a value that needs more bytes than are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("{needed} bytes needed at {at}, {left} left")]
pub struct OutOfBytes {
    /// The position where the value should begin.
    pub at: usize,
    /// The length of the value.
    pub needed: usize,
    /// The number of bytes left.
    pub left: usize,
}

/// A cursor over bytes that are not trusted.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    /// Returns a cursor at the beginning of `bytes`.
    pub fn new(bytes: &'a [u8]) -> Self {
        Reader { rest: bytes, at: 0 }
    }

    /// Returns how many bytes were consumed.
    pub fn position(&self) -> usize {
        self.at
    }

    /// Returns how many bytes are left.
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// True if no byte is left.
    pub fn is_empty(&self) -> bool {
        self.rest.is_empty()
    }

    /// Returns the remaining bytes without consuming them.
    pub fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Returns the next `len` bytes.
    ///
    /// # Errors
    /// If fewer bytes are left; then nothing is consumed.
    #[inline]
    pub fn bytes(&mut self, len: usize) -> Result<&'a [u8], OutOfBytes> {
        match self.rest.split_at_checked(len) {
            Some((head, tail)) => {
                self.rest = tail;
                self.at += len;
                Ok(head)
            }
            None => Err(OutOfBytes { at: self.at, needed: len, left: self.rest.len() }),
        }
    }

    /// Returns the next `N` bytes as an array.
    ///
    /// # Errors
    /// The error of [`bytes`](Self::bytes).
    #[inline]
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], OutOfBytes> {
        match self.rest.split_first_chunk::<N>() {
            Some((head, tail)) => {
                self.rest = tail;
                self.at += N;
                Ok(*head)
            }
            None => Err(OutOfBytes { at: self.at, needed: N, left: self.rest.len() }),
        }
    }

    /// Returns the next byte.
    ///
    /// # Errors
    /// The error of [`bytes`](Self::bytes).
    #[inline]
    pub fn u8(&mut self) -> Result<u8, OutOfBytes> {
        self.array::<1>().map(|[b]| b)
    }

    /// Returns the next 16-bit number.
    ///
    /// # Errors
    /// The error of [`bytes`](Self::bytes).
    #[inline]
    pub fn u16(&mut self) -> Result<u16, OutOfBytes> {
        self.array().map(u16::from_le_bytes)
    }

    /// Returns the next 32-bit number.
    ///
    /// # Errors
    /// The error of [`bytes`](Self::bytes).
    #[inline]
    pub fn u32(&mut self) -> Result<u32, OutOfBytes> {
        self.array().map(u32::from_le_bytes)
    }

    /// Returns the next 64-bit number.
    ///
    /// # Errors
    /// The error of [`bytes`](Self::bytes).
    #[inline]
    pub fn u64(&mut self) -> Result<u64, OutOfBytes> {
        self.array().map(u64::from_le_bytes)
    }

    /// Returns the next 128-bit number.
    ///
    /// # Errors
    /// The error of [`bytes`](Self::bytes).
    #[inline]
    pub fn u128(&mut self) -> Result<u128, OutOfBytes> {
        self.array().map(u128::from_le_bytes)
    }

    /// Returns the next 64-bit floating-point number, with any bit pattern.
    ///
    /// # Errors
    /// The error of [`bytes`](Self::bytes).
    #[inline]
    pub fn f64(&mut self) -> Result<f64, OutOfBytes> {
        self.u64().map(f64::from_bits)
    }
}

/// A buffer to which little-endian values are appended.
pub trait PutLe {
    /// Appends a byte.
    fn put_u8(&mut self, value: u8);
    /// Appends a 16-bit number.
    fn put_u16(&mut self, value: u16);
    /// Appends a 32-bit number.
    fn put_u32(&mut self, value: u32);
    /// Appends a 64-bit number.
    fn put_u64(&mut self, value: u64);
    /// Appends a 128-bit number.
    fn put_u128(&mut self, value: u128);
    /// Appends a 64-bit floating-point number, bit by bit.
    fn put_f64(&mut self, value: f64);
    /// Appends bytes unchanged.
    fn put_bytes(&mut self, bytes: &[u8]);
}

impl PutLe for Vec<u8> {
    #[inline]
    fn put_u8(&mut self, value: u8) {
        self.push(value);
    }

    #[inline]
    fn put_u16(&mut self, value: u16) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put_u32(&mut self, value: u32) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put_u64(&mut self, value: u64) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put_u128(&mut self, value: u128) {
        self.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn put_f64(&mut self, value: f64) {
        self.put_u64(value.to_bits());
    }

    #[inline]
    fn put_bytes(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_the_end_is_an_error() {
        let mut bytes = Vec::new();
        bytes.put_u8(1);
        bytes.put_u16(2);
        bytes.put_u32(3);
        bytes.put_u64(4);
        bytes.put_u128(5);
        bytes.put_f64(-0.5);
        bytes.put_bytes(b"xyz");
        let mut r = Reader::new(&bytes);
        assert_eq!((r.u8(), r.u16(), r.u32(), r.u64()), (Ok(1), Ok(2), Ok(3), Ok(4)));
        assert_eq!((r.u128(), r.f64()), (Ok(5), Ok(-0.5)));
        let at = r.position();
        assert_eq!(r.bytes(4), Err(OutOfBytes { at, needed: 4, left: 3 }));
        assert_eq!(r.u32(), Err(OutOfBytes { at, needed: 4, left: 3 }));
        assert_eq!(r.bytes(usize::MAX).map_err(|e| e.needed), Err(usize::MAX));
        assert_eq!(r.bytes(3), Ok(&b"xyz"[..]));
        assert!(r.is_empty());
    }
}
