//! Counted arrays in the arena, and how they are made.

use std::fmt;
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering, fence};

use hedgerow_core::VertexId;

use super::{Arena, Block};

/// The element types of columns: any bytes are a valid value, and the alignment is at most 8.
pub trait Plain: Copy + Send + Sync + sealed::Sealed + 'static {}

mod sealed {
    pub trait Sealed {}
}

macro_rules! plain {
    ($($ty:ty),*) => {$(
        impl sealed::Sealed for $ty {}
        impl Plain for $ty {}
        const _: () = assert!(align_of::<$ty>() <= 8);
    )*};
}

plain!(u8, u16, u32, u64, i64, f64, VertexId);

/// Bytes before the elements: the count of references, padded to the alignment.
const HEAD: usize = 8;

/// An immutable array in a block of an [`Arena`], shared by counting references like an `Arc<[T]>`.
///
/// Cloning is one atomic increment. An empty array has no block.
pub struct Counted<T: Plain> {
    /// The first element; the count is right before it. Dangling for an empty array.
    data: NonNull<T>,
    len: usize,
}

// SAFETY: shared by counting, like an `Arc` of plain values, and never changed.
unsafe impl<T: Plain> Send for Counted<T> {}
// SAFETY: as above.
unsafe impl<T: Plain> Sync for Counted<T> {}

impl<T: Plain> Counted<T> {
    #[inline]
    fn block_start(&self) -> NonNull<u8> {
        // SAFETY: the elements of an array that is not empty are behind the count in their block.
        unsafe { self.data.cast::<u8>().sub(HEAD) }
    }

    #[inline]
    fn count(&self) -> &AtomicU32 {
        // SAFETY: written before the first reference was made; the block exists while a reference does.
        unsafe { self.block_start().cast::<AtomicU32>().as_ref() }
    }

    /// Returns the bytes of the block, with its heads; 0 for an empty array. All clones share them.
    pub fn bytes(&self) -> usize {
        if self.len == 0 {
            return 0;
        }
        // SAFETY: the block is only read, not dropped.
        ManuallyDrop::new(unsafe { Block::from_start(self.block_start()) }).bytes()
    }

    /// Starts loading the count of references.
    #[inline]
    pub(crate) fn prefetch(&self) {
        hedgerow_core::simd::prefetch(self.data.as_ptr().cast::<u8>().wrapping_sub(HEAD));
    }

    /// True if another reference to the same array exists. Only a hint if other threads may clone or drop one
    /// meanwhile.
    pub fn is_shared(&self) -> bool {
        self.len != 0 && self.count().load(Ordering::Relaxed) > 1
    }

    /// True if both refer to the same array. Two arrays with equal elements are different.
    pub fn is_same(&self, other: &Counted<T>) -> bool {
        self.data == other.data && self.len == other.len
    }
}

impl<T: Plain> Deref for Counted<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        // SAFETY: all elements were written before the array was made, and never change while it exists.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl<T: Plain> Clone for Counted<T> {
    #[inline]
    fn clone(&self) -> Self {
        if self.len != 0 {
            // Like the standard library's `Arc`: a thread that has a reference may make another one without
            // ordering. The check below stops long before the count overflows.
            let before = self.count().fetch_add(1, Ordering::Relaxed);
            if before > u32::MAX / 2 {
                std::process::abort();
            }
        }
        Counted { data: self.data, len: self.len }
    }
}

impl<T: Plain> Drop for Counted<T> {
    #[inline]
    fn drop(&mut self) {
        if self.len != 0 && self.count().fetch_sub(1, Ordering::Release) == 1 {
            // All uses through other references are ordered before the block is freed.
            fence(Ordering::Acquire);
            // SAFETY: this was the last reference; the block was given up when the array was made.
            drop(unsafe { Block::from_start(self.block_start()) });
        }
    }
}

impl<T: Plain> Default for Counted<T> {
    fn default() -> Self {
        Counted { data: NonNull::dangling(), len: 0 }
    }
}

impl<T: Plain + fmt::Debug> fmt::Debug for Counted<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.deref().fmt(f)
    }
}

impl<T: Plain + PartialEq> PartialEq for Counted<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

/// A [`Counted`] array under construction, filled from the front, with room for a fixed number of elements.
pub struct Builder<T: Plain> {
    /// `None` if the capacity is zero.
    block: Option<Block>,
    len: usize,
    capacity: usize,
    element: std::marker::PhantomData<T>,
}

impl<T: Plain> Builder<T> {
    fn new(arena: &Arena, capacity: usize) -> Builder<T> {
        let block = (capacity > 0).then(|| arena.block(size_in_bytes::<T>(capacity)));
        Builder { block, len: 0, capacity, element: std::marker::PhantomData }
    }

    #[inline]
    fn data(&self) -> NonNull<T> {
        match &self.block {
            // SAFETY: the block begins with the count.
            Some(block) => unsafe { block.start().add(HEAD).cast() },
            None => NonNull::dangling(),
        }
    }

    /// Returns the number of elements so far.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// True if there is no element yet.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Appends an element.
    ///
    /// # Panics
    /// If there is no room.
    #[inline]
    pub fn push(&mut self, value: T) {
        assert!(self.len < self.capacity, "no room in the array");
        // SAFETY: within the room of the block.
        unsafe { self.data().add(self.len).write(value) };
        self.len += 1;
    }

    /// Appends all of `values`.
    ///
    /// # Panics
    /// If there is no room.
    #[inline]
    pub fn extend(&mut self, values: &[T]) {
        assert!(values.len() <= self.capacity - self.len, "no room in the array");
        // SAFETY: within the room of the block, which nothing else refers to.
        unsafe {
            std::ptr::copy_nonoverlapping(values.as_ptr(), self.data().add(self.len).as_ptr(), values.len());
        }
        self.len += values.len();
    }

    /// Appends the first `count` of `values`. A small `count` is copied as a fixed number of elements,
    /// without a call.
    ///
    /// # Panics
    /// If there is no room, or `values` has fewer than `count` elements.
    #[inline]
    pub fn extend_few(&mut self, values: &[T], count: usize) {
        const FEW: usize = 16;
        if count > FEW || values.len() < FEW || self.capacity - self.len < FEW {
            return self.extend(&values[..count]);
        }
        // SAFETY: `FEW` elements are readable, and fit the room of the block, which nothing else refers to.
        // Elements behind `count` do not count as written.
        unsafe { std::ptr::copy_nonoverlapping(values.as_ptr(), self.data().add(self.len).as_ptr(), FEW) };
        self.len += count;
    }

    /// Returns the elements so far.
    pub fn as_slice(&self) -> &[T] {
        // SAFETY: the first `len` elements are written.
        unsafe { std::slice::from_raw_parts(self.data().as_ptr(), self.len) }
    }

    /// Turns the elements into an array. Frees the unused room.
    pub fn finish(self) -> Counted<T> {
        let (data, len) = (self.data(), self.len);
        let Some(mut block) = self.block.filter(|_| len > 0) else { return Counted::default() };
        if len < self.capacity {
            block.shrink(size_in_bytes::<T>(len));
        }
        let start = block.into_start();
        // SAFETY: the block begins with room for the count, aligned to 8.
        unsafe { start.cast::<AtomicU32>().write(AtomicU32::new(1)) };
        Counted { data, len }
    }
}

impl Arena {
    /// Returns an empty builder with room for `capacity` elements.
    pub fn builder<T: Plain>(&self, capacity: usize) -> Builder<T> {
        Builder::new(self, capacity)
    }

    /// Returns an array with a copy of `content`.
    pub fn copy<T: Plain>(&self, content: &[T]) -> Counted<T> {
        let mut builder = self.builder(content.len());
        builder.extend(content);
        builder.finish()
    }
}

/// Returns the bytes of a block for `len` elements. An overflow saturates at a size that no allocation has.
fn size_in_bytes<T>(len: usize) -> usize {
    len.saturating_mul(size_of::<T>()).saturating_add(HEAD).min(isize::MAX as usize - 64)
}
