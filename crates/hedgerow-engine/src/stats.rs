//! Figures about a running store.

use hedgerow_core::{Direction, SubgraphId, Timestamp};
use hedgerow_mem::Subgraph;

use crate::error::Result;
use crate::graph::Graph;

/// What a store holds and where its bytes are. Gathered by walking over all subgraphs: O(subgraphs + versions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// Vertices in a snapshot opened now.
    pub vertices: u64,
    /// Edges in a snapshot opened now; an undirected edge counts once.
    pub edges: u64,
    /// The last published timestamp.
    pub published: Timestamp,
    /// The last durable timestamp.
    pub durable: Timestamp,
    /// Versions of subgraphs, both directions, with those that wait to be reclaimed.
    pub versions: u64,
    /// Entries in deltas of current versions.
    pub delta_entries: u64,
    /// Bytes of main parts: neighbours, offsets, weights, headers of current versions.
    pub main_bytes: u64,
    /// Bytes of patches, the corrections of large main parts, of current versions.
    pub patch_bytes: u64,
    /// Bytes of ranks and property columns of current versions.
    pub property_bytes: u64,
    /// Bytes of deltas of current versions, with the properties that they hold.
    pub delta_bytes: u64,
    /// Bytes of versions that only older snapshots need, or that wait to be reclaimed.
    pub old_version_bytes: u64,
    /// Bytes of the arena that hold no block: gaps between main parts and deltas, and what is kept in reserve.
    pub arena_free_bytes: u64,
    /// Bytes of the arena in all, as far as they occupy memory: blocks and what is free.
    pub arena_bytes: u64,
    /// Bytes of the blocks of the arena that current and old versions were found to hold. Without writers and views this
    /// is [`arena_bytes`](Self::arena_bytes) less [`arena_free_bytes`](Self::arena_free_bytes).
    pub arena_block_bytes: u64,
    /// Bytes of the newest view: its own, and those of lists that it alone keeps. It is given up when they are many.
    pub view_bytes: u64,
    /// Views built from scratch since the store was opened.
    pub views_built: u64,
    /// Views made of earlier ones.
    pub views_refreshed: u64,
    /// Bytes of the table of subgraphs.
    pub table_bytes: u64,
    /// Bytes of the id map, as far as they can be told without asking the allocator.
    pub id_map_bytes: u64,
    /// Bytes of what commits and snapshots are ordered by: the clock with its rings, the registry of readers,
    /// which versions wait for which of them.
    pub coordination_bytes: u64,
    /// Bytes of the buffers in which the records of commits wait to be written to the log.
    pub log_buffer_bytes: u64,
    /// How often a commit waited because 4,096 commits, or too many bytes of the log, were not published yet, or because
    /// the log had to be made shorter first.
    pub commit_waits: u64,
    /// Bytes of the log in use.
    pub log_bytes: u64,
    /// Bytes of the segments of the last checkpoint.
    pub segment_bytes: u64,
    /// Of these, bytes of images that no later one replaces.
    pub segment_live_bytes: u64,
    /// How many segments there are: at most 8.
    pub segments: u64,
    /// Checkpoints written in the background since the store was opened.
    pub background_checkpoints: u64,
    /// How many in the background failed; [`Graph::checkpoint_error`] says why the last one did.
    pub failed_checkpoints: u64,
    /// Turns of settling in the background that ended in a panic. The graph is right all the same; what was to be settled
    /// is looked at again later.
    pub failed_settlings: u64,
}

impl Stats {
    fn add(&mut self, subgraph: &Subgraph, direction: Direction) {
        for (age, version) in subgraph.versions(direction).iter().enumerate() {
            self.versions += 1;
            self.arena_block_bytes += version.block_bytes() as u64;
            if age > 0 {
                self.old_version_bytes += version.bytes() as u64;
                continue;
            }
            let (delta, extra) = (version.delta().bytes() as u64, version.main().extra_bytes() as u64);
            self.delta_entries += version.delta().len() as u64;
            self.delta_bytes += delta;
            self.property_bytes += extra;
            let patch = version.patch_bytes() as u64;
            self.patch_bytes += patch;
            self.main_bytes += version.bytes() as u64 - delta - extra - patch;
        }
    }

    /// All bytes in memory. O(1).
    pub fn memory_bytes(&self) -> u64 {
        self.main_bytes
            + self.patch_bytes
            + self.property_bytes
            + self.delta_bytes
            + self.old_version_bytes
            + self.arena_free_bytes
            + self.view_bytes
            + self.table_bytes
            + self.id_map_bytes
            + self.coordination_bytes
            + self.log_buffer_bytes
    }
}

impl Graph {
    /// Gathers [`Stats`]. O(subgraphs of all labels), and the versions that are kept. Blocks while a checkpoint switches
    /// manifests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked.
    pub fn stats(&self) -> Result<Stats> {
        let snapshot = self.snapshot()?;
        let engine = &self.engine;
        let views = engine.views.figures();
        let retire_list = engine.subgraphs.memory().retire_list();
        retire_list.drain();
        let (arena, retire_list) = (engine.subgraphs.arena().stats(), retire_list.stats());
        let mut stats = Stats {
            view_bytes: views.bytes,
            views_built: views.built,
            failed_settlings: engine.settling.panics(),
            commit_waits: engine.commit_waits.load(hedgerow_core::sync::Ordering::Relaxed),
            views_refreshed: views.refreshed,
            vertices: snapshot.vertex_count(),
            edges: snapshot.edge_count()?,
            published: self.published_ts(),
            durable: self.durable_ts(),
            arena_free_bytes: arena.free() as u64,
            arena_bytes: arena.touched as u64,
            versions: retire_list.versions as u64,
            old_version_bytes: retire_list.bytes as u64,
            arena_block_bytes: retire_list.block_bytes as u64,
            table_bytes: engine.labels.bytes() as u64,
            id_map_bytes: engine.ids.bytes() as u64,
            coordination_bytes: (engine.clock.bytes() + engine.readers.bytes() + engine.pending.bytes())
                as u64,
            ..Stats::default()
        };
        drop(snapshot);
        for (label, table) in engine.tables() {
            stats.table_bytes += table.bytes() as u64;
            let entries = (0..engine.subgraph_bound()).filter_map(|id| table.get(SubgraphId(id)));
            for entry in entries {
                engine.directions_of(label).iter().for_each(|&direction| stats.add(entry, direction));
            }
        }
        if let Some(durable) = &engine.durable {
            stats.log_buffer_bytes = durable.log.buffer_bytes() as u64;
            stats.log_bytes = durable.log.segments().iter().map(|s| s.bytes).sum();
            let segments = durable.manifest.lock().segments.clone();
            stats.segment_bytes = segments.iter().map(|s| s.info.bytes).sum();
            stats.segment_live_bytes = durable.runs.lock().live_bytes();
            stats.segments = segments.len() as u64;
            let figures = engine.log_bound.figures();
            stats.background_checkpoints = figures.checkpoints;
            stats.failed_checkpoints = figures.failures;
        }
        Ok(stats)
    }
}
