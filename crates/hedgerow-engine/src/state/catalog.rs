//! The configuration of a store, and its schema.

use std::sync::Arc;

use hedgerow_catalog::directions::{directions_of, is_weighted};
use hedgerow_catalog::error::{ArgumentError, CommitError, Error, Result};
use hedgerow_catalog::schema::Schema;
use hedgerow_catalog::schema_cell::SchemaCell;
use hedgerow_core::{Direction, GraphConfig, LabelId};
use hedgerow_pager::limits::{MAX_OPERATIONS, bytes_of, most_operations};

use crate::config::{Durability, Isolation};
use crate::options::Options;
use crate::state::placement::Placement;

/// The part of a store that says what its graph looks like, and how it was opened.
pub(crate) struct Catalog {
    pub(crate) config: GraphConfig,
    pub(crate) schema: Arc<SchemaCell>,
    pub(crate) isolation: Isolation,
    pub(crate) durability: Durability,
    pub(crate) read_only: bool,
    /// True if reads of snapshots may make views in memory.
    pub(crate) views_by_reads: bool,
    /// The greatest number of operations of one transaction.
    pub(crate) most_operations: usize,
}

impl Catalog {
    /// Makes the catalog of a store that is being opened with these options.
    pub(crate) fn new(options: &Options, config: GraphConfig, schema: Schema) -> Catalog {
        Catalog {
            config,
            schema: Arc::new(SchemaCell::new(schema)),
            isolation: options.isolation,
            durability: options.durability,
            read_only: options.read_only,
            views_by_reads: options.views_by_reads,
            most_operations: most_operations(options.memory_limit),
        }
    }

    /// Returns the directions that are stored.
    pub(crate) fn directions(&self) -> &'static [Direction] {
        self.directions_of(LabelId::DEFAULT)
    }

    /// Returns the directions that are stored for a label.
    pub(crate) fn directions_of(&self, label: LabelId) -> &'static [Direction] {
        directions_of(&self.config, label)
    }

    /// True if edges of a label carry the weight of a weighted graph.
    #[inline]
    pub(crate) fn is_weighted(&self, label: LabelId) -> bool {
        is_weighted(&self.config, label)
    }

    /// Returns the labels that are defined now. A later commit may define more, and an earlier snapshot may
    /// have no edges of some of them.
    pub(crate) fn defined_labels(&self) -> std::ops::Range<u16> {
        0..self.schema.load().labels().len() as u16
    }

    /// Returns the rules for the places of the copies of edges.
    #[inline]
    pub(crate) fn placement(&self) -> Placement {
        Placement::of(&self.config)
    }

    /// Refuses transactions of more operations than one may have, by their number or by the memory limit.
    /// O(1).
    #[inline]
    pub(crate) fn check_operations(&self, count: usize) -> Result<()> {
        if count <= self.most_operations { Ok(()) } else { Err(self.too_many(count)) }
    }

    #[cold]
    fn too_many(&self, count: usize) -> Error {
        if count > MAX_OPERATIONS {
            let what = "the number of operations in a transaction".into();
            return ArgumentError::TooLarge { what, limit: MAX_OPERATIONS as u64 }.into();
        }
        let (needed, most) = (bytes_of(count), bytes_of(self.most_operations));
        CommitError::TooLarge { needed, most }.into()
    }
}
