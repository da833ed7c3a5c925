//! Merging changes of edges with ranks and rows among them into a new main part.

use hedgerow_core::column::Piece;
use hedgerow_core::{Columns, LocalVertex, Row, SUBGRAPH_VERTICES, VertexId};

use crate::arena::Arena;
use crate::change::ItemChange;
use crate::items::Extra;
use crate::main_part::{Main, Offsets};

/// `main` with `changes` (sorted, one per edge) and `vertices` (in commit order) applied. O(edges + changes), column by
/// column.
pub(crate) fn apply(
    main: &Main,
    changes: &[ItemChange<'_>],
    vertices: &[(LocalVertex, bool)],
    weighted: bool,
    arena: &Arena,
) -> Main {
    let mut present = main.present;
    for &(local, inserted) in vertices {
        present = if inserted { present | local.bit() } else { present & !local.bit() };
    }
    let mut out = Assembly::default();
    let mut rest = changes;
    for i in 0..SUBGRAPH_VERTICES {
        let local = LocalVertex(i as u8);
        out.offsets.0[i] = out.len;
        let count = rest.iter().take_while(|c| c.local == local).count();
        let (of_vertex, others) = rest.split_at(count);
        rest = others;
        merge_list(main, local, of_vertex, &mut out);
    }
    out.offsets.0[SUBGRAPH_VERTICES] = out.len;
    out.finish(main, present, weighted, arena)
}

fn merge_list<'a>(main: &Main, local: LocalVertex, changes: &[ItemChange<'a>], out: &mut Assembly<'a>) {
    let range = main.range(local);
    let mut at = range.start;
    for change in changes {
        let upto = main.lower_bound(at..range.end, change.dst, change.rank);
        out.copy(at..upto);
        at = upto;
        if at < range.end && main.item_key(at) == (change.dst, change.rank) {
            at += 1;
        }
        if let Some((weight, row)) = change.state {
            out.push(New { dst: change.dst, rank: change.rank, weight, row });
        }
    }
    out.copy(at..range.end);
}

struct New<'a> {
    dst: VertexId,
    rank: u64,
    weight: f64,
    row: Option<&'a Row>,
}

enum Part<'a> {
    Copy(std::ops::Range<usize>),
    New(New<'a>),
}

/// What a new main part is made of, before its arrays are built one after another.
#[derive(Default)]
struct Assembly<'a> {
    offsets: Offsets,
    parts: Vec<Part<'a>>,
    len: u32,
}

impl<'a> Assembly<'a> {
    fn copy(&mut self, range: std::ops::Range<usize>) {
        self.len += range.len() as u32;
        match self.parts.last_mut() {
            _ if range.is_empty() => {}
            Some(Part::Copy(last)) if last.end == range.start => last.end = range.end,
            _ => self.parts.push(Part::Copy(range)),
        }
    }

    fn push(&mut self, new: New<'a>) {
        self.len += 1;
        self.parts.push(Part::New(new));
    }

    /// One array, from an old one and from the new edges.
    fn array<T: Copy>(&self, old: Option<&[T]>, missing: T, new: impl Fn(&New<'a>) -> T) -> Vec<T> {
        let mut array = Vec::with_capacity(self.len as usize);
        for part in &self.parts {
            match (part, old) {
                (Part::Copy(range), Some(old)) => array.extend_from_slice(&old[range.clone()]),
                (Part::Copy(range), None) => array.resize(array.len() + range.len(), missing),
                (Part::New(edge), _) => array.push(new(edge)),
            }
        }
        array
    }

    fn finish(self, main: &Main, present: u64, weighted: bool, arena: &Arena) -> Main {
        let neighbors = self.array(Some(&main.neighbors), VertexId(0), |new| new.dst);
        let weights = weighted.then(|| self.array(main.weights.as_deref(), 1.0, |new| new.weight));
        let ranked =
            main.ranks().is_some() || self.parts.iter().any(|p| matches!(p, Part::New(n) if n.rank != 0));
        let ranks = ranked.then(|| self.array(main.ranks(), 0, |new| new.rank).into_boxed_slice());
        let pieces: Vec<Piece<'_>> = self
            .parts
            .iter()
            .map(|part| match part {
                Part::Copy(range) => Piece::Copy(range.clone()),
                Part::New(new) => Piece::Row(new.row),
            })
            .collect();
        let none = Columns::default();
        let columns = main.extra.as_ref().map_or(&none, |extra| &extra.columns).assembled(&pieces);
        Main {
            present,
            offsets: self.offsets,
            neighbors: arena.copy(&neighbors),
            weights: weights.map(|weights| arena.copy(&weights)),
            extra: Extra { ranks, columns }.boxed(),
        }
    }
}
