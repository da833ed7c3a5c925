use super::{and_count, and_count_plain, gallop, intersect_count, merge, merge_plain};

/// A small random generator. It is defined here because the core crate has no dependencies.
struct Draws(u64);

impl Draws {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }

    fn list(&mut self, len: u64, bound: u64) -> Vec<u32> {
        let mut list: Vec<u32> = (0..len).map(|_| self.below(bound) as u32).collect();
        list.sort_unstable();
        list.dedup();
        list
    }
}

fn naive(a: &[u32], b: &[u32]) -> usize {
    a.iter().filter(|x| b.contains(x)).count()
}

#[test]
fn all_ways_to_intersect_agree_with_the_naive_one() {
    let mut draws = Draws(1);
    let mut met = [0usize; 2];
    for round in 0..4000 {
        let (len_a, len_b) = (draws.below(70), draws.below(if round % 3 == 0 { 3000 } else { 70 }));
        // Lists of a small range have many common elements, lists of a large range have few.
        let bound = [50, 200, 5000][round % 3];
        let (a, b) = (draws.list(len_a, bound), draws.list(len_b, bound));
        let expected = naive(&a, &b);
        for (x, y) in [(&a, &b), (&b, &a)] {
            assert_eq!(intersect_count(x, y), expected, "{x:?} {y:?}");
            assert_eq!(merge(x, y), expected, "{x:?} {y:?}");
            assert_eq!(merge_plain(x, y), expected, "{x:?} {y:?}");
            assert_eq!(gallop(x, y), expected, "{x:?} {y:?}");
        }
        met[usize::from(expected > 0)] += 1;
    }
    assert!(met.iter().all(|&n| n > 500), "{met:?}");
}

#[test]
fn extremes_of_the_domain_and_of_length() {
    let all: Vec<u32> = (0..1000).collect();
    assert_eq!(intersect_count(&all, &all), 1000);
    assert_eq!(intersect_count(&all, &[]), 0);
    assert_eq!(intersect_count(&[0, u32::MAX], &[0, 7, u32::MAX]), 2);
    for x in [0, 1, 7, 8, 9, 500, 991, 992, 998, 999, 1000, u32::MAX] {
        assert_eq!(intersect_count(&[x], &all), usize::from(x < 1000), "{x}");
    }
    let sign: Vec<u32> = (0..40).map(|i| (1 << 31) - 20 + i).collect();
    assert_eq!(intersect_count(&sign, &sign[3..]), 37, "numbers compare as unsigned");
}

#[test]
fn lists_that_break_the_rule_do_no_harm() {
    let down: Vec<u32> = (0..300).rev().collect();
    let same = [5u32; 300];
    for (a, b) in [(&down[..], &same[..]), (&same, &same), (&down, &down), (&same[..3], &down)] {
        assert!(intersect_count(a, b) <= a.len() * b.len());
    }
}

#[test]
fn common_bits() {
    let mut draws = Draws(7);
    for len in 0..70 {
        let mut words = |n: u64| (0..n).map(|_| draws.below(1 << 31) << 33 | draws.below(1 << 31)).collect();
        let (a, b): (Vec<u64>, Vec<u64>) = (words(len), words(len / 2 + 9));
        let bit = |words: &[u64], i: usize| words.get(i / 64).is_some_and(|w| w >> (i % 64) & 1 == 1);
        let expected = (0..100 * 64).filter(|&i| bit(&a, i) && bit(&b, i)).count() as u64;
        assert_eq!((and_count(&a, &b), and_count_plain(&b, &a)), (expected, expected));
    }
    assert_eq!(and_count(&[u64::MAX; 3], &[u64::MAX; 5]), 192);
}
