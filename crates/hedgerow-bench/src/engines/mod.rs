//! What is measured side by side: the store as one of the containers of the lab.

mod hedgerow;

pub(crate) use self::hedgerow::HedgerowEngine;

#[cfg(test)]
mod tests;
