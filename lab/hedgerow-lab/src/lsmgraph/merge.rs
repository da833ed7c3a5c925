//! Vertex-aware compaction (section 4.2.1). It merges the lists of the smallest vertex of all segments first.
//! A segment ends between two vertices.

use std::ops::Range;
use std::sync::Arc;
use std::vec::IntoIter;

use hedgerow_core::VertexId;
use smallvec::SmallVec;

use super::build::Builder;
use super::entry::{Versions, prune};
use super::graph::Graph;
use super::segment::{Loaded, Place, Segment};
use crate::LabError;
use crate::clock::Active;

/// Segments with ascending vertices. They are read one at a time.
struct Stream {
    waiting: IntoIter<Arc<Segment>>,
    loaded: Option<Loaded>,
    next: usize,
}

impl Stream {
    /// Returns the next vertex.
    fn head(&mut self) -> Result<Option<VertexId>, LabError> {
        loop {
            let head = self.loaded.as_ref().and_then(|loaded| loaded.sources.get(self.next));
            if let Some(&v) = head {
                return Ok(Some(v));
            }
            let Some(segment) = self.waiting.next() else {
                self.loaded = None;
                return Ok(None);
            };
            (self.loaded, self.next) = (Some(segment.load()?), 0);
        }
    }

    /// Returns the list of the next vertex.
    fn list(&self) -> Option<(&Loaded, Range<usize>)> {
        let loaded = self.loaded.as_ref()?;
        let starts = &loaded.starts;
        Some((loaded, *starts.get(self.next)? as usize..*starts.get(self.next + 1)? as usize))
    }
}

/// The result of a merge.
#[derive(Default)]
pub(super) struct Merged {
    pub(super) segments: Vec<Arc<Segment>>,
    /// The new place of the list of each vertex, if it has edges left. Only with a multi-level index.
    pub(super) moves: Vec<(VertexId, Option<Place>)>,
}

/// A merge into one level.
pub(super) struct Merge<'a> {
    pub(super) graph: &'a Graph,
    /// The active readers, which need some old versions.
    pub(super) active: &'a Active,
    /// True if there are edges below the level.
    pub(super) below: bool,
    pub(super) level: usize,
}

impl Merge<'_> {
    /// Merges inputs, which go from new to old. The segments of each input ascend.
    pub(super) fn run(&self, inputs: Vec<Vec<Arc<Segment>>>) -> Result<Merged, LabError> {
        let stream = |segments: Vec<_>| Stream { waiting: segments.into_iter(), loaded: None, next: 0 };
        let mut streams: Vec<Stream> = inputs.into_iter().map(stream).collect();
        let (mut merged, mut builder) = (Merged::default(), Builder::default());
        let is_indexed = self.graph.options.is_indexed();
        loop {
            let mut heads: SmallVec<[Option<VertexId>; 8]> = SmallVec::new();
            for stream in &mut streams {
                heads.push(stream.head()?);
            }
            let Some(v) = heads.iter().flatten().min().copied() else { break };
            let of_v = |head: &Option<VertexId>| *head == Some(v);
            let with_v = streams.iter().zip(&heads).filter(|(_, head)| of_v(head));
            let lists = with_v.filter_map(|(stream, _)| stream.list()).collect();
            let from = builder.begin();
            self.merge_lists(lists, from, &mut builder);
            if !builder.end(v, from) && is_indexed {
                merged.moves.push((v, None));
            }
            if builder.len() >= self.graph.options.segment_entries() {
                self.finish(&mut builder, &mut merged)?;
            }
            for (stream, _) in streams.iter_mut().zip(&heads).filter(|(_, head)| of_v(head)) {
                stream.next += 1;
            }
        }
        self.finish(&mut builder, &mut merged)?;
        Ok(merged)
    }

    /// Merges the lists of one vertex, from new to old.
    fn merge_lists(
        &self,
        mut lists: SmallVec<[(&Loaded, Range<usize>); 8]>,
        from: usize,
        builder: &mut Builder,
    ) {
        let mut versions = Versions::new();
        let first = |(loaded, list): &(&Loaded, Range<usize>)| {
            (!list.is_empty()).then(|| loaded.entry(list.start).target)
        };
        while let Some(target) = lists.iter().filter_map(first).min() {
            versions.clear();
            for (loaded, list) in &mut lists {
                while list.start < list.end && loaded.entry(list.start).target == target {
                    versions.push(loaded.entry(list.start));
                    list.start += 1;
                }
            }
            prune(&mut versions, self.active, self.below);
            let weighted = self.graph.form.weighted;
            versions.iter().for_each(|&entry| builder.push(entry, from, weighted));
        }
    }

    fn finish(&self, builder: &mut Builder, merged: &mut Merged) -> Result<(), LabError> {
        if builder.is_empty() {
            return Ok(());
        }
        let Graph { files, options, .. } = self.graph;
        let segment = builder.finish(files, options, (self.level, 0))?;
        if options.is_indexed() {
            let place = |start, len| Some(Place { segment: segment.clone(), start, len });
            merged.moves.extend(builder.lists().map(|(v, start, len)| (v, place(start, len))));
        }
        merged.segments.push(segment);
        *builder = Builder::default();
        Ok(())
    }
}
