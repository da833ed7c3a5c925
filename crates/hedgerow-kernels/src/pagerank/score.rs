//! The number types that scores can have.

use std::ops::{Add, Mul, Sub};
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

/// A floating-point type for scores: `f64`, or `f32` to compare with programs that use it.
pub trait Score:
    Copy
    + Send
    + Sync
    + PartialOrd
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + sealed::Sealed
    + 'static
{
    /// The number 0.
    const ZERO: Self;
    /// Returns the nearest value of this type.
    fn from_f64(value: f64) -> Self;
    /// Returns the same value.
    fn to_f64(self) -> f64;
    /// Returns the size, without the sign.
    fn abs(self) -> f64;

    /// A place for a number that threads may read while another one writes it.
    #[doc(hidden)]
    type Cell: Send + Sync;
    #[doc(hidden)]
    fn into_cell(self) -> Self::Cell;
    #[doc(hidden)]
    fn load(cell: &Self::Cell) -> Self;
    #[doc(hidden)]
    fn store(self, cell: &Self::Cell);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

impl Score for f64 {
    const ZERO: f64 = 0.0;

    #[inline]
    fn from_f64(value: f64) -> f64 {
        value
    }

    #[inline]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    type Cell = AtomicU64;

    #[inline]
    fn into_cell(self) -> AtomicU64 {
        AtomicU64::new(self.to_bits())
    }

    #[inline]
    fn load(cell: &AtomicU64) -> f64 {
        f64::from_bits(cell.load(Relaxed))
    }

    #[inline]
    fn store(self, cell: &AtomicU64) {
        cell.store(self.to_bits(), Relaxed);
    }
}

impl Score for f32 {
    const ZERO: f32 = 0.0;

    #[inline]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    #[inline]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline]
    fn abs(self) -> f64 {
        f64::from(f32::abs(self))
    }

    type Cell = AtomicU32;

    #[inline]
    fn into_cell(self) -> AtomicU32 {
        AtomicU32::new(self.to_bits())
    }

    #[inline]
    fn load(cell: &AtomicU32) -> f32 {
        f32::from_bits(cell.load(Relaxed))
    }

    #[inline]
    fn store(self, cell: &AtomicU32) {
        cell.store(self.to_bits(), Relaxed);
    }
}
