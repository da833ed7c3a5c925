//! Weights of the default label in a transaction, as numbers.

use hedgerow::{Direction, LabelId, Result, Value, VertexKey, VertexKeyRef, WriteTxn};

/// Reads of weights, as [`DefaultLabel`](hedgerow::DefaultLabel) has them for snapshots.
pub(crate) trait Weights {
    fn weight<'a>(
        &mut self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<f64>>;

    fn weighted_neighbors<'a>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<Vec<(VertexKey, f64)>>>;
}

impl Weights for WriteTxn {
    fn weight<'a>(
        &mut self,
        src: impl Into<VertexKeyRef<'a>>,
        dst: impl Into<VertexKeyRef<'a>>,
    ) -> Result<Option<f64>> {
        let found = self.edge_property((src, dst), "weight")?;
        Ok(found.map(|weight| if let Value::F64(weight) = weight { weight } else { 1.0 }))
    }

    fn weighted_neighbors<'a>(
        &mut self,
        key: impl Into<VertexKeyRef<'a>>,
        direction: Direction,
    ) -> Result<Option<Vec<(VertexKey, f64)>>> {
        let key = key.into();
        let Some(list) = self.edge_list(key, (LabelId::DEFAULT, direction))? else { return Ok(None) };
        let mut found = Vec::new();
        for (other, ..) in list {
            let weight = match direction {
                Direction::Out => self.weight(key, &other)?,
                Direction::In => self.weight(&other, key)?,
            };
            found.push((other, weight.expect("the list has the edge")));
        }
        Ok(Some(found))
    }
}
