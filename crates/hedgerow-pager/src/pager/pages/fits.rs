//! Checks of images with right checksums: if they fit the schema and the graph.

use hedgerow_catalog::kinds::Kind;
use hedgerow_catalog::schema::Schema;
use hedgerow_core::{
    Direction, GraphConfig, KeyKind, KindId, LabelId, SUBGRAPH_VERTICES, ValueRef, VertexId, VertexKeyRef,
};
use hedgerow_tier::{AdjacencyPart, ImageId};

/// Checks a part of an image against the schema and the graph. `Err` names the mismatch.
pub(crate) fn check_schema(
    schema: &Schema,
    config: GraphConfig,
    id: ImageId,
    part: &AdjacencyPart,
) -> std::result::Result<(), &'static str> {
    let label = schema.label_by_id(id.label).ok_or("an edge label that is not defined")?;
    if part.ranks.is_some() && !label.is_multi() {
        return Err("ranks in a label that has none");
    }
    if part.weights.is_some() && id.label != LabelId::DEFAULT {
        return Err("weights in a label that has none");
    }
    let fits = |(id, column): (hedgerow_core::PropertyId, &hedgerow_core::Column)| {
        label.property_by_id(id).is_some_and(|p| p.property_type() == column.kind())
    };
    if !part.columns.iter().all(fits) {
        return Err("a property that is not defined, or of another type");
    }
    let keeps_none = !config.directed || config.is_one_way() || id.label == LabelId::VERTICES;
    if part.direction == Direction::In && keeps_none {
        return Err("incoming neighbors in a graph that keeps none");
    }
    let of_vertices = (0..SUBGRAPH_VERTICES as u8).map(hedgerow_core::LocalVertex).all(|local| {
        let list = part.neighbors_of(local.index());
        list.is_empty() || list == [id.subgraph.vertex(local)]
    });
    if id.label == LabelId::VERTICES && !of_vertices {
        return Err("properties of a vertex in another one's place");
    }
    check_rows(config, id, part)
}

/// Checks which entries have properties: all entries of vertices, no incoming ones. Of the two entries of an
/// undirected edge, the entry at the greater end has none of variable length.
fn check_rows(config: GraphConfig, id: ImageId, part: &AdjacencyPart) -> Result<(), &'static str> {
    if id.label == LabelId::VERTICES {
        let all = (0..part.neighbors.len()).all(|at| part.columns.row(at).is_some());
        return if all { Ok(()) } else { Err("properties of a vertex without a value") };
    }
    if part.columns.is_empty() {
        return Ok(());
    }
    if part.direction == Direction::In {
        return Err("properties in the incoming copy of an edge");
    }
    let long = |at: usize| {
        let columns = part.columns.iter().filter(|(_, column)| !column.kind().is_fixed());
        columns.into_iter().any(|(_, column)| !matches!(column.get(at), ValueRef::Null))
    };
    if config.directed {
        return Ok(());
    }
    for local in 0..SUBGRAPH_VERTICES {
        let v = VertexId((id.subgraph.0 << 6) | local as u32);
        let range = part.offsets[local] as usize..part.offsets[local + 1] as usize;
        for at in range {
            if part.neighbors.get(at).is_some_and(|&u| u < v) && long(at) {
                return Err("text in the second copy of an edge");
            }
        }
    }
    Ok(())
}

/// True if a key has the type of its kind, in a graph that is not dense.
pub fn fits_kind(schema: &Schema, default: KeyKind, key: VertexKeyRef<'_>) -> bool {
    let (of, key) = key.split();
    let keys = if of == KindId::DEFAULT { Some(default) } else { schema.kind_by_id(of).map(Kind::keys) };
    match key {
        VertexKeyRef::U64(_) => keys == Some(KeyKind::U64),
        VertexKeyRef::Str(_) => keys == Some(KeyKind::Str),
        VertexKeyRef::KindU64(..) | VertexKeyRef::KindStr(..) => false,
    }
}
