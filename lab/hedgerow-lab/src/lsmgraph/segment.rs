//! A file of a level: the lists of some vertices in CSR form (section 4.2.1, figure 6).
//!
//! The edge file has a header of 64 bytes, a Bloom filter, the offsets, and the bodies of the edges. The
//! offsets are pairs of a vertex and its first edge, for each vertex that has edges here. The bodies are
//! columns: ids, then timestamps with the marker of a removal as lowest bit. The property file has one weight
//! for each edge. A file never changes. It is removed when no snapshot refers to it any more.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::VertexId;
use hedgerow_io::NamedFile;

use super::entry::{Entry, Stamp, begin, stamp};
use super::files::{BLOCK, Files, Folder, read};
use super::filter::Filter;
use crate::LabError;

/// The places of the lists of a file, if they are kept in memory. The list of place `i` is
/// `starts[i]..starts[i + 1]`.
#[derive(Debug)]
pub(super) enum Offsets {
    /// The starts for all ids from the first to the last. At least a quarter of the ids have edges here.
    Dense(Box<[u32]>),
    /// The vertices that have edges here, and their starts.
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
            // An id without edges gets the start of the next list.
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

/// The start of each part of the edge file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) offsets: u64,
    pub(super) targets: u64,
    pub(super) stamps: u64,
}

/// A file, and the data of the file that is kept in memory.
#[derive(Debug)]
pub(super) struct Segment {
    pub(super) number: u32,
    pub(super) level: usize,
    /// In the first level, the order of the memory buffer that became this file.
    pub(super) order: u32,
    pub(super) least: VertexId,
    pub(super) greatest: VertexId,
    /// The number of vertices that have edges here.
    pub(super) sources: usize,
    pub(super) entries: usize,
    /// The largest timestamp of an entry.
    pub(super) newest: u64,
    /// True if no target has several versions, and no entry is a removal.
    pub(super) is_simple: bool,
    /// The first target of each block.
    pub(super) fences: Box<[VertexId]>,
    pub(super) filter: Option<Filter>,
    /// True if the filter contains edges, and not only vertices.
    pub(super) filters_edges: bool,
    /// The offsets: in the first level, and in every level if there is no multi-level index.
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
    /// The start of each list, and the end of the last list.
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
    /// True if a reader at `at` sees each entry as it is stored.
    #[inline]
    pub(super) fn is_plain(&self, at: u64) -> bool {
        self.is_simple && self.newest <= at
    }

    /// Returns the list of `v`, if the segment keeps offsets and has edges of `v`.
    #[inline]
    pub(super) fn list(&self, v: VertexId) -> Option<Range<u32>> {
        self.offsets.as_ref()?.list(v, self.least)
    }

    /// True if the edge may be here.
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

    /// Returns the weights of a block; `None` in a graph without weights.
    pub(super) fn weights(&self, block: u32) -> Result<Option<Arc<[f64]>>, LabError> {
        let Some(file) = &self.properties else { return Ok(None) };
        let at = u64::from(block) * u64::from(BLOCK) * 8;
        let load = || read(file, at, self.block_len(block));
        self.files.weights.get((self.number, block), load).map(Some)
    }

    /// Reads the whole content, without the cache of blocks.
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

    /// Returns the number of bytes that the segment keeps in memory.
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
            // If this fails, the file is removed with the directory.
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

/// A reader of single entries of a segment. It holds the blocks that it read last.
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

    /// Returns the stamp of the entry, or 0 if the reader sees every entry.
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

    /// Returns the first entry of a list whose target is not before `target`, or the end of the list.
    pub(super) fn lower_bound(&mut self, list: Range<u32>, target: VertexId) -> Result<u32, LabError> {
        // Blocks after the first block begin inside the list, so their first targets ascend.
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

    /// Returns the version of `target` in a list that a reader at `at` sees.
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
