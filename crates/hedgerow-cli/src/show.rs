//! `--show`: properties of vertices as columns of results.

use hedgerow::{Lent, Schema, Snapshot, VertexKeyRef};
use hedgerow_core::suggest::instead;
use hedgerow_export::text::kinds;
use serde_json::Value;

use crate::error::CliError;
use crate::property;

/// The option `--show`.
#[derive(clap::Args, Clone, Default)]
pub(crate) struct Show {
    /// Show this property of each vertex as a column; several may be given
    #[arg(id = "show", long, value_name = "PROPERTY")]
    names: Vec<String>,
}

impl Show {
    /// True if no property is shown.
    pub(crate) fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Refuses a property that no kind of vertices has.
    pub(crate) fn check(&self, schema: &Schema, keys: hedgerow::KeyKind) -> Result<(), CliError> {
        let known: Vec<&str> = kinds(schema, keys)
            .flat_map(|(kind, _)| schema.vertex_properties_of(kind).map(|property| &**property.name()))
            .collect();
        match self.names.iter().find(|name| !known.contains(&name.as_str())) {
            None => Ok(()),
            Some(name) => {
                let instead = instead(name, &known, "properties");
                Err(CliError::Usage(format!("--show: vertices have no property {name:?}{instead}")))
            }
        }
    }

    /// Returns the names of the columns to add to `others`. Each gets `prefix`. If that is empty, only a name
    /// that `others` contains gets a prefix.
    pub(crate) fn columns(&self, prefix: &str, others: &[&str]) -> Vec<String> {
        let column = |name: &String| match prefix {
            "" if others.contains(&name.as_str()) => format!("vertex_{name}"),
            "" => name.clone(),
            prefix => format!("{prefix}_{name}"),
        };
        self.names.iter().map(column).collect()
    }

    /// Returns the values of a vertex; null if it has no value, or if its kind lacks the property.
    pub(crate) fn values(&self, snapshot: &Snapshot, key: VertexKeyRef<'_>) -> hedgerow::Result<Vec<Value>> {
        let value = |name: &String| {
            let found = Lent::new(snapshot).vertex_property(key, name, property::to_json)?;
            Ok(found.unwrap_or(Value::Null))
        };
        self.names.iter().map(value).collect()
    }
}
