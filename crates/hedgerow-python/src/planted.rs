//! Planted faults that the package's tests turn on by name. In builds without the feature `planted-faults`
//! the function of this module is absent.

use hedgerow_core::faults::{self, PlantedFault};
use pyo3::prelude::*;

use crate::error::DataError;

/// Turns on the planted fault of this name until the process ends.
#[pyfunction]
#[pyo3(name = "_plant")]
pub(crate) fn plant(name: &str) -> PyResult<()> {
    let fault = PlantedFault::named(name)
        .ok_or_else(|| DataError::new_err(format!("no planted fault is called {name:?}")))?;
    // Without a drop, the fault stays on until the process ends.
    std::mem::forget(faults::plant(fault));
    Ok(())
}
