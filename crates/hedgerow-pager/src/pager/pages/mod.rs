//! Loads, evicts and reads the pages of tables, and their chains (`docs/design/opening.md`). A large page,
//! and a page that was evicted before, is loaded with marks in place of its chains.
//!
//! The first call that needs a page loads it. It holds no latch, and only the lock that prevents two threads
//! from reading one page twice. No commit changes a page that is not in memory (rules P1 and P6).

mod access;
mod cold;
mod evict;
mod fits;
mod install;
mod lists;
mod partly;
mod reload;
mod scan;
mod stored_edges;
mod stored_keys;
mod stored_lists;
mod whole;

use std::cell::RefCell;
use std::sync::Arc;

use hedgerow_catalog::directions::directions_of;
use hedgerow_catalog::error::Result;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::sync::Mutex;
use hedgerow_core::{Direction, GraphConfig, LabelId, Timestamp};
use hedgerow_mem::table::{PAGE, SubgraphPage};
use hedgerow_mem::{Stored, SubgraphTable};
use hedgerow_tier::{PageId, ReadMemory, SubgraphImage};

use crate::budget::taken::RoomToLoad;
use crate::sources::{Sources, page_of_vertices};

pub use crate::sources::EdgeAt;
pub use cold::{Cold, ColdImage, Expected, places};
pub use fits::fits_kind;
pub(crate) use install::places_below;
pub use install::{Installer, invalid, vertices_below};
pub use lists::{Absent, ColdList, Wanted};
pub use scan::{ListRun, Scan};
pub use stored_edges::StoredEdges;
pub use stored_keys::{Binding, KEY_BYTES, StoredKeys, add_bindings};
pub use stored_lists::StoredLists;
pub use whole::Copies;

/// The greatest number of pages that are read in parallel.
const TURNS: usize = 16;

/// The source of pages that are not loaded yet.
pub struct Pages {
    config: GraphConfig,
    /// The schema as of the checkpoint.
    schema: Schema,
    /// The checkpoint that the store was opened from.
    checkpoint: Timestamp,
    /// One more than the largest vertex id as of the checkpoint.
    bound: u32,
    sources: Mutex<Arc<Sources>>,
    /// The locks of pages, by page number modulo their number. A thread that reads a page holds its lock.
    turns: [Mutex<()>; TURNS],
}

impl Pages {
    /// Makes the source for a store that was opened from the checkpoint at `checkpoint`. `schema` and
    /// `bound`, the bound of vertex ids, are as of that checkpoint.
    pub fn new(
        config: GraphConfig,
        schema: Schema,
        checkpoint: Timestamp,
        bound: u32,
        sources: Sources,
    ) -> Pages {
        let turns = std::array::from_fn(|_| Mutex::new(()));
        Pages { config, schema, checkpoint, bound, sources: Mutex::new(Arc::new(sources)), turns }
    }

    /// Makes the source of a store without segments.
    pub fn none(config: GraphConfig) -> Pages {
        Pages::new(config, Schema::default(), Timestamp::ZERO, 0, Sources::default())
    }

    /// Returns the checkpoint that the store was opened from, if it has segments.
    pub fn opened_at(&self) -> Option<Timestamp> {
        self.sources().segments().next().map(|_| self.checkpoint)
    }

    /// Returns the segments of the newest manifest.
    pub fn sources(&self) -> Arc<Sources> {
        self.sources.lock().clone()
    }

    /// Reads from `sources` from now on, which hold the same content for all pages that are not loaded.
    pub fn replace(&self, sources: Sources) {
        *self.sources.lock() = Arc::new(sources);
    }

    /// Returns the installer of images that have the state of the checkpoint.
    pub fn installer<'a>(&'a self, table: &'a SubgraphTable) -> Installer<'a> {
        let (config, checkpoint, bound) = (self.config, self.checkpoint, self.bound);
        Installer { config, schema: &self.schema, checkpoint, bound, arena: table.arena() }
    }

    /// Returns the lock of the thread that loads the page.
    fn turn(&self, id: PageId) -> &Mutex<()> {
        &self.turns[id.page as usize % TURNS]
    }

    /// Loads a page into its table, unless it is loaded. O(edges of the page); blocks on reads, and for
    /// another thread that loads the same page. Calls `loading` before it takes memory.
    ///
    /// A page that was evicted before is loaded with marks in place of all chains, in O(64): calls `note`
    /// with their number before another thread sees them.
    ///
    /// # Errors
    /// Damage, the system's errors; a limit without room.
    pub fn load(
        &self,
        table: &SubgraphTable,
        id: PageId,
        loading: &mut dyn RoomToLoad,
        note: impl FnOnce(u64),
    ) -> Result<()> {
        let _turn = self.turn(id).lock();
        let number = id.page as usize;
        let Some(stored) = table.stored_page(number) else { return Ok(()) };
        if stored.was_loaded {
            self.load_again(table, id, stored, note);
            return Ok(());
        }
        let sources = self.sources();
        let page = table.new_page(PAGE);
        match self.fill((&page, table), &sources, (id, u64::MAX), loading) {
            Ok(()) => {
                table.load(number, stored, page);
                Ok(())
            }
            Err(error) => {
                discard(&page);
                Err(error)
            }
        }
    }

    /// Loads a page that was evicted before, with a mark in place of each chain: readers and commits load the
    /// chains that they need (rule P6). The caller has the lock of the page.
    fn load_again(&self, table: &SubgraphTable, id: PageId, stored: Stored, note: impl FnOnce(u64)) {
        let directions = directions_of(&self.config, id.label);
        let page = table.marked_page(stored, directions);
        note(page.iter().filter(|subgraph| !subgraph.is_resident()).count() as u64);
        table.load(id.page as usize, stored, page);
    }

    /// Reads the chains of the places `wanted` of a page into it.
    fn fill(
        &self,
        (page, table): (&SubgraphPage, &SubgraphTable),
        sources: &Sources,
        (id, wanted): (PageId, u64),
        loading: &mut dyn RoomToLoad,
    ) -> Result<()> {
        let living = if id.label == LabelId::DEFAULT { None } else { Some(living(sources, id)?) };
        let installer = self.installer(table);
        let loading = RefCell::new(loading);
        let has_memory = &mut |memory| loading.borrow_mut().has(memory);
        sources.read_images((id, wanted), has_memory, |image, file| {
            let place = image.id.subgraph.index() % PAGE;
            let installed = match &living {
                None => install_vertices(&installer, image, &page[place], file),
                Some(living) if image.present & !living[place] != 0 => {
                    Err(invalid(file, "edges of a vertex that does not exist"))
                }
                Some(_) => image.parts.into_iter().try_for_each(|part| {
                    let part = installer.checked(image.id, part, file)?;
                    installer.labelled(image.id, part, &page[place], file).map(drop)
                }),
            };
            loading.borrow_mut().keep_image();
            installed
        })
    }
}

/// A decision that always grants memory, for the opening of a store.
pub struct AnyRoom;

impl RoomToLoad for AnyRoom {
    fn has(&mut self, _: ReadMemory) -> bool {
        true
    }

    fn keep_image(&mut self) {}
}

fn install_vertices(
    installer: &Installer<'_>,
    image: SubgraphImage,
    to: &hedgerow_mem::Subgraph,
    file: &str,
) -> Result<()> {
    let (id, present) = (image.id.subgraph, image.present);
    installer.check_vertices((id, present), file)?;
    if present == 0 {
        return Ok(());
    }
    let mut parts = [None, None];
    for part in image.parts {
        let part = installer.checked(image.id, part, file)?;
        let direction = part.direction as usize;
        parts[direction] = Some(part);
    }
    installer.vertices((id, present), parts, to, file).map(drop)
}

/// Returns which vertices of a page exist, by subgraph. Reads directories only.
fn living(sources: &Sources, id: PageId) -> Result<[u64; PAGE]> {
    let mut living = [0; PAGE];
    for image in sources.summaries(page_of_vertices(id))? {
        living[image.id.subgraph.index() % PAGE] = image.present;
    }
    Ok(living)
}

/// Retires the versions of an unused page, so that their memory is accounted for.
fn discard(page: &SubgraphPage) {
    for subgraph in page.iter() {
        let mut latched = subgraph.latch();
        [Direction::Out, Direction::In].into_iter().for_each(|direction| latched.evict(direction));
    }
}
