//! Planted faults, which the package's tests turn on by name. Builds without the feature `planted-faults`
//! lack this module's function.

use hedgerow_core::faults::{self, PlantedFault};
use pyo3::prelude::*;

use crate::error::DataError;

/// Turns the planted fault of this name on for the rest of the process.
#[pyfunction]
#[pyo3(name = "_plant")]
pub(crate) fn plant(name: &str) -> PyResult<()> {
    let fault = PlantedFault::named(name)
        .ok_or_else(|| DataError::new_err(format!("no planted fault is called {name:?}")))?;
    // The fault stays on until the process ends.
    std::mem::forget(faults::plant(fault));
    Ok(())
}
