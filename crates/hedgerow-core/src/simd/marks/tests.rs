use super::{clear, clear_plain, copy_marked, copy_marked_plain, marks_before, marks_before_plain};
use crate::VertexId;

/// A small random generator. It is defined here because the core crate has no dependencies.
struct Draws(u64);

impl Draws {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 ^ self.0 >> 29
    }

    /// Returns words with no bits, some bits or all bits set.
    fn marks(&mut self, count: usize) -> Vec<u64> {
        let mut mark = || match self.next() >> 61 {
            0 => 0,
            1 => u64::MAX,
            2 => self.next() & self.next() & self.next(),
            _ => self.next(),
        };
        (0..count).map(|_| mark()).collect()
    }
}

fn is_marked(marks: &[u64], at: usize) -> bool {
    marks.get(at / 64).is_some_and(|mark| mark >> (at % 64) & 1 == 1)
}

#[test]
fn all_ways_to_clear_agree_with_one_by_one() {
    let mut draws = Draws(1);
    for round in 0..400usize {
        let words: Vec<u64> = (0..round).map(|_| draws.next() >> 40).collect();
        // Some rounds have fewer marks than words, some have more.
        let marks = draws.marks((round / 64 + 2).saturating_sub(round % 3));
        let passes = |word: u64| word < 1 << 23;
        let expected: Vec<u64> = (0..marks.len())
            .map(|at| {
                (0..64).fold(0, |all, bit| {
                    let place = at * 64 + bit;
                    let passed = words.get(place).is_some_and(|&word| passes(word));
                    all | u64::from(passed && is_marked(&marks, place)) << bit
                })
            })
            .collect();
        let (mut chosen, mut plain) = (marks.clone(), marks);
        clear(&words, &mut chosen, passes);
        clear_plain(&words, &mut plain, passes);
        assert_eq!(chosen, expected, "{round}");
        assert_eq!(plain, expected, "{round}");
    }
}

#[test]
fn all_ways_to_copy_take_what_is_marked() {
    let mut draws = Draws(2);
    for len in 0..400usize {
        let list: Vec<VertexId> = (0..len).map(|_| VertexId(draws.next() as u32)).collect();
        let marks = draws.marks(len.div_ceil(64));
        let expected: Vec<VertexId> =
            (0..len).filter(|&at| is_marked(&marks, at)).map(|at| list[at]).collect();
        let mut to = vec![VertexId(0); len.next_multiple_of(64)];
        let taken = copy_marked(&list, &marks, &mut to);
        assert_eq!(to[..taken], expected, "{len}");
        to.fill(VertexId(0));
        let taken = copy_marked_plain(&list, &marks, &mut to);
        assert_eq!(to[..taken], expected, "{len}");
        #[cfg(target_arch = "x86_64")]
        if super::x86::has_avx2() {
            to.fill(VertexId(0));
            // SAFETY: the processor has the instructions.
            let taken = unsafe { super::x86::copy_marked_avx2(&list, &marks, &mut to) };
            assert_eq!(to[..taken], expected, "{len}");
        }
    }
}

#[test]
fn all_ways_to_count_agree_with_one_by_one() {
    let mut draws = Draws(3);
    for round in 0..200u64 {
        let marks = draws.marks((round % 9) as usize);
        let len = marks.len() as u64 * 64;
        let mut places: [u32; 17] = std::array::from_fn(|_| (draws.next() % (len + 1)) as u32);
        places.sort_unstable();
        let expected =
            places.map(|place| (0..place as usize).filter(|&at| is_marked(&marks, at)).count() as u32);
        assert_eq!(marks_before(&marks, &places), expected, "{places:?}");
        assert_eq!(marks_before_plain(&marks, &places), expected, "{places:?}");
    }
}
