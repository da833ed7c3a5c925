//! Runs of neighboring subgraphs whose lists are read together, and visits of single vertices. Memory is
//! reserved before it is taken.

use std::cell::RefCell;
use std::ops::{ControlFlow, Range};

use hedgerow_catalog::error::Result;
use hedgerow_core::{Direction, SubgraphId, VertexId};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::version::NotInMemory;
use hedgerow_pager::budget::taken::{Room, Stop};
use hedgerow_pager::page_of;
use hedgerow_pager::pager::pages::{ColdImage, StoredLists, places};

use super::lists::{Page, TieredBlock};
use super::taken::{Taker, Taking};
use super::{TieredView, Waits, mask_of, of_page, take_batch};
use crate::read::compose::Unweighed;

/// The lists of neighboring subgraphs, and the memory that they take.
pub(super) struct Run {
    pub(super) lists: Page,
    pub(super) room: Room,
}

/// The vertices of a batch on one page, by the place of their subgraph.
type ByPlace<'v> = [&'v [VertexId]; PAGE];

impl TieredView {
    /// Calls `f` with each subgraph of a range and its lists in a stored direction, until it breaks.
    pub(super) fn scan_lists(
        &self,
        subgraphs: Range<SubgraphId>,
        (direction, waits): (Direction, Waits),
        mut f: impl FnMut(SubgraphId, TieredBlock<'_>) -> ControlFlow<()>,
    ) -> std::result::Result<(), Stop> {
        let read = |page, rest| self.read_run(page, rest, direction, waits);
        self.for_each_run(subgraphs, read, |range, run: Option<&Run>| {
            range.enumerate().try_for_each(|(at, id)| {
                f(SubgraphId(id), TieredBlock(run.and_then(|run| run.lists.get(at))))
            })
        })
    }

    /// Calls `f` with the runs of subgraphs that make up a range, each on one page, until `f` breaks. `read`
    /// reads the first subgraphs of a range on a page, and `f` gets the result, or `None` for a page without
    /// vertices. The result is dropped before the next read.
    pub(super) fn for_each_run<R>(
        &self,
        subgraphs: Range<SubgraphId>,
        mut read: impl FnMut(u32, Range<u32>) -> std::result::Result<(Range<u32>, R), Stop>,
        mut f: impl FnMut(Range<u32>, Option<&R>) -> ControlFlow<()>,
    ) -> std::result::Result<(), Stop> {
        let pages = subgraphs.start.0 / PAGE as u32..subgraphs.end.0.div_ceil(PAGE as u32);
        for page in pages {
            let mut rest = of_page(page, &subgraphs);
            if !self.existing.has_page(page) {
                if f(rest, None).is_break() {
                    return Ok(());
                }
                continue;
            }
            while !rest.is_empty() {
                let (range, run) = read(page, rest.clone())?;
                rest.start = range.end;
                if f(range, Some(&run)).is_break() {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads the lists of the first subgraphs of a range on a page.
    fn read_run(
        &self,
        page: u32,
        range: Range<u32>,
        direction: Direction,
        waits: Waits,
    ) -> std::result::Result<(Range<u32>, Run), Stop> {
        self.first_half_that_fits(range, waits, |part| self.read_lists(page, part, mask_of(part), direction))
    }

    /// Reads the first subgraphs of a range: all of them, or half as many each time that there is no room.
    /// Only for a single subgraph does it take room that other threads use.
    pub(super) fn first_half_that_fits<R>(
        &self,
        range: Range<u32>,
        waits: Waits,
        read: impl Fn(&Range<u32>) -> std::result::Result<R, Stop>,
    ) -> std::result::Result<(Range<u32>, R), Stop> {
        let mut end = range.end;
        self.with_room(waits, || {
            loop {
                let part = range.start..end;
                match read(&part) {
                    Err(Stop::NoRoom(_)) if part.len() > 1 => end = part.start + part.len() as u32 / 2,
                    read => return read.map(|run| (part, run)),
                }
            }
        })
    }

    /// Reads the lists of neighboring subgraphs of a page in a stored direction, but only of subgraphs in the
    /// mask `wanted`.
    pub(super) fn read_lists(
        &self,
        page: u32,
        range: &Range<u32>,
        wanted: u64,
        direction: Direction,
    ) -> std::result::Result<Run, Stop> {
        let mut room = Room::new(&self.core().pager.budget);
        room.keep(Page::bytes_of(range.len()));
        room.checked(Ok(()))?;
        let mut run = Run { lists: Page::new(range.len()), room };
        let mut unweighed = None;
        for taker in self.taken.takers(self.core()) {
            let read = self.read_label((page, range.start, wanted), direction, &taker, &mut run);
            if let Some(ends) = run.room.checked(read)? {
                let edge = Unweighed { label: taker.label(), ends };
                unweighed = Some(unweighed.map_or(edge, |least: Unweighed| least.least(edge)));
            }
            run.room.end_read();
        }
        match unweighed {
            Some(edge) => Err(self.snapshot.no_weight(self.taken.weight_name(), edge).into()),
            None => Ok(run),
        }
    }

    /// Adds the `wanted` lists of one label to a run that begins with the subgraph `first`. If there is no
    /// room it stops, and the run's room reports that. Returns the least edge without a number for its
    /// weight, if there is one.
    fn read_label(
        &self,
        (number, first, wanted): (u32, u32, u64),
        direction: Direction,
        taker: &Taker<'_>,
        run: &mut Run,
    ) -> Result<Option<(VertexId, VertexId)>> {
        let (core, ts) = (self.core(), self.snapshot.timestamp());
        let id = |place: usize| SubgraphId(number * PAGE as u32 + place as u32);
        let page = page_of(taker.label(), id(0));
        let mut unweighed = None;
        let mut give = |run: &mut Run, place: usize, taking: Taking| match taking {
            Ok(lists) => {
                let at = (place + PAGE - first as usize % PAGE) % PAGE;
                // If several labels have edges, both lists are in memory while they are merged.
                let beside = run.lists.bytes_to_add(at, lists.bytes()) as u64;
                if run.room.has_list(beside) {
                    run.lists.add(at, lists);
                    run.room.keep(run.lists.bytes() as u64);
                }
            }
            Err(edge) => {
                unweighed = Some(unweighed.map_or(edge, |least: (VertexId, VertexId)| least.min(edge)));
            }
        };
        let cold = core.pager.read_in_memory(page, wanted, ts, |place, subgraph| {
            // Reads by a counted reference to the version, since the list of a hub takes long.
            let found = subgraph.read_kept(direction, ts, |read| {
                let bytes = taker.bytes_of(read.edge_entries() as usize);
                let has = run.room.lacking().is_none() && run.room.has_list(bytes);
                has.then(|| taker.of_version(id(place), read))
            })?;
            found.flatten().into_iter().for_each(|found| give(run, place, found));
            Ok(())
        })?;
        let (Some(cold), None) = (cold, run.room.lacking()) else { return Ok(unweighed) };
        let run = RefCell::new(run);
        let has_memory = &mut |memory| run.borrow_mut().room.has(memory);
        core.pager.read_cold(&cold, self.expected(), has_memory, |image| {
            let (place, run) = (image.place, &mut **run.borrow_mut());
            match part_of(image, direction) {
                None => drop(run.room.keep(run.lists.bytes() as u64)),
                Some(part) => {
                    if run.room.has_list(taker.bytes_beside(&part)) {
                        give(run, place, taker.of_stored(id(place), part));
                    }
                }
            }
            // The error only ends the read: the room has the reason.
            run.room.lacking().map_or(Ok(()), |_| Err(NotInMemory.into()))
        })?;
        Ok(unweighed)
    }

    /// Calls `f` with the runs of each vertex of a frontier in a stored direction, page after page.
    pub(super) fn visit_lists(
        &self,
        frontier: impl IntoIterator<Item = VertexId>,
        (direction, waits): (Direction, Waits),
        mut f: impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        let (mut frontier, mut batch) = (frontier.into_iter(), Vec::new());
        loop {
            take_batch(&mut frontier, &mut batch);
            if batch.is_empty() {
                return Ok(());
            }
            let page = |v: &VertexId| v.subgraph().index() / PAGE;
            for group in batch.chunk_by(|a, b| page(a) == page(b)) {
                match self.taken.plain {
                    Some(_) => self.visit_page(group, (direction, waits), &mut f)?,
                    None => self.visit_taken(group, (direction, waits), &mut f)?,
                }
            }
        }
    }

    /// Visits sorted vertices of one page, in a whole label. If there is no room for all subgraphs from the
    /// first to the last vertex, visits half as many at a time, down to one.
    fn visit_page(
        &self,
        group: &[VertexId],
        (direction, waits): (Direction, Waits),
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        let place = |v: &VertexId| v.subgraph().index() % PAGE;
        let Some(first) = group.first() else { return Ok(()) };
        let page = (first.subgraph().index() / PAGE) as u32;
        let mut rest: ByPlace<'_> = [&[]; PAGE];
        for of_subgraph in group.chunk_by(|a, b| place(a) == place(b)) {
            if let Some(place) = of_subgraph.first().map(place) {
                rest[place] = of_subgraph;
            }
        }
        let mut most = PAGE;
        loop {
            let wanted = || (0..PAGE).filter(|&place| !rest[place].is_empty()).take(most);
            let mask = wanted().fold(0, |mask, place| mask | 1 << place);
            if mask == 0 {
                return Ok(());
            }
            self.with_room(waits, || match self.visit_some((page, mask), direction, &mut rest, f) {
                Err(Stop::NoRoom(_)) if mask.count_ones() > 1 => {
                    most = mask.count_ones() as usize / 2;
                    Ok(())
                }
                done => done,
            })?;
        }
    }

    /// Visits the vertices in `rest` whose subgraphs are in the mask, and removes them from `rest`.
    fn visit_some(
        &self,
        (page, mask): (u32, u64),
        direction: Direction,
        rest: &mut ByPlace<'_>,
        f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
    ) -> std::result::Result<(), Stop> {
        let Some(label) = self.taken.plain else { return Ok(()) };
        let (page, ts) = (page_of(label, SubgraphId(page * PAGE as u32)), self.snapshot.timestamp());
        let cold = self.core().pager.read_in_memory(page, mask, ts, |place, subgraph| {
            // Removed at once, so that no vertex is visited again if a later one is not in memory.
            while let Some((&v, others)) = rest[place].split_first() {
                subgraph.visit(direction, ts, v.local(), |run, weights| f(v, run, weights))?;
                rest[place] = others;
            }
            Ok(())
        })?;
        if let Some(cold) = cold {
            let room = RefCell::new(Room::new(&self.core().pager.budget));
            let has_memory = &mut |memory| room.borrow_mut().has(memory);
            let read = self.core().pager.read_cold(&cold, self.expected(), has_memory, |image| {
                visit_image(image, direction, rest, f);
                room.borrow_mut().keep(0);
                Ok(())
            });
            room.into_inner().checked(read)?;
        }
        // Vertices without a page or an image have no neighbors.
        for place in places(mask) {
            std::mem::take(&mut rest[place]).iter().for_each(|&v| f(v, &[], &[]));
        }
        Ok(())
    }
}

fn visit_image(
    image: ColdImage,
    direction: Direction,
    rest: &mut ByPlace<'_>,
    f: &mut impl FnMut(VertexId, &[VertexId], &[f64]),
) {
    let of_image = std::mem::take(&mut rest[image.place]);
    let lists = part_of(image, direction);
    for &v in of_image {
        let (run, weights) = lists.as_ref().map_or((&[][..], &[][..]), |lists| lists.list(v.local()));
        f(v, run, weights);
    }
}

fn part_of(image: ColdImage, direction: Direction) -> Option<StoredLists> {
    image.parts.into_iter().find(|part| part.direction() == direction)
}
