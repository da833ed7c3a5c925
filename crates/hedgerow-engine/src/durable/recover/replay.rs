//! Reads of the commits of the log in order, and sorting of their operations by subgraph.

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_core::faults::{self, PlantedFault};
use hedgerow_core::{Direction, KeyKind, LabelId, Op, Row, VertexId, VertexKeyRef};
use hedgerow_io::{Corruption, CorruptionKind, machine};
use hedgerow_log::{CommitPlace, Ops, segment_name};
use hedgerow_pager::pager::pages::fits_kind;

use super::apply::{BAD_VERTEX, Stopped};
use super::gathered::{Act, Batch, MOST_SIDES, ReplayAttributes, most_sides};
use super::{LAST_TIMESTAMP, Loaded};

/// The share of a memory limit that a batch takes at most.
const LIMIT_SHARE: u64 = 16;
/// The share of the process's available memory that a batch takes without a limit; at least `FEWEST_BYTES`.
/// Each list is merged once for each batch that has operations on it: the larger batches are, the fewer
/// merges there are.
const MACHINE_SHARE: u64 = 64;
const FEWEST_BYTES: u64 = 24 << 20;

/// A replay under way. It applies commits batch by batch; call [`finish`](Self::finish) for the rest.
///
/// In addition to the state, a replay takes memory in proportion to the log. The most is about 200 MiB, or
/// three 64ths of the memory of the machine, at least 64 MiB. Within a memory limit it is about an eighth of
/// the limit.
pub(crate) struct Replay<'a> {
    state: &'a mut Loaded,
    batch: Batch,
}

/// An edge of the log.
struct Edge {
    label: LabelId,
    src: VertexId,
    dst: VertexId,
    rank: u64,
}

type Fits<T> = std::result::Result<T, &'static str>;

impl<'a> Replay<'a> {
    pub(crate) fn new(state: &'a mut Loaded) -> Replay<'a> {
        let limit = state.subgraphs.memory().account().limit();
        let bytes = match limit {
            Some(limit) => limit / LIMIT_SHARE,
            None => machine::memory_bytes().map_or(0, |bytes| bytes / MACHINE_SHARE).max(FEWEST_BYTES),
        };
        Replay::in_batches(state, most_sides(bytes))
    }

    /// Like [`new`](Self::new), but applies a batch whenever it has this many sides of operations.
    pub(super) fn in_batches(state: &'a mut Loaded, sides: usize) -> Replay<'a> {
        Replay { state, batch: Batch::new(sides.min(MOST_SIDES)) }
    }

    /// Replays one commit, unless the checkpoint has it already. Commits must be passed in the order of the
    /// log.
    ///
    /// # Errors
    /// Damage under a valid checksum: this commit, or one before it, does not fit the state before it. The
    /// state must not be used then.
    pub(crate) fn commit(&mut self, commit: CommitPlace, ops: Ops<'_>) -> Result<()> {
        if commit.ts <= self.state.checkpoint {
            return Ok(());
        }
        if commit.ts > LAST_TIMESTAMP {
            return self.refuse(commit, "a timestamp that no store reaches");
        }
        self.batch.begin(commit);
        for op in ops {
            self.state.learn_keys_of(&op)?;
            if let Err(what) = self.operation(commit, op) {
                return self.refuse(commit, what);
            }
            self.batch.next_operation();
            if self.batch.is_full() {
                self.apply()?;
            }
        }
        Ok(())
    }

    /// Applies the remaining batch.
    ///
    /// # Errors
    /// Like [`commit`](Self::commit).
    pub(crate) fn finish(&mut self) -> Result<()> {
        self.apply()
    }

    fn apply(&mut self) -> Result<()> {
        self.state.load_touched(&self.batch)?;
        match self.state.apply(&mut self.batch) {
            Ok(tally) => {
                let counts = &mut self.state.counts;
                counts.vertices = counts.vertices.wrapping_add_signed(tally.vertices);
                counts.edges = counts.edges.wrapping_add_signed(tally.edges);
                Ok(())
            }
            Err(Stopped::Failed(error)) => Err(error),
            Err(Stopped::Misfit(misfit)) => Err(self.batch.commit(misfit.order).map_or_else(
                || Error::Argument(ArgumentError::Invalid(misfit.what.to_owned())),
                |commit| damaged(commit, misfit.what),
            )),
        }
    }

    /// Reports that the present commit does not fit. Applies the batch first, since an earlier commit in it
    /// may not fit either.
    fn refuse(&mut self, commit: CommitPlace, what: &'static str) -> Result<()> {
        self.apply()?;
        Err(damaged(commit, what))
    }

    fn operation(&mut self, commit: CommitPlace, op: Op<'_>) -> Fits<()> {
        match op {
            Op::InsertVertex { id, key } => self.insert_vertex(commit, id, key),
            Op::RemoveVertex { id } => {
                let ids = &self.state.ids;
                if self.state.config.keys != KeyKind::Dense {
                    ids.unbind_replayed(id, commit.ts);
                }
                let (label, ends) = (LabelId::DEFAULT, (id, VertexId(0)));
                self.batch.push(Act::RemoveVertex, label, Direction::Out, ends, 0.0);
                Ok(())
            }
            Op::PutEdge { label, src, dst, weight } => {
                self.put(&Edge { label, src, dst, rank: 0 }, weight, None)
            }
            Op::PutItem { label, src, dst, rank, weight, row } => {
                self.put(&Edge { label, src, dst, rank }, weight, hedgerow_log::decode_row(row)?)
            }
            Op::RemoveEdge { label, src, dst } => self.remove(&Edge { label, src, dst, rank: 0 }),
            Op::RemoveItem { label, src, dst, rank } => self.remove(&Edge { label, src, dst, rank }),
            Op::DefineKind { kind, text, .. } => {
                if self.state.config.keys == KeyKind::Dense {
                    return Err("a kind of vertices in a dense graph");
                }
                if !self.loses_kinds() {
                    self.state.schema.add(commit.ts, op)?;
                }
                self.state.ids.add_kind(kind, text);
                Ok(())
            }
            Op::DefineLabel { .. } | Op::DefineProperty { .. } => self.state.schema.add(commit.ts, op),
        }
    }

    fn loses_kinds(&self) -> bool {
        let of_manifest = || self.state.schema.as_of(self.state.checkpoint);
        faults::is_on(PlantedFault::LaterKindsLost) && !of_manifest().kinds().is_empty()
    }

    fn insert_vertex(&mut self, commit: CommitPlace, id: VertexId, key: VertexKeyRef<'_>) -> Fits<()> {
        let (ids, keys) = (&self.state.ids, self.state.config.keys);
        let fits = match (keys, key) {
            (KeyKind::Dense, VertexKeyRef::U64(n)) => n == u64::from(id.0),
            (KeyKind::Dense, _) => false,
            _ => fits_kind(&self.state.schema, keys, key) && ids.lookup(key, commit.ts).is_none(),
        };
        if !fits || id > VertexId::MAX {
            return Err(BAD_VERTEX);
        }
        if keys == KeyKind::Dense {
            ids.include(id);
        } else {
            ids.bind(key, id, commit.ts, hedgerow_core::Timestamp::INFINITY);
        }
        self.batch.push(Act::InsertVertex, LabelId::DEFAULT, Direction::Out, (id, VertexId(0)), 0.0);
        Ok(())
    }

    fn put(&mut self, edge: &Edge, weight: Option<f64>, row: Option<Row>) -> Fits<()> {
        self.check_put(edge, weight, row.as_ref())?;
        let weight = weight.unwrap_or(0.0);
        if self.is_plain(edge) {
            return self.sides(Act::Put, edge, weight);
        }
        let item = self.batch.keep(ReplayAttributes { rank: edge.rank, weight, row });
        self.sides(Act::PutItem, edge, item)
    }

    fn remove(&mut self, edge: &Edge) -> Fits<()> {
        self.check_edge(edge)?;
        if self.is_plain(edge) {
            return self.sides(Act::Remove, edge, 0.0);
        }
        let item = self.batch.keep(ReplayAttributes { rank: edge.rank, weight: 0.0, row: None });
        self.sides(Act::RemoveItem, edge, item)
    }

    /// True if edges like this one have neither ranks nor properties.
    fn is_plain(&self, edge: &Edge) -> bool {
        let label = self.state.schema.label_by_id(edge.label);
        edge.label != LabelId::VERTICES && label.is_some_and(|l| !l.is_multi() && l.properties().is_empty())
    }

    /// Adds a side for each edge copy, and the condition that the other end exists.
    fn sides(&mut self, act: Act, edge: &Edge, weight: f64) -> Fits<()> {
        let Edge { label, src, dst, .. } = *edge;
        let placement = self.state.placement();
        self.batch.push(act, label, Direction::Out, (src, dst), weight);
        if label == LabelId::VERTICES {
            return Ok(());
        }
        if placement.has_second(src, dst) {
            self.batch.push(act, label, placement.second_direction(), (dst, src), weight);
        } else if self.state.config.is_one_way() && matches!(act, Act::Put | Act::PutItem) {
            self.batch.push(Act::Exists, LabelId::DEFAULT, Direction::In, (dst, src), 0.0);
        }
        Ok(())
    }

    /// Checks an edge operation of any kind. `Err` names the mismatch.
    fn check_edge(&self, edge: &Edge) -> Fits<()> {
        let label = self.state.schema.label_by_id(edge.label);
        let label = label.ok_or("an edge of a label that is not defined")?;
        if edge.rank != 0 && !label.is_multi() {
            return Err("a rank in a label that has none");
        }
        let in_order = self.state.placement().ends(edge.src, edge.dst) == (edge.src, edge.dst);
        if !in_order || (edge.label == LabelId::VERTICES && edge.src != edge.dst) {
            return Err("an edge with its ends the wrong way round");
        }
        Ok(())
    }

    fn check_put(&self, edge: &Edge, weight: Option<f64>, row: Option<&Row>) -> Fits<()> {
        self.check_edge(edge)?;
        let weighted = self.state.config.weighted && edge.label == LabelId::DEFAULT;
        if weight.is_some() != weighted || weight.is_some_and(f64::is_nan) {
            return Err("an edge with a weight that does not fit");
        }
        let label = self.state.schema.label_by_id(edge.label);
        let fits = |(id, value): &(hedgerow_core::PropertyId, hedgerow_core::Value)| {
            let property = label.and_then(|label| label.property_by_id(*id));
            property.map(|p| p.property_type()) == value.property_type()
        };
        if !row.map_or(&[][..], Row::cells).iter().all(fits) {
            return Err("a property that is not defined, or of another type");
        }
        if edge.label == LabelId::VERTICES && row.is_none() {
            return Err("properties of a vertex without a value");
        }
        Ok(())
    }
}

fn damaged(commit: CommitPlace, what: &'static str) -> Error {
    Corruption::new(segment_name(commit.segment), commit.offset, CorruptionKind::Invalid(what)).into()
}
