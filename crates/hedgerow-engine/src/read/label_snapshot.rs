//! A snapshot of the edges of one label, for kept answers.

use std::sync::{Arc, OnceLock};

use hedgerow_catalog::error::{ArgumentError, Error, Result};
use hedgerow_catalog::label::Label;
use hedgerow_catalog::schema::LabelRef;
use hedgerow_core::{Changes, Changing, LabelId};
use hedgerow_mem::View;

use crate::read::snapshot::Snapshot;

/// The edges of one label in a [`Snapshot`], and the vertices of the label's [view](Snapshot::view). A
/// handle can keep answers about this state of the graph (`hedgerow_kernels::maintain`).
///
/// It keeps the snapshot open, and the view of the label once a handle has asked for it. A clone shares the
/// snapshot, and the view if it was made before. Any thread may use it.
#[derive(Clone)]
pub struct LabelSnapshot {
    snapshot: Snapshot,
    label: LabelId,
    view: OnceLock<Arc<View>>,
}

impl LabelSnapshot {
    /// Returns the edges of one label in a snapshot; the empty name is the default label. O(1).
    ///
    /// # Errors
    /// [`ArgumentError::NoSuchLabel`]; [`StateError::Forked`](crate::StateError::Forked) in a forked child.
    pub fn new<'a>(snapshot: &Snapshot, label: impl Into<LabelRef<'a>>) -> Result<LabelSnapshot> {
        snapshot.engine().check_owner()?;
        let label = snapshot.label(label.into())?;
        Ok(LabelSnapshot { snapshot: snapshot.clone(), label, view: OnceLock::new() })
    }

    /// Returns the snapshot. O(1).
    pub fn snapshot(&self) -> &Snapshot {
        &self.snapshot
    }
}

impl Changing for LabelSnapshot {
    type View = View;
    type Error = Error;

    fn view(&self) -> Result<&View> {
        if let Some(view) = self.view.get() {
            return Ok(view);
        }
        // Made outside the cell, like the view that a snapshot keeps.
        let view = self.snapshot.view(self.label)?;
        Ok(self.view.get_or_init(|| view))
    }

    fn changes_since(&self, earlier: &LabelSnapshot) -> Result<Changes> {
        if self.label != earlier.label {
            let schema = self.snapshot.schema();
            let shown = |label| schema.label_by_id(label).map_or_else(String::new, Label::shown);
            let (one, other) = (shown(earlier.label), shown(self.label));
            let refused = format!("the earlier snapshot is of the edges of {one}, not of {other}");
            return Err(ArgumentError::Invalid(refused).into());
        }
        let mut changes = self.snapshot.changes_since(&earlier.snapshot, self.label)?;
        if let Some(kinds) = self.snapshot.kinds_of_label(self.label) {
            self.snapshot.keep_kinds(&mut changes, &kinds)?;
        }
        Ok(changes)
    }

    fn without_view(&self) -> LabelSnapshot {
        LabelSnapshot { snapshot: self.snapshot.without_view(), label: self.label, view: OnceLock::new() }
    }

    fn comes_after(&self, earlier: &LabelSnapshot) -> bool {
        self.label == earlier.label && self.snapshot.check_is_later(&earlier.snapshot).is_ok()
    }
}
