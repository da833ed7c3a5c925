//! Writing a segment: the images of subgraphs as of one timestamp.

use std::sync::Arc;
use std::time::{Duration, Instant};

use hedgerow_catalog::error::{ArgumentError, Error, Result, StateError, StorageError, io_error};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{
    Direction, GraphConfig, KeyKind, KindId, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp,
    VertexId, VertexKey,
};
use hedgerow_io::failpoint::{self, FailPoint};
use hedgerow_io::{FileId, StoreId, Vfs};
use hedgerow_mem::main_part::Offsets;
use hedgerow_mem::{Main, SubgraphTable};
use hedgerow_pager::pager::room::buffers::Writing;
use hedgerow_tier::{ImageId, ImageRef, KeysRef, Manifest, PartRef, SegmentInfo, SegmentWriter};

use super::copy::{Below, KeyCopy, PageCopy, memory_to_gather, take_record};
use crate::files::image_table::WrittenRecord;
use crate::files::log::Durable;
use crate::state::store::Core;

/// A segment that was written. No manifest names it yet.
pub(crate) struct Written {
    pub(crate) info: SegmentInfo,
    pub(crate) records: Vec<WrittenRecord>,
}

/// The destination of a segment.
pub(crate) struct Target {
    pub(crate) fs: Arc<dyn Vfs>,
    pub(crate) file_id: FileId,
    pub(crate) store: StoreId,
    pub(crate) config: GraphConfig,
    pub(crate) writing: Writing,
    /// The older segments, if the new one may have deltas.
    pub(crate) below: Option<Below>,
}

impl Target {
    /// Makes the target of the next segment of a store.
    pub(super) fn of_store(durable: &Durable) -> Result<Target> {
        let mut manifest = durable.manifest.lock();
        let (store, config) = (manifest.store, manifest.config);
        let file_id = next_file_id(&mut manifest)?;
        Ok(Target {
            fs: durable.fs.clone(),
            file_id,
            store,
            config,
            writing: Writing::Checkpoint,
            below: None,
        })
    }
}

/// The image to write of a subgraph in a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ImageMode {
    Nothing,
    /// Its image, unless it is empty: without vertices in the default label, without edges in another.
    Image,
    /// Its image, even if it is empty.
    ImageOrEmpty,
}

/// The time of work after which a writer of images checks whether other threads commit.
const SLICE: Duration = Duration::from_micros(500);
/// The rest of a writer of images while other threads commit, as a multiple of the time that it worked. So
/// commits get the processor and the disk nearly all the time.
const REST: u32 = 16;
/// The most work that a rest is computed from, so that a rest takes at most 16 x 100 ms: a stalled disk does
/// not stall the checkpoint for minutes.
const MOST_WORK: Duration = Duration::from_millis(100);

/// The pace of a checkpoint, which rests to leave processor and disk to commits. It does not rest if no
/// thread commits, or if all threads wait for the checkpoint.
struct Pace<'a> {
    core: &'a Core,
    begun: Instant,
    published: Timestamp,
}

impl Pace<'_> {
    fn new(core: &Core) -> Pace<'_> {
        Pace { core, begun: Instant::now(), published: core.order.clock.published() }
    }

    fn step(&mut self) {
        let worked = self.begun.elapsed();
        if worked < SLICE {
            return;
        }
        let published = self.core.order.clock.published();
        let late = self.core.work.log_bound.is_late(self.core.log_end())
            || self.core.pager.eviction.demand.is_waited_for();
        if published != self.published && !late && self.core.check_usable().is_ok() {
            self.core.closing.rest(worked.min(MOST_WORK) * REST);
        }
        self.published = self.core.order.clock.published();
        self.begun = Instant::now();
    }
}

/// Writes the images that `ask` selects, as of `as_of`, which the caller keeps registered, and syncs the
/// file and the directory. Blocks no other thread. O(subgraphs), and O(edges) of those that are written.
pub(crate) fn write_run(
    core: &Core,
    as_of: Timestamp,
    target: Target,
    mut ask: impl FnMut(ImageId) -> Result<ImageMode>,
) -> Result<Written> {
    let Target { fs, file_id, store, config, writing, below } = target;
    core.pager.eviction.buffer_searches.note(true);
    let mut writer = SegmentWriter::create_with(fs.clone(), (file_id, store), config, below.is_some())?;
    writer.gather_within(core.pager.memory_limit.map_or(usize::MAX, memory_to_gather));
    let mut buffers = core.pager.buffers(writing);
    buffers.set(&core.pager, writer.memory_bytes())?;
    let mut records = Vec::new();
    let (mut copies, mut keys) = (PageCopy::new(writing, below), KeyCopy::default());
    let mut pace = Pace::new(core);
    for id in image_ids(core) {
        let ask = ask(id)?;
        if ask == ImageMode::Nothing {
            continue;
        }
        pace.step();
        if core.closing.skips_checkpoint() {
            return Err(StateError::Closed.into());
        }
        reach(&*fs, FailPoint::CheckpointImage)?;
        let written = match write_image_in_memory(core, as_of, id, ask, (&mut writer, &mut keys, writing))? {
            Some(written) => written,
            None => copy_image(core, as_of, id, ask, (&mut copies, &mut keys), &mut writer)?,
        };
        if let Some(record) = written {
            records.push(record);
            let listed = records.capacity() * size_of::<WrittenRecord>();
            buffers.set(&core.pager, writer.memory_bytes() + listed)?;
        }
    }
    let info = writer.finish()?;
    if !faults::is_on(PlantedFault::SegmentNotListed) {
        hedgerow_io::Dir::new(fs.clone()).sync()?;
    }
    reach(&*fs, FailPoint::CheckpointWritten)?;
    Ok(Written { info, records })
}

/// Returns the possible images: each subgraph in each label that has a page in memory or in files, in the
/// order of a segment. O(these pages).
pub(crate) fn image_ids(core: &Core) -> impl Iterator<Item = ImageId> {
    let of_table =
        |(label, table)| SubgraphTable::possible(table).map(move |subgraph| ImageId { label, subgraph });
    core.pager.tables().flat_map(of_table)
}

/// Like [`write_image`], but `None` if a part of the subgraph is not in memory.
fn write_image_in_memory(
    core: &Core,
    as_of: Timestamp,
    id: ImageId,
    ask: ImageMode,
    to: (&mut SegmentWriter, &mut KeyCopy, Writing),
) -> Result<Option<Option<WrittenRecord>>> {
    match write_image(core, as_of, id, ask, to) {
        Err(Error::Storage(StorageError::NotInMemory(_))) => Ok(None),
        written => written.map(Some),
    }
}

/// Copies the image of a subgraph that is not in memory. Files have its last change (rules P1 and E1), or its
/// inbox has the changes after the image of its base (rule N2).
/// A backup runs concurrently with checkpoints. If a checkpoint ends after the look into memory, the
/// segments may have changes of a later commit, or lack a chain that was just evicted. Then the loop
/// looks at both again, until no checkpoint has ended in between. A chain may also have been loaded with the
/// operations of an inbox in between, which shows in its stamp (rule N4).
#[cold]
fn copy_image(
    core: &Core,
    as_of: Timestamp,
    id: ImageId,
    ask: ImageMode,
    copies: (&mut PageCopy, &mut KeyCopy),
    writer: &mut SegmentWriter,
) -> Result<Option<WrittenRecord>> {
    let (copies, keys) = copies;
    let or_empty = ask == ImageMode::ImageOrEmpty;
    loop {
        let (sources, stamp) = (core.pager.pages.sources(), core.pager.stamp_of(id));
        if let Some(written) =
            write_image_in_memory(core, as_of, id, ask, (&mut *writer, &mut *keys, copies.writing()))?
        {
            return Ok(written);
        }
        let inbox = core.pager.inboxes.view(id, as_of);
        // Chains that a backup sees may have been evicted since, because a page version of its timestamp has
        // them.
        if let Some(sources) = core.pager.eviction.page_versions.at(as_of) {
            return copies.write_image(core, (&sources, None), (id, or_empty), writer);
        }
        match inbox {
            Some(inbox) if inbox.base.begin <= as_of => {
                let inbox = Some(inbox).filter(|_| !faults::is_on(PlantedFault::InboxNotWritten));
                return copies.write(core, (&sources, inbox), (id, or_empty), writer);
            }
            Some(_) => {}
            None => {
                let same = Arc::ptr_eq(&sources, &core.pager.pages.sources());
                if same && stamp == core.pager.stamp_of(id) {
                    return copies.write(core, (&sources, None), (id, or_empty), writer);
                }
            }
        }
    }
}

/// Writes the image of one subgraph in one label, if there is one to write.
fn write_image(
    core: &Core,
    as_of: Timestamp,
    id: ImageId,
    ask: ImageMode,
    (writer, copied, writing): (&mut SegmentWriter, &mut KeyCopy, Writing),
) -> Result<Option<WrittenRecord>> {
    let ImageId { label, subgraph } = id;
    let mut mains: Vec<(Direction, Main)> = Vec::new();
    let hold = core.pager.hold_of(label);
    // One look: a page that is evicted at this moment is not without content.
    let entry = core.pager.table(label).map_or(Ok(None), |table| table.find(subgraph, &hold))?;
    if let Some(entry) = entry {
        for &direction in core.catalog.directions_of(label) {
            mains.extend(entry.read_kept(direction, as_of, |read| (direction, read.settled()))?);
        }
    }
    drop(hold);
    let vertices = mains.iter().find(|(direction, _)| *direction == Direction::Out);
    let live = vertices.filter(|_| label == LabelId::DEFAULT).map_or(0, |(_, main)| main.present());
    mains.retain(|(_, main)| !main.edges().is_empty());
    if live == 0 && mains.is_empty() && ask == ImageMode::Image {
        return Ok(None);
    }
    let offsets: Vec<Offsets> = mains.iter().map(|(_, main)| main.offsets()).collect();
    let values = mains.iter().filter_map(|(_, main)| main.columns()).map(hedgerow_core::Columns::bytes).sum();
    let _record = take_record(core, writing, values)?;
    let parts: Vec<PartRef<'_>> = mains
        .iter()
        .zip(&offsets)
        .map(|((direction, main), offsets)| PartRef {
            direction: *direction,
            offsets,
            neighbors: main.edges(),
            weights: main.weights(),
            ranks: main.ranks(),
            columns: main.columns(),
        })
        .collect();
    if label != LabelId::DEFAULT {
        let present = with_neighbors(&offsets);
        let image = ImageRef { id, as_of, present, keys: KeysRef::Dense, parts: &parts };
        return Ok(Some(WrittenRecord::image(id, writer.write(&image)?)));
    }
    let write = |keys: KeysRef<'_>| writer.write(&ImageRef { id, as_of, present: live, keys, parts: &parts });
    if core.keys.ids.stored.all_known() {
        let bytes = with_keys(core, subgraph, live, write)?;
        return Ok(Some(WrittenRecord::image(id, bytes)));
    }
    let keys = read_keys(core, vertices_of(subgraph, live), copied)?;
    let bytes = with_form(core.catalog.config.keys, &keys, write)?;
    Ok(Some(WrittenRecord::image(id, bytes)))
}

/// Returns the keys of vertices. Keys that memory does not know are read from files, where they have not
/// changed since the store was opened.
fn read_keys(
    core: &Core,
    ids: impl Iterator<Item = VertexId>,
    copied: &mut KeyCopy,
) -> Result<Vec<VertexKey>> {
    let sources = core.pager.pages.sources();
    let key =
        |id| if core.keys.ids.knows(id) { Ok(core.keys.ids.key_of(id)) } else { copied.of(&sources, id) };
    ids.map(key).collect()
}

/// Calls `f` with the keys of the vertices of a subgraph that are in the mask `present`.
fn with_keys<R>(core: &Core, id: SubgraphId, present: u64, f: impl FnOnce(KeysRef<'_>) -> R) -> R {
    let ids = vertices_of(id, present);
    if ids.clone().any(|id| core.keys.ids.kind_of(id) != KindId::DEFAULT) {
        let keys: Vec<VertexKey> = ids.map(|id| core.keys.ids.key_of(id)).collect();
        return f(KeysRef::Kinds(&keys));
    }
    plain(core.catalog.config.keys, ids.map(|id| core.keys.ids.key_of(id)), f)
}

/// Calls `f` with keys in the form that an image stores.
pub(crate) fn with_form<R>(form: KeyKind, keys: &[VertexKey], f: impl FnOnce(KeysRef<'_>) -> R) -> R {
    if keys.iter().any(|key| key.kind() != KindId::DEFAULT) {
        return f(KeysRef::Kinds(keys));
    }
    plain(form, keys.iter().cloned(), f)
}

/// Calls `f` with keys of the default kind.
fn plain<R>(form: KeyKind, keys: impl Iterator<Item = VertexKey>, f: impl FnOnce(KeysRef<'_>) -> R) -> R {
    match form {
        KeyKind::Dense => f(KeysRef::Dense),
        KeyKind::U64 => {
            let number = |k| if let VertexKey::U64(n) = k { Some(n) } else { None };
            f(KeysRef::U64(&keys.filter_map(number).collect::<Vec<u64>>()))
        }
        KeyKind::Str => {
            let name = |k| if let VertexKey::Str(s) = k { Some(s) } else { None };
            f(KeysRef::Str(&keys.filter_map(name).collect::<Vec<Arc<str>>>()))
        }
    }
}

/// Returns the vertices of a subgraph that are in the mask `present`.
fn vertices_of(id: SubgraphId, present: u64) -> impl Iterator<Item = VertexId> + Clone {
    let live = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex).filter(move |l| present & l.bit() != 0);
    live.map(move |l| id.vertex(l))
}

/// Returns the mask of the vertices that have neighbors in any of the directions.
fn with_neighbors(directions: &[Offsets]) -> u64 {
    let has = |offsets: &Offsets, local: usize| offsets.get(local) != offsets.get(local + 1);
    let any = |local: usize| directions.iter().any(|offsets| has(offsets, local));
    (0..SUBGRAPH_VERTICES).filter(|&local| any(local)).fold(0, |mask, local| mask | 1 << local)
}

/// Marks a place at which a test may inject an error.
pub(super) fn reach(fs: &dyn Vfs, point: FailPoint) -> Result<()> {
    failpoint::reach(point).map_err(io_error(fs.path(), "checkpoint"))
}

/// Takes the number of the next segment. A number is never used twice.
fn next_file_id(manifest: &mut Manifest) -> Result<FileId> {
    let id = manifest.next_file_id;
    let next = id.0.checked_add(1).filter(|&next| next < u64::MAX);
    manifest.next_file_id = FileId(next.ok_or_else(|| ArgumentError::TooLarge {
        what: "the number of segment files ever written".into(),
        limit: u64::MAX - 1,
    })?);
    Ok(id)
}
