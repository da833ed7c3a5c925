//! From packed gaps to ids: the loop in which decoding spends its time.
//!
//! Eight gaps of `w` bits are `w` bytes, so gaps come in groups of eight that begin at whole bytes. There is a function
//! for each width, in which every position, shift and mask of a group is a constant: a gap is one load of eight bytes, a
//! shift, a mask and two additions, with no branch. Of a mini-block the function makes eight groups; written out, 33
//! functions of 64 gaps would be larger than the instruction cache. Loads reach beyond their group, which is why the
//! bytes given have [`SLACK`] behind them.
//!
//! The up to seven gaps that are left, which are all there is on graphs of short lists, are read with a width that is a
//! variable, four at a time and as many as there may be rather than as there are: no jump depends on width or count.

use hedgerow_core::VertexId;

use super::form::Form;

/// Gaps of one step.
pub(super) const GROUP: usize = 8;

/// Bytes that are there behind the packed gaps, whatever they are.
pub(super) const SLACK: usize = 40;

/// Half of a group.
const HALF: usize = GROUP / 2;

/// Appends the ids of so many whole groups, which follow upon an id; returns the last one.
type Groups = fn(&[u8], usize, u64, &mut Vec<VertexId>) -> u64;

/// Appends the ids of the `count` gaps of `width` bits at the beginning of `packed`, which follow upon `last`; returns
/// the last of them, which may be too large for an id. `packed` has [`SLACK`] bytes behind the gaps.
#[inline]
pub(super) fn append(
    packed: &[u8],
    width: u8,
    count: usize,
    form: Form,
    mut last: u64,
    out: &mut Vec<VertexId>,
) -> u64 {
    let (groups, few) = (count / GROUP, count % GROUP);
    let width = usize::from(width);
    if groups > 0 {
        let table = if form.repeats { &REPEATING } else { &ASCENDING };
        if let Some(unpack) = table.get(width) {
            last = unpack(packed, groups, last, out);
        }
    }
    if few > 0
        && let Some(window) = packed.get(groups * width..).and_then(<[u8]>::first_chunk)
    {
        last = append_few(window, width, few, form, last, out);
    }
    last
}

/// The ids of `count` gaps, 1 to 7.
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

/// The ids of the four gaps from the one numbered `from` on, and the last of them.
#[inline(always)]
fn half(window: &[u8; SLACK], from: usize, width: usize, form: Form, last: u64) -> ([u64; HALF], u64) {
    let mask = (1u64 << width) - 1;
    let step = u64::from(form.step());
    let mut id = last;
    let ids = std::array::from_fn(|nth| {
        let bit = (from + nth) * width;
        // At most 7 * 32 / 8 = 28; the mask spares a check.
        let gap = word_at(window, bit / 8 & 31) >> (bit % 8) & mask;
        // Gaps behind the last are whatever follows, so that only their sum may wrap.
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

/// Groups of `WIDTH` bits a gap, of which `WINDOW` bytes hold one and the word that its last gap is loaded with.
fn groups<const WIDTH: usize, const WINDOW: usize, const STEP: u64>(
    mut packed: &[u8],
    groups: usize,
    last: u64,
    out: &mut Vec<VertexId>,
) -> u64 {
    let mut id = last;
    for _ in 0..groups {
        let Some(window) = packed.first_chunk::<WINDOW>() else { break };
        let ids: [VertexId; GROUP] = std::array::from_fn(|nth| {
            let bit = nth * WIDTH;
            let gap = word_at(window, bit / 8) >> (bit % 8) & ((1 << WIDTH) - 1);
            id += gap + STEP;
            VertexId(id as u32)
        });
        out.extend_from_slice(&ids);
        packed = packed.get(WIDTH..).unwrap_or_default();
    }
    id
}

/// [`groups`] for each width and a step.
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

/// By width: gaps are written less one.
static ASCENDING: [Groups; 33] = table!(1);

/// By width: gaps are written as they are.
static REPEATING: [Groups; 33] = table!(0);
