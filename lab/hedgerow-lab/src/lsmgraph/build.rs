//! The writing of a segment: a builder collects lists, and writes one file when they are large enough.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use hedgerow_core::VertexId;
use hedgerow_io::codec::PutLe;
use hedgerow_io::{Dir, NamedFile};

use super::entry::{Entry, Stamp, begin, is_marker};
use super::files::{BLOCK, Files, io_failed};
use super::filter::Filter;
use super::options::{LevelIndex, LsmGraphOptions};
use super::segment::{Layout, Offsets, Segment};
use crate::LabError;
use crate::planted::{Planted, is_on};

/// The first bytes of an edge file.
const MAGIC: u64 = u64::from_le_bytes(*b"LSMGRAPH");
/// The number of bytes of the header.
const HEADER: usize = 64;

/// The lists of a segment before it is written.
#[derive(Debug, Default)]
pub(super) struct Builder {
    pub(super) sources: Vec<VertexId>,
    pub(super) starts: Vec<u32>,
    targets: Vec<VertexId>,
    stamps: Vec<Stamp>,
    weights: Vec<f64>,
    newest: u64,
    has_versions: bool,
}

impl Builder {
    pub(super) fn len(&self) -> usize {
        self.targets.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Returns the start of the next list.
    pub(super) fn begin(&self) -> usize {
        self.targets.len()
    }

    /// Appends an entry to the list that began at `from`.
    #[inline]
    pub(super) fn push(&mut self, entry: Entry, from: usize, weighted: bool) {
        let repeats = self.targets.len() > from && self.targets.last() == Some(&entry.target);
        self.has_versions |= repeats || is_marker(entry.stamp);
        self.newest = self.newest.max(begin(entry.stamp));
        self.targets.push(entry.target);
        self.stamps.push(entry.stamp);
        if weighted {
            self.weights.push(entry.weight);
        }
    }

    /// Ends the list of `v`, which began at `from`. Returns true if the list has entries.
    pub(super) fn end(&mut self, v: VertexId, from: usize) -> bool {
        let has_entries = self.targets.len() > from;
        if has_entries {
            self.sources.push(v);
            self.starts.push(from as u32);
        }
        has_entries
    }

    /// Returns the vertex, the start and the length of each list.
    pub(super) fn lists(&self) -> impl Iterator<Item = (VertexId, u32, u32)> {
        let ends = self.starts.iter().skip(1).copied().chain([self.targets.len() as u32]);
        self.sources.iter().zip(&self.starts).zip(ends).map(|((&v, &start), end)| (v, start, end - start))
    }

    fn filter(&self, options: &LsmGraphOptions) -> Option<Filter> {
        let of_vertices = options.level_index == LevelIndex::BloomFilters;
        if !options.edge_filters && !of_vertices {
            return None;
        }
        let vertices = if of_vertices { self.sources.len() } else { 0 };
        let edges = if options.edge_filters { self.targets.len() } else { 0 };
        let mut filter = Filter::new(vertices + edges);
        for (v, start, len) in self.lists() {
            if of_vertices {
                filter.insert_vertex(v);
            }
            let list = &self.targets[start as usize..][..len as usize];
            let list = if options.edge_filters { list } else { &[] };
            let left_out = usize::from(is_on(Planted::LastEdgeNotInFilter));
            list[..list.len().saturating_sub(left_out)].iter().for_each(|&u| filter.insert_edge(v, u));
        }
        Some(filter)
    }

    /// Returns the edge file, and the start of each of its parts.
    fn encode(&self, filter: Option<&Filter>, order: u32) -> (Vec<u8>, Layout) {
        let [least, greatest] = [self.sources.first(), self.sources.last()].map(|v| v.map_or(0, |v| v.0));
        let filter_words = filter.map_or(0, |filter| filter.bytes() / 8);
        let mut bytes =
            Vec::with_capacity(HEADER + 8 * filter_words + 8 * self.sources.len() + 12 * self.len());
        bytes.put_u64(MAGIC);
        bytes.put_u64(self.len() as u64);
        bytes.put_u64(self.sources.len() as u64);
        bytes.put_u64(filter_words as u64);
        bytes.put_u32(least);
        bytes.put_u32(greatest);
        bytes.put_u64(self.newest);
        bytes.put_u32(order);
        bytes.resize(HEADER, 0);
        filter.into_iter().flat_map(Filter::words).for_each(|word| bytes.put_u64(word));
        let offsets = bytes.len() as u64;
        for (source, &start) in self.sources.iter().zip(&self.starts) {
            bytes.put_u32(source.0);
            bytes.put_u32(start);
        }
        let targets = bytes.len() as u64;
        self.targets.iter().for_each(|target| bytes.put_u32(target.0));
        let stamps = bytes.len() as u64;
        self.stamps.iter().for_each(|&stamp| bytes.put_u64(stamp));
        (bytes, Layout { offsets, targets, stamps })
    }

    /// Writes the segment, which must have entries.
    pub(super) fn finish(
        &self,
        files: &Arc<Files>,
        options: &LsmGraphOptions,
        (level, order): (usize, u32),
    ) -> Result<Arc<Segment>, LabError> {
        let filter = self.filter(options);
        let (edges, layout) = self.encode(filter.as_ref(), order);
        let mut properties = Vec::with_capacity(8 * self.weights.len());
        self.weights.iter().for_each(|&weight| properties.put_f64(weight));
        let (folder, number) = (files.folder()?, files.number());
        let disk_bytes = (edges.len() + properties.len()) as u64;
        let edges = write(&folder.dir, format!("{number}.edges"), &edges)?;
        let properties = match self.weights.is_empty() {
            true => None,
            false => Some(write(&folder.dir, format!("{number}.properties"), &properties)?),
        };
        files.disk_bytes.fetch_add(disk_bytes, Ordering::Relaxed);
        let keeps_offsets = level == 0 || !options.is_indexed();
        let offsets = keeps_offsets.then(|| {
            let starts: Vec<u32> = self.starts.iter().copied().chain([self.len() as u32]).collect();
            Offsets::new(&self.sources, &starts)
        });
        Ok(Arc::new(Segment {
            number,
            level,
            order,
            least: self.sources.first().copied().unwrap_or_default(),
            greatest: self.sources.last().copied().unwrap_or_default(),
            sources: self.sources.len(),
            entries: self.len(),
            newest: self.newest,
            is_simple: !self.has_versions,
            fences: self.targets.iter().step_by(BLOCK as usize).copied().collect(),
            filter,
            filters_edges: options.edge_filters,
            offsets,
            layout,
            edges,
            properties,
            disk_bytes,
            folder,
            files: files.clone(),
        }))
    }
}

/// Writes a new file. After a failure, an incomplete file is removed with the directory.
fn write(dir: &Dir, name: String, bytes: &[u8]) -> Result<NamedFile, LabError> {
    let file = dir.create(&name).map_err(|error| io_failed(&error))?;
    file.write_all_at(bytes, 0).map_err(|error| io_failed(&error))?;
    Ok(file)
}
