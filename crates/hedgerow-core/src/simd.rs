//! Vector comparisons with a portable fallback. One of the few modules with `unsafe` code.
#![allow(unsafe_code)]

use crate::id::VertexId;

mod marks;
mod sets;

pub use marks::{clear, copy_marked, marks_before};
pub use sets::{and_count, intersect_count};

/// Starts loading the cache line at `address`. The address need not be valid, because the hint never faults.
/// Does nothing on targets without such an instruction.
#[inline(always)]
pub fn prefetch<T: ?Sized>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch has no effect that the program can observe, and does not fault on any address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}

/// Starts loading the cache lines of `slice`: the first `lines` lines, and the last one.
#[inline]
pub fn prefetch_slice<T>(slice: &[T], lines: usize) {
    let per_line = (64 / size_of::<T>().max(1)).max(1);
    slice.iter().step_by(per_line).take(lines).for_each(|at| prefetch(at));
    if let Some(last) = slice.last() {
        prefetch(last);
    }
}

/// Calls `f` with the index of every byte of `bytes` whose low six bits equal the low six bits of `needle`,
/// ascending.
///
/// A delta stores the local source of an entry in the low six bits and its operation in the upper two. Point
/// reads and a writer's duplicate check filter these bytes. Cost: one comparison per 16 bytes.
#[inline]
pub fn for_each_low6(bytes: &[u8], needle: u8, mut f: impl FnMut(usize)) {
    let mut base = 0;
    let mut chunks = bytes.chunks_exact(16);
    for chunk in &mut chunks {
        let mut mask = match_low6_16(chunk.try_into().unwrap_or(&[0; 16]), needle);
        while mask != 0 {
            f(base + mask.trailing_zeros() as usize);
            mask &= mask - 1;
        }
        base += 16;
    }
    for (i, &b) in chunks.remainder().iter().enumerate() {
        if (b ^ needle) & 0x3f == 0 {
            f(base + i);
        }
    }
}

/// The number of bytes that are counted in parallel.
const LANES: usize = 16;

/// Returns how many of `bytes` equal `plus`, minus how many equal `minus`. The compiler vectorizes the loop:
/// one step per sixteen bytes, without a branch per byte.
#[inline]
pub fn count_difference(bytes: &[u8], plus: u8, minus: u8) -> isize {
    let difference = |&byte: &u8| i8::from(byte == plus) - i8::from(byte == minus);
    let mut sum = 0;
    // A signed byte counts 127 steps without overflow.
    for stretch in bytes.chunks(LANES * 127) {
        let mut lanes = [0i8; LANES];
        let (steps, rest) = stretch.as_chunks::<LANES>();
        for step in steps {
            lanes.iter_mut().zip(step).for_each(|(lane, byte)| *lane += difference(byte));
        }
        sum += sum_of_lanes(lanes);
        sum += rest.iter().map(|byte| isize::from(difference(byte))).sum::<isize>();
    }
    sum
}

/// Returns the sum of sixteen signed bytes.
#[cfg(target_arch = "x86_64")]
#[inline]
fn sum_of_lanes(lanes: [i8; LANES]) -> isize {
    use std::arch::x86_64::{
        __m128i, _mm_cvtsi128_si64, _mm_loadu_si128, _mm_sad_epu8, _mm_set1_epi8, _mm_setzero_si128,
        _mm_unpackhi_epi64, _mm_xor_si128,
    };
    // SAFETY: `lanes` is 16 readable bytes and the load has no alignment requirement; SSE2 is part of x86-64.
    let loaded = unsafe { _mm_loadu_si128(lanes.as_ptr().cast::<__m128i>()) };
    // SAFETY: SSE2 is part of x86-64; these intrinsics touch no memory.
    let halves = unsafe {
        // The instruction sums eight unsigned bytes each, so 128 is added to each byte.
        let raised = _mm_xor_si128(loaded, _mm_set1_epi8(i8::MIN));
        let sums = _mm_sad_epu8(raised, _mm_setzero_si128());
        [_mm_cvtsi128_si64(sums), _mm_cvtsi128_si64(_mm_unpackhi_epi64(sums, sums))]
    };
    (halves[0] + halves[1]) as isize - 128 * LANES as isize
}

/// Returns the sum of sixteen signed bytes.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn sum_of_lanes(lanes: [i8; LANES]) -> isize {
    lanes.into_iter().map(isize::from).sum()
}

/// Returns the number of elements of the ascending `list` that are less than `bound`. Compares sixteen at a
/// time from the beginning. O(result), for callers that read these elements anyway.
#[inline]
pub fn count_below(list: &[VertexId], bound: VertexId) -> usize {
    let (steps, rest) = list.as_chunks::<LANES>();
    let whole = steps.iter().take_while(|step| step[LANES - 1] < bound).count();
    let step = steps.get(whole).map_or(rest, |step| &step[..]);
    // Compares all of them, without a branch to mispredict.
    whole * LANES + step.iter().map(|&v| usize::from(v < bound)).sum::<usize>()
}

/// Returns a mask of the bytes of `chunk` whose low six bits equal the low six bits of `needle`.
#[cfg(target_arch = "x86_64")]
#[inline]
fn match_low6_16(chunk: &[u8; 16], needle: u8) -> u32 {
    use std::arch::x86_64::{
        __m128i, _mm_and_si128, _mm_cmpeq_epi8, _mm_loadu_si128, _mm_movemask_epi8, _mm_set1_epi8,
    };
    // SAFETY: `chunk` is 16 readable bytes and the load has no alignment requirement; SSE2 is part of x86-64.
    let loaded = unsafe { _mm_loadu_si128(chunk.as_ptr().cast::<__m128i>()) };
    // SAFETY: SSE2 is part of x86-64; these intrinsics touch no memory.
    unsafe {
        let low = _mm_and_si128(loaded, _mm_set1_epi8(0x3f));
        let equal = _mm_cmpeq_epi8(low, _mm_set1_epi8((needle & 0x3f) as i8));
        _mm_movemask_epi8(equal) as u32
    }
}

/// Returns a mask of the bytes of `chunk` whose low six bits equal the low six bits of `needle`.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
fn match_low6_16(chunk: &[u8; 16], needle: u8) -> u32 {
    let mut mask = 0u32;
    for (i, &b) in chunk.iter().enumerate() {
        mask |= u32::from((b ^ needle) & 0x3f == 0) << i;
    }
    mask
}

/// Returns a mask of the twelve bytes in `first` and `last`, from the lowest of `first` on, that equal
/// `byte`.
#[cfg(target_arch = "x86_64")]
#[inline]
pub fn match_12(first: u64, last: u32, byte: u8) -> u32 {
    use std::arch::x86_64::{_mm_cmpeq_epi8, _mm_movemask_epi8, _mm_set_epi64x, _mm_set1_epi8};
    // SAFETY: SSE2 is part of x86-64; these intrinsics touch no memory.
    unsafe {
        let bytes = _mm_set_epi64x(i64::from(last), first as i64);
        _mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(byte as i8))) as u32 & 0xfff
    }
}

/// Returns a mask of the twelve bytes in `first` and `last`, from the lowest of `first` on, that equal
/// `byte`.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
pub fn match_12(first: u64, last: u32, byte: u8) -> u32 {
    let bytes = first.to_le_bytes().into_iter().chain(last.to_le_bytes());
    bytes.enumerate().fold(0, |mask, (at, found)| mask | u32::from(found == byte) << at)
}

#[cfg(test)]
mod tests {
    use super::{count_below, count_difference, for_each_low6, match_12};
    use crate::id::VertexId;

    #[test]
    fn differences_are_those_of_a_count_at_every_length() {
        for len in (0..70).chain([16 * 127 - 1, 16 * 127, 16 * 127 + 1, 5000]) {
            let bytes: Vec<u8> = (0..len).map(|i: usize| (i * i % 11) as u8).collect();
            let of = |wanted: u8| bytes.iter().filter(|&&byte| byte == wanted).count() as isize;
            for (plus, minus) in [(0, 1), (4, 0), (9, 10), (3, 3)] {
                assert_eq!(count_difference(&bytes, plus, minus), of(plus) - of(minus), "length {len}");
            }
            let same = vec![7; len];
            assert_eq!(count_difference(&same, 7, 1), len as isize);
            assert_eq!(count_difference(&same, 1, 7), -(len as isize));
        }
    }

    #[test]
    fn counts_of_what_is_less_are_those_of_a_search() {
        for len in 0..70 {
            let list: Vec<VertexId> = (0..len).map(|i| VertexId(3 * i + 1)).collect();
            for bound in (0..220).chain([u32::MAX]).map(VertexId) {
                assert_eq!(count_below(&list, bound), list.partition_point(|&v| v < bound), "length {len}");
            }
        }
    }

    #[test]
    fn every_byte_of_twelve_is_found_and_no_other() {
        for at in 0..12 {
            // Two bytes that differ only in the lowest bit, and two that differ only in the highest bit.
            for (byte, other) in [(0x80, 0x81), (1, 0), (0, 0x80), (0xff, 0x7f)] {
                let mut bytes = [other; 16];
                bytes[at] = byte;
                let bytes = u128::from_le_bytes(bytes);
                assert_eq!(match_12(bytes as u64, (bytes >> 64) as u32, byte), 1 << at);
                assert_eq!(match_12(bytes as u64, (bytes >> 64) as u32, other), 0xfff ^ 1 << at);
            }
        }
    }

    #[test]
    fn finds_exactly_the_matching_sources_at_every_length_and_operation() {
        for len in 0..70usize {
            let bytes: Vec<u8> = (0..len).map(|i| ((i * 7 % 5) as u8) | (((i % 4) as u8) << 6)).collect();
            for needle in 0..6u8 {
                let mut found = Vec::new();
                for_each_low6(&bytes, needle, |i| found.push(i));
                let expected: Vec<usize> = (0..len).filter(|&i| bytes[i] & 0x3f == needle).collect();
                assert_eq!(found, expected, "len {len} needle {needle}");
            }
        }
    }
}
