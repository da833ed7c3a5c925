//! Marks: a bit for each number of a column or entry of a list, 64 in a word.
//!
//! The program chooses the instructions at run time: AVX-512 if the processor has it, else AVX2, else the
//! instructions of every processor of the target. All give the same results.

use crate::VertexId;

/// The number of marks in a word.
const WORD: usize = 64;

/// Clears the marks of words that do not pass, and all marks beyond the last word. O(words).
#[inline]
pub fn clear(words: &[u64], marks: &mut [u64], passes: impl Fn(u64) -> bool) {
    #[cfg(target_arch = "x86_64")]
    {
        if x86::has_avx512() {
            // SAFETY: the processor has the instructions.
            return unsafe { x86::clear_avx512(words, marks, passes) };
        }
        if x86::has_avx2() {
            // SAFETY: the processor has the instructions.
            return unsafe { x86::clear_avx2(words, marks, passes) };
        }
    }
    clear_plain(words, marks, passes);
}

/// Clears marks. The loop has no branch that depends on the words, so that the compiler vectorizes it.
#[inline(always)]
fn clear_plain(words: &[u64], marks: &mut [u64], passes: impl Fn(u64) -> bool) {
    let bits = |words: &[u64]| {
        words.iter().enumerate().fold(0, |all, (i, &word)| all | u64::from(passes(word)) << (i % WORD))
    };
    let (whole, rest) = words.as_chunks::<WORD>();
    let mut left = marks.iter_mut();
    for (words, mark) in whole.iter().zip(&mut left) {
        *mark &= bits(words);
    }
    let mut rest = Some(bits(rest));
    left.for_each(|mark| *mark &= rest.take().unwrap_or(0));
}

/// Copies the marked entries of a list to the front of `to`, and returns their number. The elements of `to`
/// behind them become arbitrary. O(entries).
///
/// # Panics
/// If `to` is shorter than the list, rounded up to whole words of marks.
#[inline]
pub fn copy_marked(list: &[VertexId], marks: &[u64], to: &mut [VertexId]) -> usize {
    assert!(to.len() >= list.len().next_multiple_of(WORD), "room for all entries");
    #[cfg(target_arch = "x86_64")]
    if x86::has_avx512() {
        // SAFETY: the processor has the instructions.
        return unsafe { x86::copy_marked_avx512(list, marks, to) };
    }
    #[cfg(target_arch = "x86_64")]
    if x86::has_avx2() {
        // SAFETY: the processor has the instructions.
        return unsafe { x86::copy_marked_avx2(list, marks, to) };
    }
    copy_marked_plain(list, marks, to)
}

/// Writes every entry, but advances only for marked ones, without a branch to mispredict.
#[inline(always)]
fn copy_marked_plain(list: &[VertexId], marks: &[u64], to: &mut [VertexId]) -> usize {
    let mut taken = 0;
    for (list, &mark) in list.chunks(WORD).zip(marks) {
        let Some(to) = to.get_mut(taken..).and_then(|to| to.first_chunk_mut::<WORD>()) else { break };
        let mut at = 0;
        for (i, &v) in list.iter().enumerate() {
            to[at % WORD] = v;
            at += (mark >> (i % WORD) & 1) as usize;
        }
        taken += at;
    }
    taken
}

/// Returns how many marks are set before each of the ascending `places`. O(words + places).
#[inline]
pub fn marks_before<const N: usize>(marks: &[u64], places: &[u32; N]) -> [u32; N] {
    #[cfg(target_arch = "x86_64")]
    if x86::has_avx2() {
        // SAFETY: the processor has the instructions.
        return unsafe { x86::marks_before_popcnt(marks, places) };
    }
    marks_before_plain(marks, places)
}

#[inline(always)]
fn marks_before_plain<const N: usize>(marks: &[u64], places: &[u32; N]) -> [u32; N] {
    let (mut word, mut before) = (0, 0);
    places.map(|place| {
        let place = place as usize;
        while word < place / WORD {
            before += marks.get(word).map_or(0, |mark| mark.count_ones());
            word += 1;
        }
        let within = marks.get(place / WORD).map_or(0, |mark| mark & ((1 << (place % WORD)) - 1));
        before + within.count_ones()
    })
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::{
        __m256i, __m512i, _mm_cvtsi64_si128, _mm256_cvtepu8_epi32, _mm256_loadu_si256,
        _mm256_permutevar8x32_epi32, _mm256_storeu_si256, _mm512_loadu_si512, _mm512_maskz_compress_epi32,
        _mm512_storeu_si512,
    };

    use super::WORD;
    use crate::VertexId;

    /// The number of entries in a vector of 512 bits.
    const LANES: usize = 16;
    /// The number of entries in a vector of 256 bits.
    const HALF: usize = 8;
    /// A table of the positions of the set bits for each byte of marks: ascending, one byte for each position
    /// from the lowest on. It takes 2 KiB; with whole lanes it would take 8 KiB.
    static PLACES: [u64; 256] = places();

    const fn places() -> [u64; 256] {
        let mut places = [0; 256];
        let mut marks = 0;
        while marks < 256 {
            let (mut place, mut count) = (0, 0);
            while place < 8 {
                if marks >> place & 1 == 1 {
                    places[marks] |= place << (8 * count);
                    count += 1;
                }
                place += 1;
            }
            marks += 1;
        }
        places
    }

    #[inline]
    pub(super) fn has_avx512() -> bool {
        std::arch::is_x86_feature_detected!("avx512f")
            && std::arch::is_x86_feature_detected!("avx512dq")
            && std::arch::is_x86_feature_detected!("popcnt")
    }

    #[inline]
    pub(super) fn has_avx2() -> bool {
        std::arch::is_x86_feature_detected!("avx2") && std::arch::is_x86_feature_detected!("popcnt")
    }

    // The compiler vectorizes these functions well enough when it knows which instructions it may use.
    #[target_feature(enable = "avx512f,avx512dq,popcnt")]
    pub(super) fn clear_avx512(words: &[u64], marks: &mut [u64], passes: impl Fn(u64) -> bool) {
        super::clear_plain(words, marks, passes);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn clear_avx2(words: &[u64], marks: &mut [u64], passes: impl Fn(u64) -> bool) {
        super::clear_plain(words, marks, passes);
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn marks_before_popcnt<const N: usize>(marks: &[u64], places: &[u32; N]) -> [u32; N] {
        super::marks_before_plain(marks, places)
    }

    #[target_feature(enable = "avx2,popcnt")]
    pub(super) fn copy_marked_avx2(list: &[VertexId], marks: &[u64], to: &mut [VertexId]) -> usize {
        let mut taken = 0;
        let (whole, rest) = list.as_chunks::<WORD>();
        for (list, &mark) in whole.iter().zip(marks) {
            let Some(to) = to.get_mut(taken..).and_then(|to| to.first_chunk_mut::<WORD>()) else { break };
            let mut at = 0;
            for (lanes, mark) in list.as_chunks::<HALF>().0.iter().zip(mark.to_le_bytes()) {
                // SAFETY: 32 readable bytes; the load has no alignment requirement.
                let lanes = unsafe { _mm256_loadu_si256(lanes.as_ptr().cast::<__m256i>()) };
                let places = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(PLACES[usize::from(mark)] as i64));
                let packed = _mm256_permutevar8x32_epi32(lanes, places);
                // SAFETY: at most 56 of the 64 entries of `to` are taken before the last vector, so 32 bytes
                // are writable; the store has no alignment requirement.
                unsafe { _mm256_storeu_si256(to.as_mut_ptr().add(at).cast::<__m256i>(), packed) };
                at += mark.count_ones() as usize;
            }
            taken += at;
        }
        let rest_marks = marks.get(whole.len()..).unwrap_or(&[]);
        let rest_to = to.get_mut(taken..).unwrap_or(&mut []);
        taken + super::copy_marked_plain(rest, rest_marks, rest_to)
    }

    #[target_feature(enable = "avx512f,avx512dq,popcnt")]
    pub(super) fn copy_marked_avx512(list: &[VertexId], marks: &[u64], to: &mut [VertexId]) -> usize {
        let mut taken = 0;
        let (whole, rest) = list.as_chunks::<WORD>();
        for (list, &mark) in whole.iter().zip(marks) {
            let Some(to) = to.get_mut(taken..).and_then(|to| to.first_chunk_mut::<WORD>()) else { break };
            let mut at = 0;
            for (i, lanes) in list.as_chunks::<LANES>().0.iter().enumerate() {
                let mask = (mark >> (i * LANES)) as u16;
                // SAFETY: 64 readable bytes; the load has no alignment requirement.
                let lanes = unsafe { _mm512_loadu_si512(lanes.as_ptr().cast::<__m512i>()) };
                let packed = _mm512_maskz_compress_epi32(mask, lanes);
                // SAFETY: at most 48 of the 64 entries of `to` are taken before the last vector, so 64 bytes
                // are writable; the store has no alignment requirement.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().add(at).cast::<__m512i>(), packed) };
                at += mask.count_ones() as usize;
            }
            taken += at;
        }
        let rest_marks = marks.get(whole.len()..).unwrap_or(&[]);
        let rest_to = to.get_mut(taken..).unwrap_or(&mut []);
        taken + super::copy_marked_plain(rest, rest_marks, rest_to)
    }
}

#[cfg(test)]
mod tests;
