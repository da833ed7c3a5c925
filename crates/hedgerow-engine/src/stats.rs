//! Statistics of a running store.

use hedgerow_catalog::error::Result;
use hedgerow_core::account::{Account, Purpose};
use hedgerow_core::{Direction, Timestamp};
use hedgerow_io::machine;
use hedgerow_mem::Subgraph;

use crate::durable::checkpoint::plan::read_runs;
use crate::graph::Graph;

/// Numbers about the content of a store and its bytes. [`Graph::stats`] visits all subgraphs to collect them:
/// O(subgraphs + versions).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Stats {
    /// The number of vertices that a new snapshot sees.
    pub vertices: u64,
    /// The number of edges that a new snapshot sees; an undirected edge counts once.
    pub edges: u64,
    /// The last published timestamp.
    pub published: Timestamp,
    /// The last durable timestamp.
    pub durable: Timestamp,
    /// The number of versions of subgraphs in both directions, including versions that wait to be reclaimed.
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
    /// Bytes of versions that only older snapshots need, that wait to be reclaimed, or that were evicted and
    /// are kept for a while.
    pub old_version_bytes: u64,
    /// Bytes of the arena outside of arena blocks: gaps between main parts and deltas, and memory kept in
    /// reserve.
    pub arena_free_bytes: u64,
    /// Bytes of the arena in all, as far as they occupy memory: its blocks and the free memory.
    pub arena_bytes: u64,
    /// Bytes of the arena blocks of current and old versions. Without writers and views this is
    /// [`arena_bytes`](Self::arena_bytes) less [`arena_free_bytes`](Self::arena_free_bytes).
    pub arena_block_bytes: u64,
    /// Bytes of the views of all snapshots: of the views themselves, and of lists that they copied. Lists of
    /// the store that only views use are counted with the arena.
    pub view_bytes: u64,
    /// The number of views that the store keeps for later snapshots, used by a snapshot or not. The store
    /// drops a view if it keeps too many replaced lists in memory.
    pub views_kept: u64,
    /// The number of views made from scratch since the store was opened.
    pub views_built: u64,
    /// The number of views made from earlier ones.
    pub views_refreshed: u64,
    /// Bytes of versions outside the arena: their headers, ranks, and properties.
    pub version_bytes: u64,
    /// Bytes of operations on lists that are not in memory. The next checkpoint writes them.
    pub inbox_bytes: u64,
    /// Bytes of the tables of subgraphs.
    pub table_bytes: u64,
    /// Bytes of the key table.
    pub id_map_bytes: u64,
    /// Bytes of the structures that order commits and snapshots: the clock with its rings, the reader
    /// registry, and the lists of versions that wait for readers.
    pub coordination_bytes: u64,
    /// Bytes of the buffers in which the records of commits wait to be written to the log.
    pub log_buffer_bytes: u64,
    /// Bytes of the buffers of checkpoints under way.
    pub file_buffer_bytes: u64,
    /// Bytes of memory that the store may use: the limit in its options, or else half of the memory of the
    /// machine or of the control group of the process. See
    /// [`Options::memory_limit`](crate::Options::memory_limit) for its effect. `u64::MAX` if neither size is
    /// known.
    pub memory_limit: u64,
    /// The number of waits of commits. A commit waits while 4,096 commits or too many bytes of the log are
    /// not published. It also waits if the log must first become shorter, or if memory has no room before the
    /// next checkpoint.
    pub commit_waits: u64,
    /// Bytes of the log in use.
    pub log_bytes: u64,
    /// Bytes of the segments of the last checkpoint.
    pub segment_bytes: u64,
    /// Bytes of the images in these segments that no later image replaces, and of the newer deltas. 0 before
    /// the first checkpoint after the opening.
    pub segment_live_bytes: u64,
    /// Bytes of the deltas among them: operations on lists that were not in memory, which each read of such a
    /// list merges with its image. A later checkpoint merges them, and so does [`compact`](Graph::compact).
    pub segment_delta_bytes: u64,
    /// The number of segments, at most 8.
    pub segments: u64,
    /// The number of checkpoints written in the background since the store was opened.
    pub background_checkpoints: u64,
    /// The number of background checkpoints that failed; [`Graph::checkpoint_error`] returns the reason of
    /// the last failure.
    pub failed_checkpoints: u64,
    /// The number of turns of background settling that ended in a panic. The graph is correct all the same,
    /// and a later turn settles the same subgraphs.
    pub failed_settlings: u64,
}

/// Returns half of the memory that is available to the process.
fn default_limit() -> Option<u64> {
    machine::memory_bytes().map(|bytes| bytes / 2)
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

    /// Returns the number of bytes in memory, which the [limit](Self::memory_limit) bounds. O(1). It is the
    /// sum of [`arena_bytes`](Self::arena_bytes), [`version_bytes`](Self::version_bytes),
    /// [`inbox_bytes`](Self::inbox_bytes), [`table_bytes`](Self::table_bytes),
    /// [`id_map_bytes`](Self::id_map_bytes),
    /// [`view_bytes`](Self::view_bytes), [`log_buffer_bytes`](Self::log_buffer_bytes),
    /// [`file_buffer_bytes`](Self::file_buffer_bytes) and [`coordination_bytes`](Self::coordination_bytes).
    /// Other fields count the bytes of the arena and of versions a second time, by use: main parts, patches,
    /// properties, deltas, old versions, and free memory.
    pub fn memory_bytes(&self) -> u64 {
        self.arena_bytes
            + self.version_bytes
            + self.inbox_bytes
            + self.table_bytes
            + self.id_map_bytes
            + self.view_bytes
            + self.log_buffer_bytes
            + self.file_buffer_bytes
            + self.coordination_bytes
    }

    /// Returns the bytes in the account by purpose.
    fn of_account(account: &Account) -> Stats {
        let used = |purpose| account.used_for(purpose);
        Stats {
            arena_bytes: used(Purpose::Arena),
            version_bytes: used(Purpose::Versions),
            inbox_bytes: used(Purpose::Inboxes),
            table_bytes: used(Purpose::Tables),
            id_map_bytes: used(Purpose::Keys),
            view_bytes: used(Purpose::Views),
            log_buffer_bytes: used(Purpose::Log),
            file_buffer_bytes: used(Purpose::Checkpoint) + used(Purpose::Reads),
            coordination_bytes: used(Purpose::Coordination),
            ..Stats::default()
        }
    }
}

impl Graph {
    /// Returns only [`Stats::memory_bytes`], the bytes that the memory limit bounds; with writers, as of a
    /// moment during the call. O(1), and unlike [`stats`](Self::stats) without visiting subgraphs; never
    /// blocks.
    pub fn memory_bytes(&self) -> u64 {
        self.engine.pager.account().used()
    }

    /// Collects [`Stats`]. O(subgraphs of all labels + versions). The first call after an opening also reads
    /// the directories of segments, unless a checkpoint was written before. Blocks while a checkpoint
    /// switches manifests.
    ///
    /// # Errors
    /// A [`StateError`](crate::StateError): closed, forked; a [`StorageError`](crate::StorageError) if
    /// directories cannot be read.
    pub fn stats(&self) -> Result<Stats> {
        let snapshot = self.snapshot()?;
        let engine = &self.engine;
        engine.durable.iter().try_for_each(|durable| read_runs(engine, durable))?;
        let views = engine.views.figures();
        let retire_list = engine.pager.subgraphs.memory().retire_list();
        retire_list.drain();
        engine.charge_coordination();
        let (arena, retire_list) = (engine.pager.subgraphs.arena().stats(), retire_list.stats());
        let cooling = engine.pager.subgraphs.memory().cooling().stats();
        let mut stats = Stats {
            views_kept: views.kept,
            views_built: views.built,
            failed_settlings: engine.work.settling.panics(),
            commit_waits: engine.order.commit_waits.load(hedgerow_core::sync::Ordering::Relaxed),
            views_refreshed: views.refreshed,
            vertices: snapshot.vertex_count(),
            edges: snapshot.edge_count()?,
            published: self.published_ts(),
            durable: self.durable_ts(),
            arena_free_bytes: arena.free() as u64,
            memory_limit: engine.pager.memory_limit.or_else(default_limit).unwrap_or(u64::MAX),
            versions: (retire_list.versions + cooling.versions) as u64,
            old_version_bytes: (retire_list.bytes + cooling.bytes) as u64,
            arena_block_bytes: (retire_list.block_bytes + cooling.block_bytes) as u64,
            ..Stats::of_account(engine.pager.account())
        };
        drop(snapshot);
        for (label, table) in engine.pager.tables() {
            let hold = table.hold();
            for entry in table.pages(&hold).flat_map(|(_, page)| page.iter()) {
                engine.catalog.directions_of(label).iter().for_each(|&direction| stats.add(entry, direction));
            }
        }
        if let Some(durable) = &engine.durable {
            stats.log_bytes = durable.log.segments().iter().map(|s| s.bytes).sum();
            let segments = durable.manifest.lock().segments.clone();
            stats.segment_bytes = segments.iter().map(|s| s.info.bytes).sum();
            {
                let runs = durable.runs.lock();
                (stats.segment_live_bytes, stats.segment_delta_bytes) =
                    (runs.live_bytes(), runs.delta_bytes());
            }
            stats.segments = segments.len() as u64;
            let figures = engine.work.log_bound.figures();
            stats.background_checkpoints = figures.checkpoints;
            stats.failed_checkpoints = figures.failures;
        }
        Ok(stats)
    }
}

#[cfg(all(test, not(feature = "shuttle")))]
mod tests {
    use hedgerow_core::account::Purpose;

    use crate::options::{Options, Thresholds};
    use crate::state::label_options::LabelOptions;

    /// The bytes that tables and the map of keys charged equal the bytes that a walk over them finds. The
    /// graph has far ids and many labels.
    #[test]
    fn tables_and_keys_are_charged_to_the_byte() {
        for keys in [hedgerow_core::KeyKind::U64, hedgerow_core::KeyKind::Dense] {
            let graph = Options::new().thresholds(Thresholds::SMALL).keys(keys).in_memory().unwrap();
            for round in 0..40_u64 {
                graph.define_label(&format!("label {round}"), LabelOptions::new()).unwrap();
                let mut tx = graph.write().unwrap();
                for v in 0..200 {
                    let label = format!("label {}", v % (round + 1));
                    let edge = crate::EdgeKey::new(&label, v * v * (round + 1), v + (round << 20));
                    tx.put_edge_with(edge, [("n", 1)]).unwrap();
                }
                if round > 3 {
                    tx.remove_vertex(round * 4).unwrap();
                }
                tx.commit().unwrap();
                let engine = &graph.engine;
                let tables: usize = engine.pager.tables().map(|(_, table)| table.bytes()).sum();
                assert_eq!(
                    engine.pager.account().used_for(Purpose::Tables) as usize,
                    tables + engine.pager.labels.bytes()
                );
                assert_eq!(engine.pager.account().used_for(Purpose::Keys) as usize, engine.keys.ids.bytes());
            }
        }
    }
}
