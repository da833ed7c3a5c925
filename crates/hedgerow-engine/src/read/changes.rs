//! The differences between two snapshots, from which kept answers are updated.

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::sync::Mutex;
use hedgerow_core::{Changes, Direction, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId};
use hedgerow_mem::table::PAGE;
use hedgerow_mem::{PageLook, Stored, Subgraph, SubgraphTable, changes_of_many};
use rayon::prelude::*;

use crate::read::snapshot::Snapshot;

/// The number of subgraphs up to which the calling thread reads alone: waking other threads takes longer.
const FEW: usize = 1024;

impl Snapshot {
    /// Returns the differences between an `earlier` snapshot of the same graph and this one, over one
    /// label. In a `multi` label the result counts the edges between two vertices, without their ranks. Takes
    /// no lock that a writer needs.
    ///
    /// Deltas log the differences, so a few changes of a large graph take O(subgraphs / 8 + changes). If a
    /// merge removed the log, the call compares the lists of the changed vertices: O(their degrees). While
    /// the earlier snapshot is open, the store keeps the versions that it sees.
    ///
    /// ```
    /// use hedgerow::{EdgeChangeKind, Graph};
    ///
    /// let graph = Graph::in_memory()?;
    /// graph.insert_edges(&[(0, 1), (1, 2)])?;
    /// let before = graph.snapshot()?;
    /// graph.insert_edges(&[(2, 0)])?;
    /// let changes = graph.snapshot()?.changes_since(&before, "")?;
    /// assert_eq!(changes.edges.len(), 1);
    /// assert_eq!(changes.edges[0].kind, EdgeChangeKind::Inserted);
    /// # Ok::<(), hedgerow::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`];
    /// [`ArgumentError::Invalid`] if the other snapshot is of another graph, or later than this one;
    /// [`StateError::Forked`](crate::StateError::Forked) in a forked child; and the errors of every
    /// [read](Self).
    pub fn changes_since<'a>(&self, earlier: &Snapshot, label: impl Into<LabelRef<'a>>) -> Result<Changes> {
        self.changes_of_label(earlier, self.label(label.into())?)
    }

    fn changes_of_label(&self, earlier: &Snapshot, label: LabelId) -> Result<Changes> {
        self.engine().check_owner()?;
        self.check_is_later(earlier)?;
        let vertices = &self.engine().pager.subgraphs;
        let Some(table) = self.engine().pager.table(label) else {
            return Ok(Changes {
                edges: Vec::new(),
                ..self.changes_in((LabelId::DEFAULT, vertices), earlier)?
            });
        };
        let mut changes = self.changes_in((label, table), earlier)?;
        if label != LabelId::DEFAULT {
            changes.vertices = self.changes_in((LabelId::DEFAULT, vertices), earlier)?.vertices;
        }
        Ok(changes)
    }

    pub(super) fn check_is_later(&self, earlier: &Snapshot) -> Result<()> {
        let refused = if !std::ptr::eq(self.engine(), earlier.engine()) {
            "the earlier snapshot is of another graph".to_owned()
        } else if earlier.timestamp() > self.timestamp() {
            let (from, to) = (earlier.timestamp().0, self.timestamp().0);
            format!("the earlier snapshot has timestamp {from}, later than timestamp {to} of this snapshot")
        } else {
            return Ok(());
        };
        Err(ArgumentError::Invalid(refused).into())
    }

    fn changes_in(&self, (label, table): (LabelId, &SubgraphTable), earlier: &Snapshot) -> Result<Changes> {
        let between = (earlier.timestamp(), self.timestamp());
        // The subgraphs in files are compared without the hold, since reads of files wait for memory.
        let (mut touched, mut all, in_files) = (Vec::new(), Changes::default(), Mutex::new(Vec::new()));
        let hold = table.hold();
        for number in table.numbers() {
            let page = match table.look(number, &hold) {
                PageLook::Loaded(page) => page,
                // No subgraph of the page has changed after `since` (rule P6).
                PageLook::Stored(Stored { since, .. }) if since > between.0 => {
                    let of_page = (number * PAGE..(number + 1) * PAGE).map(|id| SubgraphId(id as u32));
                    in_files.lock().extend(of_page);
                    continue;
                }
                PageLook::Stored(_) | PageLook::Absent => continue,
            };
            let mut changed = page.changed_after(between.0);
            while changed != 0 {
                let place = changed.trailing_zeros() as usize;
                changed &= changed - 1;
                let id = SubgraphId((number * PAGE + place) as u32);
                touched.extend(page.get(place).map(|subgraph| (id, subgraph)));
            }
        }
        let read = |part: &[(SubgraphId, &Subgraph)]| {
            let mut found = Changes::default();
            changes_of_many(part, Direction::Out, between, &mut found, |id, _| {
                in_files.lock().push(id);
                Ok::<(), Error>(())
            })
            .map(|()| found)
        };
        if touched.len() <= FEW {
            all.append(read(&touched)?);
        } else {
            let parts = hedgerow_par::map(touched.par_chunks(FEW / 2), read);
            let parts = parts.into_iter().collect::<Result<Vec<Changes>>>()?;
            all.edges.reserve_exact(parts.iter().map(|part| part.edges.len()).sum());
            parts.into_iter().for_each(|part| all.append(part));
        }
        drop(touched);
        drop(hold);
        let in_files = std::mem::take(&mut *in_files.lock());
        if in_files.is_empty() {
            return Ok(all);
        }
        for id in in_files {
            self.compare_subgraph((label, id), earlier, &mut all)?;
        }
        all.vertices.sort_unstable_by_key(|&(vertex, _)| vertex);
        all.edges.sort_unstable_by_key(|edge| (edge.src, edge.dst));
        Ok(all)
    }

    /// Compares all lists of a subgraph as both snapshots read them, because memory lacks one of the two
    /// states (rule E8). O(edges of 64 vertices), and reads of files.
    #[cold]
    fn compare_subgraph(
        &self,
        (label, id): (LabelId, SubgraphId),
        earlier: &Snapshot,
        found: &mut Changes,
    ) -> Result<()> {
        for v in (0..SUBGRAPH_VERTICES as u8).map(|local| id.vertex(LocalVertex(local))) {
            if label == LabelId::DEFAULT {
                let (before, after) = (earlier.contains_id(v)?, self.contains_id(v)?);
                found.vertices.extend((before != after).then_some((v, after)));
            }
            let list = |snapshot: &Snapshot| -> Result<Vec<_>> {
                let mut list = Vec::new();
                snapshot
                    .for_each_item(label, v, Direction::Out, |item| list.push((item.dst, item.weight)))?;
                Ok(list)
            };
            found.add_difference(v, &list(earlier)?, &list(self)?);
        }
        Ok(())
    }
}
