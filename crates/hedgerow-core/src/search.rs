//! Searching sorted lists of vertices.

use crate::id::VertexId;
use crate::simd;

/// Lists up to this long are searched by halving alone: four cache lines.
const SHORT: usize = 64;

/// Where in a sorted list of vertices one is likely to stand: where it stood if all were spread evenly over the ids there
/// are. It holds for graphs without local structure, which have the lists that are too long for caches; where it does not
/// hold it costs two looks (interpolation search: Perl, Itai, Avni, "Interpolation search, a log log n search", 1978).
#[derive(Clone, Copy, Debug)]
pub struct Spread {
    /// 2^48 over the number of ids.
    inverse: u64,
    bound: u32,
}

impl Spread {
    /// Nothing is known of the ids.
    pub const UNKNOWN: Spread = Spread { inverse: 0, bound: 0 };

    /// Over the ids `0..bound`.
    #[inline]
    pub fn over(bound: u32) -> Spread {
        Spread { inverse: (1 << 48) / u64::from(bound.max(1)), bound }
    }

    /// The likely place of `dst` in a list of `len` elements, at most `len`.
    #[inline]
    pub fn place(self, len: usize, dst: VertexId) -> usize {
        if dst.0 >= self.bound {
            return len;
        }
        // Below 2^32, in units of 2^-32.
        let share = (u64::from(dst.0) * self.inverse) >> 16;
        (share.wrapping_mul(len as u64) >> 32) as usize
    }

    /// Where `dst` almost certainly stands in a list of `len` elements if it is spread evenly: within at least 2.8 standard
    /// deviations, of which one is at most half the root of the length.
    #[inline]
    fn window(self, len: usize, dst: VertexId) -> std::ops::Range<usize> {
        let half = 2 << (len.max(1).ilog2() / 2);
        let likely = self.place(len, dst);
        likely.saturating_sub(half)..len.min(likely + half)
    }

    /// The number of elements of `list`, which ascends, that are less than `dst`.
    ///
    /// Two looks tell whether it stands where it is expected; then a stretch of four roots of the length is searched, which
    /// is a few cache lines next to each other, where halving the list touches a line far away for each step. Else what is
    /// left on the side of `dst` is. O(log length) in any case.
    #[inline]
    pub fn lower_bound(self, list: &[VertexId], dst: VertexId) -> usize {
        let smaller = |list: &[VertexId]| list.partition_point(|&x| x < dst);
        if list.len() <= SHORT || self.bound == 0 {
            return smaller(list);
        }
        let window = self.window(list.len(), dst);
        let (from, to) = (window.start, window.end);
        let not_before = from == 0 || list[from - 1] < dst;
        let not_after = to == list.len() || list[to] >= dst;
        match (not_before, not_after) {
            (true, true) => from + smaller(&list[from..to]),
            (true, false) => to + smaller(&list[to..]),
            (false, _) => smaller(&list[..from]),
        }
    }

    /// Where `dst` stands in `list`, which ascends. O(log length).
    #[inline]
    pub fn find(self, list: &[VertexId], dst: VertexId) -> Option<usize> {
        let at = self.lower_bound(list, dst);
        (list.get(at) == Some(&dst)).then_some(at)
    }

    /// Starts loading what a search for `dst` in `list` reads first: a short list whole, of a long one the middle of the
    /// stretch and its ends.
    #[inline]
    pub fn prefetch(self, list: &[VertexId], dst: VertexId) {
        if list.len() <= SHORT {
            return simd::prefetch_slice(list, SHORT / 16);
        }
        let window = self.window(list.len(), dst);
        let likely = self.place(list.len(), dst);
        let near = likely.saturating_sub(SHORT / 2).max(window.start)..(likely + SHORT / 2).min(window.end);
        simd::prefetch_slice(&list[near], SHORT / 16);
        simd::prefetch_slice(&list[window.start.saturating_sub(1)..window.end], 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists that are spread evenly, bunched at either end, and in between.
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
                    for spread in
                        [bound, 1, bound / 3, u32::MAX].map(Spread::over).into_iter().chain([Spread::UNKNOWN])
                    {
                        let about = format!("length {len}, shape {shape}, {dst:?}, {spread:?}");
                        assert_eq!(spread.lower_bound(list, dst), expected, "{about}");
                        assert_eq!(spread.find(list, dst), list.binary_search(&dst).ok(), "{about}");
                        spread.prefetch(list, dst);
                    }
                }
            }
        }
    }

    #[test]
    fn places_are_in_the_list_or_at_its_end() {
        for bound in [0, 1, 2, 1000, 1 << 20, u32::MAX] {
            let spread = Spread::over(bound);
            for len in [0, 1, 100, u32::MAX as usize] {
                for dst in [0, 1, bound / 2, bound.saturating_sub(1), bound, u32::MAX] {
                    assert!(spread.place(len, VertexId(dst)) <= len);
                }
            }
            if bound > 1 {
                assert!((450..=500).contains(&spread.place(1000, VertexId(bound / 2))));
            }
        }
    }
}
