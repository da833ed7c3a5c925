//! Sizes of intersections of sorted lists, and of bitmaps.
//!
//! Two lists of similar length are merged block by block. Eight numbers of one list are compared with eight
//! of the other in all rotations, and the block with the smaller last number is skipped (D. Lemire, L.
//! Boytsov, N. Kurz, *SIMD Compression and the Intersection of Sorted Integers*, Software: Practice and
//! Experience 46(6), 2016, section 6). If one list is much longer, each number of the short list is searched
//! in the long one, by doubling steps over its blocks.
//!
//! The program chooses the instructions at run time: AVX2 if the processor has it, else SSE2 on x86-64, else
//! plain code. All give the same results.

/// The ratio of lengths from which on the longer list is searched instead of merged.
const GALLOP_RATIO: usize = 32;

/// The block size of a search: it compares this many numbers at once.
const BLOCK: usize = 8;

/// Returns how many numbers `a` and `b` have in common. Both must ascend strictly; otherwise the result is
/// meaningless.
///
/// # Cost
/// O(|a| + |b|), or O(short · log(long / short)) if one list is at least 32 times as long as the other.
#[inline]
pub fn intersect_count(a: &[u32], b: &[u32]) -> usize {
    let (short, long) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    if short.is_empty() {
        return 0;
    }
    let gallops = long.len() / short.len() >= GALLOP_RATIO;
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2.
        return unsafe { if gallops { x86::gallop_avx2(short, long) } else { x86::merge_avx2(short, long) } };
    }
    if gallops { gallop(short, long) } else { merge(short, long) }
}

#[cfg(target_arch = "x86_64")]
fn merge(a: &[u32], b: &[u32]) -> usize {
    x86::merge_sse2(a, b)
}

#[cfg(not(target_arch = "x86_64"))]
fn merge(a: &[u32], b: &[u32]) -> usize {
    merge_plain(a, b)
}

/// Counts the common numbers by a merge without vectors, and without branches that depend on the numbers.
#[inline]
fn merge_plain(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut found) = (0, 0, 0);
    while let (Some(&x), Some(&y)) = (a.get(i), b.get(j)) {
        found += usize::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    found
}

/// Counts the numbers of `short` that are in `long`. Each search begins where the one before it ended.
#[inline(always)]
fn gallop(short: &[u32], long: &[u32]) -> usize {
    let (blocks, rest) = long.as_chunks::<BLOCK>();
    let mut at = 0;
    let mut found = 0;
    for &x in short {
        at = first_block(blocks, at, x);
        found += match blocks.get(at) {
            Some(block) => usize::from(block.iter().fold(false, |any, &y| any | (x == y))),
            None => usize::from(rest.contains(&x)),
        };
    }
    found
}

/// Returns the first block from `from` on whose last number is `x` or more. All blocks before `from` have
/// smaller last numbers.
#[inline(always)]
fn first_block(blocks: &[[u32; BLOCK]], from: usize, x: u32) -> usize {
    let ends_before = |at: usize| blocks.get(at).is_some_and(|block| block[BLOCK - 1] < x);
    let mut step = 1;
    let mut low = from;
    while ends_before(low + step - 1) {
        low += step;
        step *= 2;
    }
    let mut high = (low + step - 1).min(blocks.len());
    while low < high {
        let middle = low.midpoint(high);
        if ends_before(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Returns how many bits `a` and `b` have in common; missing words of the shorter one count as 0. O(words).
#[inline]
pub fn and_count(a: &[u64], b: &[u64]) -> u64 {
    #[cfg(target_arch = "x86_64")]
    {
        if std::arch::is_x86_feature_detected!("avx512vpopcntdq")
            && std::arch::is_x86_feature_detected!("avx512vl")
        {
            // SAFETY: the processor has the instructions.
            return unsafe { x86::and_count_avx512(a, b) };
        }
        if std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt") {
            // SAFETY: the processor has the instructions.
            return unsafe { x86::and_count_avx2(a, b) };
        }
    }
    and_count_plain(a, b)
}

#[inline(always)]
fn and_count_plain(a: &[u64], b: &[u64]) -> u64 {
    a.iter().zip(b).map(|(x, y)| u64::from((x & y).count_ones())).sum()
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m128i, __m256i, _mm_castsi128_ps, _mm_cmpeq_epi32, _mm_loadu_si128, _mm_movemask_ps, _mm_or_si128,
        _mm_shuffle_epi32, _mm256_castsi256_ps, _mm256_cmpeq_epi32, _mm256_loadu_si256, _mm256_movemask_ps,
        _mm256_or_si256, _mm256_permute2x128_si256, _mm256_shuffle_epi32,
    };

    /// The shuffle that rotates the four numbers of a lane by one place; the next two rotate by two and three
    /// places.
    const TURN_1: i32 = 0b00_11_10_01;
    const TURN_2: i32 = 0b01_00_11_10;
    const TURN_3: i32 = 0b10_01_00_11;

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn merge_avx2(a: &[u32], b: &[u32]) -> usize {
        let (mut i, mut j, mut found) = (0, 0, 0);
        while let (Some(x), Some(y)) = (a[i..].first_chunk::<8>(), b[j..].first_chunk::<8>()) {
            // SAFETY: 32 readable bytes each; the loads have no alignment requirement.
            let (vx, vy) = unsafe {
                (
                    _mm256_loadu_si256(x.as_ptr().cast::<__m256i>()),
                    _mm256_loadu_si256(y.as_ptr().cast::<__m256i>()),
                )
            };
            let crossed = _mm256_permute2x128_si256::<1>(vy, vy);
            let any4 = |v: __m256i| {
                let same = _mm256_cmpeq_epi32(vx, v);
                let same_1 = _mm256_cmpeq_epi32(vx, _mm256_shuffle_epi32::<TURN_1>(v));
                let same_2 = _mm256_cmpeq_epi32(vx, _mm256_shuffle_epi32::<TURN_2>(v));
                let same_3 = _mm256_cmpeq_epi32(vx, _mm256_shuffle_epi32::<TURN_3>(v));
                _mm256_or_si256(_mm256_or_si256(same, same_1), _mm256_or_si256(same_2, same_3))
            };
            let any = _mm256_or_si256(any4(vy), any4(crossed));
            found += _mm256_movemask_ps(_mm256_castsi256_ps(any)).count_ones() as usize;
            i += if x[7] <= y[7] { 8 } else { 0 };
            j += if y[7] <= x[7] { 8 } else { 0 };
        }
        found + super::merge_plain(&a[i..], &b[j..])
    }

    pub(super) fn merge_sse2(a: &[u32], b: &[u32]) -> usize {
        let (mut i, mut j, mut found) = (0, 0, 0);
        while let (Some(x), Some(y)) = (a[i..].first_chunk::<4>(), b[j..].first_chunk::<4>()) {
            // SAFETY: 16 readable bytes each, loads without alignment requirement; SSE2 is part of x86-64,
            // and the other instructions touch no memory.
            let any = unsafe {
                let vx = _mm_loadu_si128(x.as_ptr().cast::<__m128i>());
                let vy = _mm_loadu_si128(y.as_ptr().cast::<__m128i>());
                let same = _mm_cmpeq_epi32(vx, vy);
                let same_1 = _mm_cmpeq_epi32(vx, _mm_shuffle_epi32::<TURN_1>(vy));
                let same_2 = _mm_cmpeq_epi32(vx, _mm_shuffle_epi32::<TURN_2>(vy));
                let same_3 = _mm_cmpeq_epi32(vx, _mm_shuffle_epi32::<TURN_3>(vy));
                let any = _mm_or_si128(_mm_or_si128(same, same_1), _mm_or_si128(same_2, same_3));
                _mm_movemask_ps(_mm_castsi128_ps(any))
            };
            found += any.count_ones() as usize;
            i += if x[3] <= y[3] { 4 } else { 0 };
            j += if y[3] <= x[3] { 4 } else { 0 };
        }
        found + super::merge_plain(&a[i..], &b[j..])
    }

    #[target_feature(enable = "avx2")]
    pub(super) fn gallop_avx2(short: &[u32], long: &[u32]) -> usize {
        super::gallop(short, long)
    }

    // The compiler vectorizes these two well enough when it knows which instructions it may use.
    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn and_count_avx2(a: &[u64], b: &[u64]) -> u64 {
        super::and_count_plain(a, b)
    }

    #[target_feature(enable = "avx512f,avx512vl,avx512vpopcntdq,popcnt")]
    pub(super) fn and_count_avx512(a: &[u64], b: &[u64]) -> u64 {
        super::and_count_plain(a, b)
    }
}

#[cfg(test)]
mod tests;
