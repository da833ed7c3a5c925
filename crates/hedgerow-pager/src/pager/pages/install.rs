//! Installation of images from files as the first versions of subgraphs.

use hedgerow_catalog::directions::directions_of;
use hedgerow_catalog::error::{Error, Result};
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{Direction, GraphConfig, LabelId, LocalVertex, SUBGRAPH_VERTICES, SubgraphId, Timestamp};
use hedgerow_io::{Corruption, CorruptionKind};
use hedgerow_mem::{Arena, Extra, Main, Subgraph};
use hedgerow_tier::{AdjacencyPart, ImageId, SubgraphImage};

use super::fits::check_schema;

/// The facts against which images are checked, and the timestamp at which their versions begin.
pub struct Installer<'a> {
    /// The configuration of the graph.
    pub config: GraphConfig,
    /// The schema that images must fit.
    pub schema: &'a Schema,
    /// The checkpoint of the store: every image has the state at this timestamp.
    pub checkpoint: Timestamp,
    /// One more than the largest possible vertex id.
    pub bound: u32,
    /// The arena for main parts.
    pub arena: &'a Arena,
}

/// Returns the error for data of a file that does not fit the graph.
pub fn invalid(file: &str, what: &'static str) -> Error {
    Corruption::new(file, 0, CorruptionKind::Invalid(what)).into()
}

/// Estimates the bytes of a part in memory.
pub(crate) fn bytes_of(part: &AdjacencyPart) -> usize {
    let of_edge = 4 + if part.weights.is_some() { 8 } else { 0 } + if part.ranks.is_some() { 8 } else { 0 };
    part.neighbors.len() * of_edge + part.columns.bytes()
}

/// Returns the mask of the vertices of a subgraph that are below `bound`.
pub(crate) fn places_below(bound: u32, id: SubgraphId) -> u64 {
    let below = u64::from(bound).saturating_sub(u64::from(id.0) * SUBGRAPH_VERTICES as u64);
    if below >= u64::from(u64::BITS) { u64::MAX } else { (1 << below) - 1 }
}

/// Checks that the vertices of a subgraph in the mask have ids below `bound`.
///
/// # Errors
/// Damage, if a vertex is at or above the bound.
pub fn vertices_below(bound: u32, (id, present): (SubgraphId, u64), file: &str) -> Result<()> {
    id.0.checked_mul(SUBGRAPH_VERTICES as u32).ok_or_else(|| invalid(file, "subgraph id"))?;
    if present & !places_below(bound, id) != 0 {
        return Err(invalid(file, "a vertex beyond the bound of the manifest"));
    }
    Ok(())
}

impl Installer<'_> {
    /// Checks that the vertices of a subgraph in the mask are below the bound.
    ///
    /// # Errors
    /// Damage, if a vertex is at or above the bound.
    pub fn check_vertices(&self, vertices: (SubgraphId, u64), file: &str) -> Result<()> {
        vertices_below(self.bound, vertices, file)
    }

    /// Returns the part, if it fits the schema and the graph.
    ///
    /// # Errors
    /// Damage, if the part does not fit the graph.
    pub fn checked(&self, id: ImageId, part: AdjacencyPart, file: &str) -> Result<AdjacencyPart> {
        if part.neighbors.iter().any(|v| v.0 >= self.bound) {
            return Err(invalid(file, "a neighbor beyond the bound of the manifest"));
        }
        check_schema(self.schema, self.config, id, &part).map_err(|what| invalid(file, what))?;
        Ok(part)
    }

    /// Installs checked vertices and edges of the default label, by direction; returns the number of edges,
    /// each counted at its source (undirected: at the lesser end).
    ///
    /// # Errors
    /// Damage, if the parts do not fit the graph.
    pub fn vertices(
        &self,
        (id, present): (SubgraphId, u64),
        parts: [Option<AdjacencyPart>; 2],
        to: &Subgraph,
        file: &str,
    ) -> Result<u64> {
        let mut edges = 0;
        let mut latched = to.latch();
        for (direction, part) in [Direction::Out, Direction::In].into_iter().zip(parts) {
            if direction == Direction::In && (!self.config.directed || self.config.is_one_way()) {
                continue;
            }
            let main = self.main_of_default(present, part, file)?;
            if direction == Direction::Out {
                edges += self.count_edges(id, &main);
            }
            latched.install(direction, main, self.checkpoint);
        }
        Ok(edges)
    }

    /// Makes the main part of a chain of the default label; `part` is `None` for a chain without edges.
    pub(crate) fn main_of_default(
        &self,
        present: u64,
        part: Option<AdjacencyPart>,
        file: &str,
    ) -> Result<Main> {
        let main = match part {
            Some(p) => {
                let extra = Extra { ranks: None, columns: p.columns };
                let weights = p.weights.as_deref();
                Main::with_extra(present, &p.offsets, &p.neighbors, weights, extra, self.arena)
            }
            None => {
                let weights = self.config.weighted.then_some(&[][..]);
                Main::from_parts(present, &[0; SUBGRAPH_VERTICES + 1], &[], weights, self.arena)
            }
        };
        let main = main.ok_or_else(|| invalid(file, "neighbor lists out of order"))?;
        if main.weights().is_some() != self.config.weighted {
            return Err(invalid(file, "weights do not fit the graph"));
        }
        Ok(main)
    }

    /// Makes the main parts of an image, one for each stored direction, to replace chains that are not in
    /// memory; without edges if there is no image.
    pub(crate) fn mains(
        &self,
        id: ImageId,
        image: Option<SubgraphImage>,
        file: &str,
    ) -> Result<Vec<(Direction, Main)>> {
        let present = image.as_ref().map_or(0, |image| image.present);
        let mut parts = [None, None];
        for part in image.into_iter().flat_map(|image| image.parts) {
            let part = self.checked(id, part, file)?;
            let direction = part.direction as usize;
            parts[direction] = Some(part);
        }
        let main = |(direction, part): (Direction, _)| match id.label {
            LabelId::DEFAULT => Ok((direction, self.main_of_default(present, part, file)?)),
            _ => Ok((direction, self.main_of_label(part, file)?)),
        };
        let directions = directions_of(&self.config, id.label).iter().copied();
        directions.map(|direction| main((direction, parts[direction as usize].take()))).collect()
    }

    /// Installs checked edges of a label other than the default one, or properties of vertices; returns the
    /// number of edges.
    ///
    /// # Errors
    /// Damage, if the part does not fit the graph.
    pub fn labelled(&self, id: ImageId, part: AdjacencyPart, to: &Subgraph, file: &str) -> Result<u64> {
        let direction = part.direction;
        let main = self.main_of_label(Some(part), file)?;
        let counted = direction == Direction::Out && id.label != LabelId::VERTICES;
        let edges = if counted { self.count_edges(id.subgraph, &main) } else { 0 };
        to.latch().install(direction, main, self.checkpoint);
        Ok(edges)
    }

    /// Makes the main part of a chain of another label; `part` is `None` for a chain without edges.
    pub(crate) fn main_of_label(&self, part: Option<AdjacencyPart>, file: &str) -> Result<Main> {
        let main = match part {
            Some(AdjacencyPart { offsets, neighbors, ranks, columns, .. }) => {
                let extra = Extra { ranks: ranks.map(Vec::into_boxed_slice), columns };
                Main::with_extra(0, &offsets, &neighbors, None, extra, self.arena)
            }
            None => Main::from_parts(0, &[0; SUBGRAPH_VERTICES + 1], &[], None, self.arena),
        };
        main.ok_or_else(|| invalid(file, "neighbor lists out of order"))
    }

    fn count_edges(&self, subgraph: SubgraphId, main: &Main) -> u64 {
        if self.config.directed {
            return main.edges().len() as u64;
        }
        let locals = (0..SUBGRAPH_VERTICES as u8).map(LocalVertex);
        let at_or_above = |local| {
            let (list, v) = (main.neighbors(local), subgraph.vertex(local));
            (list.len() - list.partition_point(|&u| u < v)) as u64
        };
        locals.map(at_or_above).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_end_at_the_bound() {
        assert_eq!(places_below(0, SubgraphId(0)), 0);
        assert_eq!(places_below(3, SubgraphId(0)), 0b111);
        assert_eq!(places_below(64, SubgraphId(0)), u64::MAX);
        assert_eq!(places_below(64, SubgraphId(1)), 0);
        assert_eq!(places_below(127, SubgraphId(1)), u64::MAX >> 1);
        assert_eq!(places_below(u32::MAX, SubgraphId(u32::MAX)), 0);
    }
}
