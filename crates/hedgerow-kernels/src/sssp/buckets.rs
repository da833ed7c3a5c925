//! Vertices that wait to be settled, by distance.

/// The number of buckets in the window.
pub(super) const WINDOW: usize = 1024;

/// The mapping of distances to buckets.
#[derive(Clone, Copy)]
pub(super) struct Buckets {
    pub(super) per_unit: f64,
    /// The number of the first bucket of the window.
    pub(super) first: u64,
}

impl Buckets {
    pub(super) fn new(width: f64) -> Buckets {
        Buckets { per_unit: width.max(f64::MIN_POSITIVE).recip().min(f64::MAX), first: 0 }
    }

    #[inline]
    pub(super) fn number(&self, distance: f64) -> u64 {
        (distance * self.per_unit) as u64
    }

    /// Returns the place of a distance in the window; [`WINDOW`] for distances beyond the window.
    #[inline]
    pub(super) fn place(&self, distance: f64) -> usize {
        self.number(distance).saturating_sub(self.first).min(WINDOW as u64) as usize
    }
}

/// The buckets that one task fills.
pub(super) struct Task {
    pub(super) window: Vec<Vec<u32>>,
    /// The number of vertices in the window.
    waiting: usize,
    pub(super) beyond: Vec<u32>,
    pub(super) scratch: Vec<u32>,
    /// The number of vertices that this task was the first to reach, counted from its last report on.
    pub(super) reached: u64,
}

impl Task {
    pub(super) fn new() -> Task {
        Task {
            window: vec![Vec::new(); WINDOW],
            waiting: 0,
            beyond: Vec::new(),
            scratch: Vec::new(),
            reached: 0,
        }
    }

    #[inline]
    pub(super) fn push(&mut self, place: usize, v: u32) {
        match self.window.get_mut(place) {
            Some(bucket) => {
                bucket.push(v);
                self.waiting += 1;
            }
            None => self.beyond.push(v),
        }
    }

    /// Returns the first bucket from `place` on with vertices.
    pub(super) fn next(&self, place: usize) -> Option<usize> {
        if self.waiting == 0 {
            return None;
        }
        Some(place + self.window[place..].iter().position(|bucket| !bucket.is_empty())?)
    }

    pub(super) fn take(&mut self, place: usize, into: &mut Vec<u32>) {
        self.waiting -= self.window[place].len();
        if into.is_empty() {
            std::mem::swap(into, &mut self.window[place]);
        } else {
            into.append(&mut self.window[place]);
        }
    }
}
