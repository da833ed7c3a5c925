//! The keys that a call needs during walks over versions, in which no file may be read.

use std::collections::HashMap;

use hedgerow_catalog::error::Result;
use hedgerow_core::{VertexId, VertexKey};

use super::Keys;
use crate::pager::Pager;

impl Keys {
    /// Calls `read`, which needs keys of vertices during walks over versions, in which no file may be read.
    /// Then reads the missing keys from files and calls `read` again, until no key is missing.
    ///
    /// # Errors
    /// Those of `read`, and of [`vertex_of`](Self::vertex_of).
    pub fn telling_keys<R>(
        &self,
        pager: &Pager,
        mut read: impl FnMut(&mut KeyTeller<'_>) -> Result<R>,
    ) -> Result<R> {
        let mut told = HashMap::new();
        loop {
            let mut keys = KeyTeller { keys: self, told, untold: Vec::new() };
            let made = read(&mut keys)?;
            if keys.untold.is_empty() {
                return Ok(made);
            }
            told = keys.told;
            told.extend(self.stored_keys_of(pager, keys.untold)?);
        }
    }
}

/// The known keys of vertices for a read, and the vertices whose keys are missing.
pub struct KeyTeller<'a> {
    keys: &'a Keys,
    /// Keys that were read for this call and that memory does not keep.
    told: HashMap<VertexId, VertexKey>,
    untold: Vec<VertexId>,
}

impl KeyTeller<'_> {
    /// Returns the key of a vertex that is live in the snapshot of the caller. If it is missing, records that
    /// and returns any key.
    #[inline]
    pub fn of(&mut self, id: VertexId) -> VertexKey {
        if self.keys.tells_key_of(id) { self.keys.ids.key_of(id) } else { self.of_stored(id) }
    }

    #[cold]
    fn of_stored(&mut self, id: VertexId) -> VertexKey {
        if let Some(key) = self.told.get(&id) {
            return key.clone();
        }
        self.untold.push(id);
        VertexKey::U64(0)
    }
}
