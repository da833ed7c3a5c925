//! The parameters of the paper, and the limits that follow from them.

use std::time::Duration;

use crate::GraphForm;

/// The number of words per segment that a window has in addition to the words of its edges, when a rebalance
/// spreads them. The gap and the ends of a segment cut lists, and this takes up to six of these words.
pub(super) const MARGIN: usize = 8;
/// The smallest number of versions of a segment, or of a vertex, at which a writer prunes them.
pub(super) const UNDO_BEFORE_PRUNING: usize = 16;

/// The parameters of [`Teseo`](super::Teseo). The defaults come from the paper or, if it states none, from
/// the authors' code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TeseoOptions {
    /// The number of 4-byte words in a segment, 32 to 32,768: C_S, 4 KB in the paper.
    pub segment: usize,
    /// The number of segments in the largest leaf, 2 to 65,536: C_L, 1 MB in the paper.
    pub leaf: usize,
    /// The largest fill of a window of one segment after a rebalance, from `tau_h` to 1.
    pub tau_1: f64,
    /// The largest fill of a window of a whole leaf, from 0.1 to 1.
    pub tau_h: f64,
    /// The largest fill of a leaf that a merge of neighbouring leaves makes, from 0.1 to `tau_h`.
    pub rho_h: f64,
    /// The time from a request to the rebalance of a segment: D.
    pub delay: Duration,
    /// The number of background threads, at least 1. The default is the number of threads that this machine
    /// runs in parallel. A visit occupies one thread. With a single thread, rebalances wait for the end of
    /// the visit.
    pub threads: usize,
    /// The time between two visits. A visit prunes the versions of all segments, and merges leaves.
    pub visits: Duration,
    /// The number of degrees of single vertices after which a snapshot makes the view of all degrees.
    pub degrees_asked: u32,
}

impl Default for TeseoOptions {
    fn default() -> Self {
        TeseoOptions {
            segment: 1024,
            leaf: 256,
            tau_1: 1.0,
            tau_h: 0.75,
            rho_h: 0.75,
            delay: Duration::from_millis(200),
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            visits: Duration::from_secs(20),
            degrees_asked: 10,
        }
    }
}

/// The sizes and limits of segments and leaves.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// The number of words in a segment.
    pub(super) words: usize,
    /// The largest number of segments in a leaf.
    pub(super) leaf: usize,
    tau_1: f64,
    tau_h: f64,
    rho_h: f64,
    pub(super) weighted: bool,
    /// True if changes leave versions.
    pub(super) versioned: bool,
    pub(super) degrees_asked: u32,
}

impl Shape {
    pub(super) fn new(form: GraphForm, options: TeseoOptions, versioned: bool) -> Shape {
        let tau_h = options.tau_h.clamp(0.1, 1.0);
        Shape {
            words: options.segment.clamp(32, 1 << 15),
            leaf: options.leaf.clamp(2, 1 << 16),
            tau_1: options.tau_1.clamp(tau_h, 1.0),
            tau_h,
            rho_h: options.rho_h.clamp(0.1, tau_h),
            weighted: form.weighted,
            versioned,
            degrees_asked: options.degrees_asked,
        }
    }

    /// Returns the number of words that a window of `width` segments may hold after a rebalance, in a leaf of
    /// `all` segments. Formula 1 of the paper: the threshold goes from `tau_1` for one segment to `tau_h` for
    /// the leaf.
    pub(super) fn most(&self, width: usize, all: usize) -> usize {
        let height = (all as f64).log2().ceil();
        let above = if height > 0.0 { (height - (width as f64).log2()).max(0.0) / height } else { 1.0 };
        let density = self.tau_h + (self.tau_1 - self.tau_h) * above;
        ((self.words - MARGIN) as f64 * width as f64 * density) as usize
    }

    /// Returns the number of segments of a new leaf with `words` words: the resize of the paper,
    /// `2 N / (rho_h + tau_h)`.
    pub(super) fn resized(&self, words: usize) -> usize {
        let density = ((self.rho_h + self.tau_h) / 2.0).min(1.0 - MARGIN as f64 / self.words as f64);
        ((words as f64 / (density * self.words as f64)).ceil() as usize).max(1)
    }

    /// True if `words` words are few enough for a leaf that a merge makes.
    pub(super) fn merges(&self, words: usize) -> bool {
        words as f64 <= self.rho_h * (self.leaf * self.words) as f64
    }
}
