//! A small seeded generator of random numbers, written out here because its streams must never change.
//!
//! SplitMix64 (G. Steele, D. Lea, C. Flood, *Fast Splittable Pseudorandom Number Generators*, OOPSLA 2014)
//! for seeding and mixing, xoshiro256++ (D. Blackman, S. Vigna, *Scrambled Linear Pseudorandom Number
//! Generators*, 2021) for drawing, multiplication for ranges (D. Lemire, *Fast Random Integer Generation in
//! an Interval*, 2019).

/// Returns a bijective mix of 64 bits: the output function of SplitMix64.
#[inline]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

/// A stream of random numbers, fixed by its seed in all versions.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Returns the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        let step = |n: u64| mix(seed.wrapping_add(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        Rng { state: [step(0), step(1), step(2), step(3)] }
    }

    /// Returns the `n`-th of many independent streams of `seed`, for work that is split into parts.
    pub fn part(seed: u64, n: u64) -> Self {
        Rng::new(mix(seed) ^ mix(n ^ 0x5851_F42D_4C95_7F2D))
    }

    /// Returns 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number below `bound`, or 0 if `bound` is 0. Bias is below `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns a number in 0 to 1, 1 excluded, with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Returns true with `probability`.
    #[inline]
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }
}
