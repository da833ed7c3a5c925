//! Decoding of packed gaps to ids: the loop in which decoding spends its time.
//!
//! Eight gaps of `w` bits are `w` bytes, so gaps come in groups of eight that begin at whole bytes. There is
//! a function for each width, in which every position, shift and mask of a group is a constant. So a gap is
//! one load of eight bytes, a shift, a mask and two additions, with no branch. A whole mini-block is a loop
//! over eight groups: 33 unrolled functions of 64 gaps would be larger than the instruction cache. The last
//! group of a short mini-block is read as if it were whole. Loads reach beyond their group, so the packed
//! bytes must have [`SLACK`] bytes behind them.
//!
//! Most lists of sparse graphs have fewer than eight gaps. These are read with a variable width, because the
//! jump to the function of a width is mispredicted almost every time. Four gaps are read together, even if
//! the list has fewer.

use hedgerow_core::VertexId;

use super::form::Form;

/// The number of gaps of one step.
pub(super) const GROUP: usize = 8;

/// The number of arbitrary bytes that must exist behind the packed gaps.
pub(super) const SLACK: usize = 40;

/// Half of a group.
const HALF: usize = GROUP / 2;

/// The ids of a group.
type Ids = [VertexId; GROUP];

/// A function that decodes gaps to groups of ids, which follow a given id. The second argument is the number
/// of gaps in the last group, or 0 if it is whole; ids behind that number are meaningless. Returns the id of
/// the last gap.
type Groups = fn(&[u8], usize, u64, &mut [Ids]) -> u64;

/// Decodes the `count` gaps of `width` bits at the beginning of `packed`, and appends the ids, which follow
/// the id `last`. Returns the last one, which may be too large for an id. `packed` has [`SLACK`] bytes behind
/// the gaps.
#[inline]
pub(super) fn append(
    packed: &[u8],
    width: u8,
    count: usize,
    form: Form,
    last: u64,
    out: &mut Vec<VertexId>,
) -> u64 {
    if count < GROUP {
        return match packed.first_chunk() {
            Some(window) => append_few(window, usize::from(width), count, form, last, out),
            None => last,
        };
    }
    let begin = out.len();
    out.resize(begin + count.next_multiple_of(GROUP), VertexId(0));
    let table = if form.repeats { &REPEATING } else { &ASCENDING };
    let (groups, _) = out.split_at_mut(begin).1.as_chunks_mut();
    let last = table.get(usize::from(width)).map_or(last, |f| f(packed, count % GROUP, last, groups));
    out.truncate(begin + count);
    last
}

/// Appends the ids of `count` gaps, 1 to 7, and returns the last.
#[inline]
fn append_few(
    window: &[u8; SLACK],
    width: usize,
    count: usize,
    form: Form,
    last: u64,
    out: &mut Vec<VertexId>,
) -> u64 {
    let end = out.len() + count;
    let (mut ids, next) = half(window, 0, width, form, last);
    out.extend_from_slice(&ids.map(|id| VertexId(id as u32)));
    let mut nth = count;
    if count > HALF {
        ids = half(window, HALF, width, form, next).0;
        out.extend_from_slice(&ids.map(|id| VertexId(id as u32)));
        nth -= HALF;
    }
    out.truncate(end);
    ids[(nth - 1) % HALF]
}

/// Returns the ids of the four gaps from number `from` on, and the last id as a number.
#[inline(always)]
fn half(window: &[u8; SLACK], from: usize, width: usize, form: Form, last: u64) -> ([u64; HALF], u64) {
    let mask = (1u64 << width) - 1;
    let step = u64::from(form.step());
    let mut id = last;
    let ids = std::array::from_fn(|nth| {
        let bit = (from + nth) * width;
        // At most 7 * 32 / 8 = 28; the mask avoids a bounds check.
        let gap = word_at(window, (bit / 8) & 31) >> (bit % 8) & mask;
        id = id.wrapping_add(gap + step);
        id
    });
    (ids, id)
}

#[inline(always)]
fn word_at<const N: usize>(window: &[u8; N], at: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&window[at..at + 8]);
    u64::from_le_bytes(word)
}

/// Implements [`Groups`] for gaps of `WIDTH` bits. `WINDOW` bytes contain a group and the word from which its
/// last gap is loaded.
fn groups<const WIDTH: usize, const WINDOW: usize, const STEP: u64>(
    mut packed: &[u8],
    few: usize,
    mut last: u64,
    groups: &mut [Ids],
) -> u64 {
    let whole = groups.len() - usize::from(few > 0);
    let (whole, rest) = groups.split_at_mut(whole);
    for group in whole {
        let Some(window) = packed.first_chunk::<WINDOW>() else { return last };
        let sums = sums::<WIDTH, WINDOW>(window, last);
        *group = ids::<STEP>(sums);
        last = sums[GROUP - 1] + GROUP as u64 * STEP;
        packed = packed.get(WIDTH..).unwrap_or_default();
    }
    if let ([group], Some(window)) = (rest, packed.first_chunk::<WINDOW>()) {
        let sums = sums::<WIDTH, WINDOW>(window, last);
        *group = ids::<STEP>(sums);
        last = sums[(few - 1) % GROUP] + few as u64 * STEP;
    }
    last
}

/// Returns the running sums of `last` and the gaps of one group, with gaps as they are written.
#[inline(always)]
fn sums<const WIDTH: usize, const WINDOW: usize>(window: &[u8; WINDOW], last: u64) -> [u64; GROUP] {
    let mut sum = last;
    std::array::from_fn(|nth| {
        let bit = nth * WIDTH;
        let gap = word_at(window, bit / 8) >> (bit % 8) & ((1 << WIDTH) - 1);
        // Arbitrary bits follow the last gap, so only sums behind it may wrap.
        sum = sum.wrapping_add(gap);
        sum
    })
}

/// Adds the number that was subtracted from each gap. It is added to the sums, not to the gaps, because each
/// sum waits for the one before it: an addition less is faster.
#[inline(always)]
fn ids<const STEP: u64>(sums: [u64; GROUP]) -> Ids {
    let mut steps = 0;
    sums.map(|sum| {
        steps += STEP;
        VertexId(sum.wrapping_add(steps) as u32)
    })
}

/// Expands to a table of [`groups`] for each width, with the given step.
macro_rules! for_each_width {
    ($step:literal: $($width:literal)*) => {
        [$(groups::<$width, { $width + 8 }, $step>),*]
    };
}

macro_rules! table {
    ($step:literal) => {
        for_each_width!($step:
            0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32)
    };
}

/// The functions by width, for gaps from which one was subtracted.
static ASCENDING: [Groups; 33] = table!(1);

/// The functions by width, for unchanged gaps.
static REPEATING: [Groups; 33] = table!(0);
