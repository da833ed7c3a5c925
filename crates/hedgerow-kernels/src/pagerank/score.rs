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
    /// Returns the absolute value.
    fn abs(self) -> f64;

    /// A place for a number that threads may read while another thread writes it.
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

macro_rules! scores {
    ($($float:ident in $cell:ident),*) => {
        $(impl Score for $float {
            const ZERO: $float = 0.0;

            #[inline]
            fn from_f64(value: f64) -> $float {
                value as $float
            }

            #[inline]
            fn to_f64(self) -> f64 {
                self.into()
            }

            #[inline]
            fn abs(self) -> f64 {
                $float::abs(self).into()
            }

            type Cell = $cell;

            #[inline]
            fn into_cell(self) -> $cell {
                $cell::new(self.to_bits())
            }

            #[inline]
            fn load(cell: &$cell) -> $float {
                $float::from_bits(cell.load(Relaxed))
            }

            #[inline]
            fn store(self, cell: &$cell) {
                cell.store(self.to_bits(), Relaxed);
            }
        })*
    };
}

scores!(f64 in AtomicU64, f32 in AtomicU32);
