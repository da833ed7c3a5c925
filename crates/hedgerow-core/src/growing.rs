//! An array that grows without moving its items, so that it is read without locks.
//!
//! The first chunks double in size. From a limit on, all chunks have the same size, and a directory has their
//! addresses. So a small array takes little memory. An item with a large index costs one chunk and that
//! directory, not all chunks before it: an index from a file can be any number.

use std::sync::OnceLock;

/// Number of chunks that double in size, up to [`LARGEST`] items.
const DOUBLING: usize = 7;
/// Number of items of the first chunk.
const FIRST: usize = 64;
/// Number of items of every chunk after the doubling ones.
const LARGEST: usize = FIRST << (DOUBLING - 1);
/// Number of items in all doubling chunks, plus the size of the first one.
const NEAR: usize = FIRST << DOUBLING;

type Chunk<T> = OnceLock<Box<[T]>>;

/// An array of at most `MOST` items, made chunk by chunk at first use. Items never move, and are dropped only
/// with the array.
pub struct Growing<T, const MOST: usize> {
    near: [Chunk<T>; DOUBLING],
    far: OnceLock<Box<[Chunk<T>]>>,
}

/// Returns the position of an item: the number of its chunk, the index in the chunk, and the chunk's size.
#[inline]
fn locate(index: usize) -> (usize, usize, usize) {
    let n = index + FIRST;
    if n < NEAR {
        let chunk = (usize::BITS - 1 - n.leading_zeros()) as usize - FIRST.trailing_zeros() as usize;
        let size = FIRST << chunk;
        return (chunk, n - size, size);
    }
    (DOUBLING + (n - NEAR) / LARGEST, (n - NEAR) % LARGEST, LARGEST)
}

impl<T, const MOST: usize> Default for Growing<T, MOST> {
    fn default() -> Self {
        Growing { near: [const { OnceLock::new() }; DOUBLING], far: OnceLock::new() }
    }
}

impl<T, const MOST: usize> Growing<T, MOST> {
    #[inline]
    fn chunk(&self, chunk: usize) -> Option<&[T]> {
        let cell = match self.near.get(chunk) {
            Some(near) => near,
            None => self.far.get()?.get(chunk - DOUBLING)?,
        };
        cell.get().map(AsRef::as_ref)
    }

    /// Returns the item, if its chunk exists. O(1).
    #[inline]
    pub fn get(&self, index: usize) -> Option<&T> {
        let (chunk, place, _) = locate(index);
        self.chunk(chunk)?.get(place)
    }

    /// Returns the item for a change, if its chunk exists. O(1).
    pub fn get_mut(&mut self, index: usize) -> Option<&mut T> {
        let (chunk, place, _) = locate(index);
        let cell = match chunk.checked_sub(DOUBLING) {
            None => &mut self.near[chunk],
            Some(far) => self.far.get_mut()?.get_mut(far)?,
        };
        cell.get_mut()?.get_mut(place)
    }

    /// Returns the bytes of the chunks and of the directory, without memory that items own.
    pub fn bytes(&self) -> usize {
        let far = self.far.get().map_or(0, |far| size_of_val(&**far));
        far + self.chunks().map(|(_, items)| size_of_val(items)).sum::<usize>()
    }

    /// Returns the chunks that were made, ascending, each with the index of its first item.
    pub fn chunks(&self) -> impl Iterator<Item = (usize, &[T])> {
        let count = DOUBLING + self.far.get().map_or(0, |far| far.len());
        (0..count).filter_map(|chunk| {
            let first = match chunk.checked_sub(DOUBLING) {
                None => (FIRST << chunk) - FIRST,
                Some(far) => NEAR - FIRST + far * LARGEST,
            };
            Some((first, self.chunk(chunk)?))
        })
    }
}

impl<T: Default, const MOST: usize> Growing<T, MOST> {
    /// Returns the item. If its chunk does not exist, makes it and calls `taken` with its bytes. O(1), and
    /// O(chunk) for the first call in a chunk.
    ///
    /// # Panics
    /// If `index` is not below `MOST`.
    #[inline]
    pub fn get_or_create(&self, index: usize, taken: impl Fn(usize)) -> &T {
        let (chunk, place, size) = locate(index);
        let cell = match self.near.get(chunk) {
            Some(near) => near,
            None => {
                let count = (MOST + FIRST - NEAR).div_ceil(LARGEST);
                let far = self.far.get_or_init(|| {
                    taken(count * size_of::<Chunk<T>>());
                    (0..count).map(|_| OnceLock::new()).collect()
                });
                &far[chunk - DOUBLING]
            }
        };
        let new = || {
            taken(size * size_of::<T>());
            (0..size).map(|_| T::default()).collect()
        };
        &cell.get_or_init(new)[place]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: usize = 1 << 20;

    #[test]
    fn every_item_has_a_place_of_its_own() {
        let mut expected = (0, 0);
        for index in 0..40_000 {
            let (chunk, place, size) = locate(index);
            assert_eq!((chunk, place), expected, "{index}");
            expected.1 += 1;
            if expected.1 == size {
                expected = (expected.0 + 1, 0);
            }
        }
    }

    #[test]
    fn a_far_item_costs_a_chunk_and_the_directory() {
        let mut array = Growing::<u64, MOST>::default();
        assert!(array.get(MOST - 1).is_none() && array.bytes() == 0);
        let taken = std::cell::Cell::new(0);
        let take = |bytes| taken.set(taken.get() + bytes);
        array.get_or_create(MOST - 1, take);
        assert_eq!(array.get(MOST - 1), Some(&0));
        assert!(array.get(0).is_none() && array.get(MOST * 2).is_none());
        assert!(array.bytes() < 64 << 10, "{}", array.bytes());
        array.get_or_create(0, take);
        array.get_or_create(100, take);
        array.get_or_create(101, take);
        assert_eq!(array.bytes(), taken.get());
        for index in [100, MOST - 1] {
            *array.get_mut(index).expect("its chunk was made") = 7;
        }
        assert!(array.get_mut(5_000).is_none() && array.get(100) == array.get(MOST - 1));
        let found: Vec<(usize, usize)> = array.chunks().map(|(first, items)| (first, items.len())).collect();
        assert_eq!(found[..2], [(0, 64), (64, 128)]);
        assert!(found[2].0 < MOST && found[2].0 + found[2].1 >= MOST, "{found:?}");
    }
}
