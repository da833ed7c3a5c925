//! A file of a level: the lists of some vertices in CSR form (section 4.2.1, figure 6).
//!
//! The edge file has a header of 64 bytes, a Bloom filter, the offsets (a pair of vertex and first edge for
//! each vertex that has edges here), and the bodies of the edges, by column: ids, then timestamps with the
//! marker of a removal as lowest bit. The property file has the weights, one for each edge. A file never
//! changes, and is removed when no snapshot refers to it any more.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::VertexId;
use hedgerow_io::NamedFile;

use super::entry::{Entry, Stamp, begin, stamp};
use super::files::{BLOCK, Files, Folder, read};
use super::filter::Filter;
use crate::LabError;

/// Where the lists of a file are, where that is kept in memory. The list of place `i` is
/// `starts[i]..starts[i + 1]`.
#[derive(Debug)]
pub(super) enum Offsets {
    /// Of all ids from the first to the last: at least a quarter of them have edges here.
    Dense(Box<[u32]>),
    /// Of the vertices that have edges here.
    Sorted(Box<[VertexId]>, Box<[u32]>),
}

impl Offsets {
    pub(super) fn new(sources: &[VertexId], starts: &[u32]) -> Offsets {
        let (Some(first), Some(last)) = (sources.first(), sources.last()) else {
            return Offsets::Sorted(Box::default(), Box::default());
        };
        let ids = last.index() - first.index() + 1;
        if ids / 4 > sources.len() {
            return Offsets::Sorted(sources.into(), starts.into());
        }
        let mut dense = Vec::with_capacity(ids + 1);
        for (source, &start) in sources.iter().zip(starts) {
            // An id without edges ends where the next begins.
            dense.resize(source.index() - first.index() + 1, start);
        }
        dense.extend(starts.last());
        Offsets::Dense(dense.into_boxed_slice())
    }

    fn list(&self, v: VertexId, least: VertexId) -> Option<Range<u32>> {
        let (place, starts) = match self {
            Offsets::Dense(starts) => (v.0.checked_sub(least.0)? as usize, starts),
            Offsets::Sorted(sources, starts) => (sources.binary_search(&v).ok()?, starts),
        };
        let list = *starts.get(place)?..*starts.get(place + 1)?;
        (!list.is_empty()).then_some(list)
    }

    fn bytes(&self) -> usize {
        match self {
            Offsets::Dense(starts) => size_of_val(&**starts),
            Offsets::Sorted(sources, starts) => size_of_val(&**sources) + size_of_val(&**starts),
        }
    }
}

/// Where the parts of the edge file begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) offsets: u64,
    pub(super) targets: u64,
    pub(super) stamps: u64,
}

/// A file with what is kept of it in memory.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: u32,
    pub(super) level: usize,
    /// In the first level, that of the memory buffer that it was.
    pub(super) order: u32,
    pub(super) least: VertexId,
    pub(super) greatest: VertexId,
    /// How many vertices have edges here.
    pub(super) sources: usize,
    pub(super) entries: usize,
    /// The largest timestamp.
    pub(super) newest: u64,
    /// Whether no target has several versions, and none was removed.
    pub(super) is_simple: bool,
    /// The first target of each block.
    pub(super) fences: Box<[VertexId]>,
    pub(super) filter: Option<Filter>,
    /// Whether the filter has edges, and not vertices alone.
    pub(super) filters_edges: bool,
    /// In the first level, and where there is no multi-level index.
    pub(super) offsets: Option<Offsets>,
    pub(super) layout: Layout,
    pub(super) edges: NamedFile,
    pub(super) properties: Option<NamedFile>,
    pub(super) disk_bytes: u64,
    pub(super) folder: Arc<Folder>,
    pub(super) files: Arc<Files>,
}

/// The whole content of a segment.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) sources: Vec<VertexId>,
    /// One more than sources.
    pub(super) starts: Vec<u32>,
    targets: Vec<VertexId>,
    stamps: Vec<Stamp>,
    weights: Vec<f64>,
}

impl Loaded {
    #[inline]
    pub(super) fn entry(&self, i: usize) -> Entry {
        let weight = self.weights.get(i).copied().unwrap_or(1.0);
        Entry { target: self.targets[i], stamp: self.stamps[i], weight }
    }
}

impl Segment {
    /// Whether a reader at `at` sees each entry as it stands.
    #[inline]
    pub(super) fn is_plain(&self, at: u64) -> bool {
        self.is_simple && self.newest <= at
    }

    /// The list of `v`. Only where offsets are kept.
    #[inline]
    pub(super) fn list(&self, v: VertexId) -> Option<Range<u32>> {
        self.offsets.as_ref()?.list(v, self.least)
    }

    /// Whether the edge may be here.
    #[inline]
    pub(super) fn may_have(&self, src: VertexId, dst: VertexId) -> bool {
        !self.filters_edges || self.filter.as_ref().is_none_or(|filter| filter.may_have_edge(src, dst))
    }

    fn block_len(&self, block: u32) -> usize {
        (self.entries - block as usize * BLOCK as usize).min(BLOCK as usize)
    }

    #[inline]
    pub(super) fn targets(&self, block: u32) -> Result<Arc<[VertexId]>, LabError> {
        let at = self.layout.targets + u64::from(block) * u64::from(BLOCK) * 4;
        let load = || read(&self.edges, at, self.block_len(block));
        self.files.targets.get((self.number, block), load)
    }

    fn stamps(&self, block: u32) -> Result<Arc<[Stamp]>, LabError> {
        let at = self.layout.stamps + u64::from(block) * u64::from(BLOCK) * 8;
        self.files.stamps.get((self.number, block), || read(&self.edges, at, self.block_len(block)))
    }

    /// The weights of a block; none in a graph without weights.
    pub(super) fn weights(&self, block: u32) -> Result<Option<Arc<[f64]>>, LabError> {
        let Some(file) = &self.properties else { return Ok(None) };
        let at = u64::from(block) * u64::from(BLOCK) * 8;
        let load = || read(file, at, self.block_len(block));
        self.files.weights.get((self.number, block), load).map(Some)
    }

    /// Reads all, past the blocks that are kept.
    pub(super) fn load(&self) -> Result<Loaded, LabError> {
        let offsets: Vec<VertexId> = read(&self.edges, self.layout.offsets, 2 * self.sources)?;
        let pairs = offsets.chunks_exact(2);
        let mut starts: Vec<u32> = pairs.clone().map(|pair| pair[1].0).collect();
        starts.push(self.entries as u32);
        Ok(Loaded {
            sources: pairs.map(|pair| pair[0]).collect(),
            starts,
            targets: read(&self.edges, self.layout.targets, self.entries)?,
            stamps: read(&self.edges, self.layout.stamps, self.entries)?,
            weights: match &self.properties {
                Some(file) => read(file, 0, self.entries)?,
                None => Vec::new(),
            },
        })
    }

    /// What is kept in memory.
    pub(super) fn bytes(&self) -> usize {
        let filter = self.filter.as_ref().map_or(0, Filter::bytes);
        let offsets = self.offsets.as_ref().map_or(0, Offsets::bytes);
        size_of::<Self>() + size_of_val(&*self.fences) + filter + offsets
    }
}

impl Drop for Segment {
    fn drop(&mut self) {
        self.files.disk_bytes.fetch_sub(self.disk_bytes, Ordering::Relaxed);
        for file in [Some(&self.edges), self.properties.as_ref()].into_iter().flatten() {
            // It is removed with the directory at the latest.
            let _ = self.folder.dir.unlink(file.name());
        }
    }
}

/// A list in a segment.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) segment: Arc<Segment>,
    pub(super) start: u32,
    pub(super) len: u32,
}

/// Reads single entries of a segment, and holds the blocks that it read last.
pub(super) struct Reader<'a> {
    segment: &'a Segment,
    plain: bool,
    block: u32,
    targets: Option<Arc<[VertexId]>>,
    stamps: Option<Arc<[Stamp]>>,
    weights: Option<Arc<[f64]>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(segment: &'a Segment, at: u64) -> Reader<'a> {
        let plain = segment.is_plain(at);
        Reader { segment, plain, block: 0, targets: None, stamps: None, weights: None }
    }

    fn enter(&mut self, block: u32) {
        if self.block != block {
            *self = Reader { block, targets: None, stamps: None, weights: None, ..*self };
        }
    }

    #[inline]
    pub(super) fn target(&mut self, i: u32) -> Result<VertexId, LabError> {
        self.enter(i / BLOCK);
        let targets = match &mut self.targets {
            Some(targets) => targets,
            none => none.insert(self.segment.targets(self.block)?),
        };
        Ok(targets[(i % BLOCK) as usize])
    }

    /// The timestamp of the entry, or 0 where every one is seen.
    #[inline]
    pub(super) fn stamp(&mut self, i: u32) -> Result<Stamp, LabError> {
        if self.plain {
            return Ok(stamp(0, false));
        }
        self.enter(i / BLOCK);
        let stamps = match &mut self.stamps {
            Some(stamps) => stamps,
            none => none.insert(self.segment.stamps(self.block)?),
        };
        Ok(stamps[(i % BLOCK) as usize])
    }

    #[inline]
    pub(super) fn weight(&mut self, i: u32) -> Result<f64, LabError> {
        self.enter(i / BLOCK);
        if self.weights.is_none() {
            self.weights = self.segment.weights(self.block)?;
        }
        Ok(self.weights.as_ref().map_or(1.0, |weights| weights[(i % BLOCK) as usize]))
    }

    /// The first entry of a list whose target is not before `target`, or the end of the list.
    pub(super) fn lower_bound(&mut self, list: Range<u32>, target: VertexId) -> Result<u32, LabError> {
        // Blocks after the first begin inside the list, so that their first targets ascend.
        let (first, last) = (list.start / BLOCK, (list.end - 1) / BLOCK);
        let fences = &self.segment.fences[first as usize + 1..=last as usize];
        let block = first + fences.partition_point(|&fence| fence < target) as u32;
        let from = list.start.max(block * BLOCK);
        let end = list.end.min((block + 1) * BLOCK);
        self.target(from)?;
        let targets = self.targets.as_deref().unwrap_or_default();
        let targets = &targets[(from % BLOCK) as usize..][..(end - from) as usize];
        Ok(from + targets.partition_point(|&t| t < target) as u32)
    }

    /// The version of `target` at `at` in a list.
    pub(super) fn find(
        &mut self,
        list: Range<u32>,
        target: VertexId,
        at: u64,
    ) -> Result<Option<Entry>, LabError> {
        for i in self.lower_bound(list.clone(), target)?..list.end {
            if self.target(i)? != target {
                break;
            }
            let stamp = self.stamp(i)?;
            if begin(stamp) <= at {
                return Ok(Some(Entry { target, stamp, weight: self.weight(i)? }));
            }
        }
        Ok(None)
    }
}
