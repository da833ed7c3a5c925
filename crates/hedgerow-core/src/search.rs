//! Searches of sorted lists of vertices.

use crate::id::VertexId;
use crate::simd;

/// The length of lists up to which a search is a plain bisection: four cache lines.
const SHORT: usize = 64;
/// The number of vertices in a cache line.
const LINE: usize = 16;
/// The number of elements that [`lower_bound_soon`] compares before it bisects.
const SOON: usize = 128;

/// A guess of the position of a vertex in a sorted list, as if the list were spread evenly over the ids. The
/// guess is good for graphs without local structure, whose lists are too long for caches. After a wrong guess
/// the search gallops (interpolation search: Perl, Itai, Avni, "Interpolation search, a log log n search",
/// 1978).
#[derive(Clone, Copy, Debug)]
pub struct InterpolationHint {
    /// 2^48 over the number of ids.
    inverse: u64,
    bound: u32,
}

impl InterpolationHint {
    /// The hint if nothing is known about the ids.
    pub const UNKNOWN: InterpolationHint = InterpolationHint { inverse: 0, bound: 0 };

    /// Returns the hint for lists over the ids `0..bound`.
    #[inline]
    pub fn over(bound: u32) -> InterpolationHint {
        InterpolationHint { inverse: (1 << 48) / u64::from(bound.max(1)), bound }
    }

    /// Returns the likely position of `dst` in a list of `len` elements, at most `len`.
    #[inline]
    pub fn place(self, len: usize, dst: VertexId) -> usize {
        if dst.0 >= self.bound {
            return len;
        }
        // The share is below 2^32, in units of 2^-32.
        let share = (u64::from(dst.0) * self.inverse) >> 16;
        (share.wrapping_mul(len as u64) >> 32) as usize
    }

    /// Returns the number of elements of the ascending `list` that are less than `dst`. Searches outwards
    /// from the likely position. O(log distance from it), at most O(log length).
    #[inline]
    pub fn lower_bound(self, list: &[VertexId], dst: VertexId) -> usize {
        if list.len() <= SHORT || self.bound == 0 {
            return list.partition_point(|&x| x < dst);
        }
        lower_bound_near(list, self.place(list.len(), dst), dst)
    }

    /// Returns the position of `dst` in the ascending `list`; `None` if it is absent. O(log length).
    #[inline]
    pub fn find(self, list: &[VertexId], dst: VertexId) -> Option<usize> {
        let at = self.lower_bound(list, dst);
        (list.get(at) == Some(&dst)).then_some(at)
    }

    /// Starts loading the memory that a search for `dst` in `list` reads first: all of a short list, or the
    /// surroundings of the likely position in a long one.
    #[inline]
    pub fn prefetch(self, list: &[VertexId], dst: VertexId) {
        if list.len() <= SHORT {
            return simd::prefetch_slice(list, SHORT / LINE);
        }
        let likely = self.place(list.len(), dst);
        let near = likely.saturating_sub(SHORT / 2)..(likely + SHORT / 2).min(list.len());
        simd::prefetch_slice(&list[near], SHORT / LINE);
    }
}

/// Returns the number of elements of the ascending `list` that are less than `dst`. `likely` is the likely
/// result, at most the length. Gallops from it with a first step of a cache line (Bentley and Yao, "An almost
/// optimal algorithm for unbounded searching", 1976). The processor predicts that each step is not the last,
/// and loads the line of the next step early; bisection waits for each load. O(log distance).
#[inline]
pub fn lower_bound_near(list: &[VertexId], likely: usize, dst: VertexId) -> usize {
    let mut step = LINE;
    let (low, high) = if list.get(likely).is_some_and(|&x| x < dst) {
        let mut low = likely + 1;
        while low + step < list.len() && list[low + step] < dst {
            (low, step) = (low + step + 1, step * 2);
        }
        (low, list.len().min(low + step))
    } else {
        let mut high = list.len().min(likely);
        while step < high && list[high - step] >= dst {
            (high, step) = (high - step, step * 2);
        }
        (high.saturating_sub(step), high)
    };
    low + list[low..high].partition_point(|&x| x < dst)
}

/// Returns the number of elements of the ascending `list` that are less than `dst`; the result is likely
/// below [`SOON`]. Compares the first [`SOON`] elements, many at a time, then bisects the others. O(log
/// length).
#[inline]
pub fn lower_bound_soon(list: &[VertexId], dst: VertexId) -> usize {
    match list.get(SOON - 1) {
        Some(&last) if last < dst => SOON + list[SOON..].partition_point(|&x| x < dst),
        _ => simd::count_below(list, dst),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns four lists: ids with even gaps, ids at the low end, ids at the high end, and ids with growing
    /// gaps.
    fn lists(len: u32, bound: u32) -> Vec<Vec<VertexId>> {
        let step = (bound / len.max(1)).max(1);
        let even = (0..len).map(|i| VertexId(i * step));
        let low = (0..len).map(VertexId);
        let high = (0..len).map(|i| VertexId(bound - len + i));
        let odd = (0..len).map(|i| VertexId((u64::from(i) * u64::from(i) / 7) as u32 + i));
        vec![even.collect(), low.collect(), high.collect(), odd.collect()]
    }

    #[test]
    fn a_search_ends_where_a_scan_does_however_the_list_is_spread() {
        for len in [0, 1, 63, 64, 65, 100, 1000] {
            let bound = 20_000;
            for (shape, list) in lists(len, bound).iter().enumerate() {
                for dst in (0..bound + 3).step_by(7).chain(list.iter().map(|v| v.0)).map(VertexId) {
                    let expected = list.iter().filter(|&&x| x < dst).count();
                    for hint in [bound, 1, bound / 3, u32::MAX]
                        .map(InterpolationHint::over)
                        .into_iter()
                        .chain([InterpolationHint::UNKNOWN])
                    {
                        let about = format!("length {len}, shape {shape}, {dst:?}, {hint:?}");
                        assert_eq!(hint.lower_bound(list, dst), expected, "{about}");
                        assert_eq!(hint.find(list, dst), list.binary_search(&dst).ok(), "{about}");
                        hint.prefetch(list, dst);
                    }
                }
            }
        }
    }

    #[test]
    fn a_search_ends_where_a_scan_does_wherever_it_begins() {
        for len in [0, 1, 7, 15, 16, 17, 33, 100, 300] {
            for list in lists(len, 1000) {
                for dst in (0..1003).map(VertexId) {
                    let expected = list.iter().filter(|&&x| x < dst).count();
                    let near =
                        [expected.saturating_sub(1), expected, expected + 1, expected / 2, expected + 40];
                    for likely in near.into_iter().chain([0, list.len(), list.len() + 1]) {
                        assert_eq!(
                            lower_bound_near(&list, likely, dst),
                            expected,
                            "length {len}, {dst:?}, {likely}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn a_search_from_the_beginning_ends_where_a_scan_does() {
        for len in [0, 1, 15, 16, 17, 127, 128, 129, 130, 300] {
            for list in lists(len, 1000) {
                for dst in (0..1003).chain([u32::MAX]).map(VertexId) {
                    let expected = list.iter().filter(|&&x| x < dst).count();
                    assert_eq!(lower_bound_soon(&list, dst), expected, "length {len}, {dst:?}");
                }
            }
        }
    }

    #[test]
    fn places_are_in_the_list_or_at_its_end() {
        for bound in [0, 1, 2, 1000, 1 << 20, u32::MAX] {
            let hint = InterpolationHint::over(bound);
            for len in [0, 1, 100, u32::MAX as usize] {
                for dst in [0, 1, bound / 2, bound.saturating_sub(1), bound, u32::MAX] {
                    assert!(hint.place(len, VertexId(dst)) <= len);
                }
            }
            if bound > 1 {
                assert!((450..=500).contains(&hint.place(1000, VertexId(bound / 2))));
            }
        }
    }
}
