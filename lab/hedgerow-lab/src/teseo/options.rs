//! The parameters of the paper, and what follows from them.

use std::time::Duration;

use crate::GraphForm;

/// Words of every segment that a window has more than its edges take when it is spread. Lists that are cut by
/// the gap and by the ends of the segment take up to six of them.
pub(super) const MARGIN: usize = 8;
/// Versions of changes that a segment, or a vertex, keeps at least before a writer prunes them.
pub(super) const UNDO_BEFORE_PRUNING: usize = 16;

/// The parameters of [`Teseo`](super::Teseo); the defaults are those of the paper and, where it states none,
/// of the authors' code.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TeseoOptions {
    /// Words of 4 bytes in a segment, 32 to 32,768: C_S, 4 KB in the paper.
    pub segment: usize,
    /// Segments in the largest leaf, 2 to 65,536: C_L, 1 MB in the paper.
    pub leaf: usize,
    /// How full a window of one segment may be after a rebalance, from `tau_h` to 1.
    pub tau_1: f64,
    /// How full a window of a whole leaf may be, from 0.1 to 1.
    pub tau_h: f64,
    /// How full a leaf may be that neighbouring leaves are merged into, from 0.1 to `tau_h`.
    pub rho_h: f64,
    /// Time from a request to the rebalance of a segment: D.
    pub delay: Duration,
    /// Threads in the background, at least 1: as many as run at a time on this machine. A visit takes one of
    /// them, and with a single one rebalances wait for its end.
    pub threads: usize,
    /// How often versions of all segments are pruned, and leaves merged.
    pub visits: Duration,
    /// After how many degrees of single vertices a snapshot makes the view that has all of them.
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

/// What segments and leaves are like.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    /// Words in a segment.
    pub(super) words: usize,
    /// The most segments in a leaf.
    pub(super) leaf: usize,
    tau_1: f64,
    tau_h: f64,
    rho_h: f64,
    pub(super) weighted: bool,
    /// Whether changes leave versions.
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

    /// Words that a window of `width` segments may hold after a rebalance, in a leaf of `all` segments:
    /// formula 1 of the paper, in which thresholds go from `tau_1` for one segment to `tau_h` for the leaf.
    pub(super) fn most(&self, width: usize, all: usize) -> usize {
        let height = (all as f64).log2().ceil();
        let above = if height > 0.0 { (height - (width as f64).log2()).max(0.0) / height } else { 1.0 };
        let density = self.tau_h + (self.tau_1 - self.tau_h) * above;
        ((self.words - MARGIN) as f64 * width as f64 * density) as usize
    }

    /// Segments of a new leaf that holds so many words: those of a resize, `2 N / (rho_h + tau_h)`.
    pub(super) fn resized(&self, words: usize) -> usize {
        let density = ((self.rho_h + self.tau_h) / 2.0).min(1.0 - MARGIN as f64 / self.words as f64);
        ((words as f64 / (density * self.words as f64)).ceil() as usize).max(1)
    }

    /// Whether so many words are few enough for one leaf that others are merged into.
    pub(super) fn merges(&self, words: usize) -> bool {
        words as f64 <= self.rho_h * (self.leaf * self.words) as f64
    }
}
