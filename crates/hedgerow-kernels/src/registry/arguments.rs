//! The arguments of one call of a kernel, checked when they are set.

use hedgerow_core::{Direction, VertexId};

use super::kernel::Kernel;
use super::parameter::{Absent, Parameter, ParameterKind, Value};
use crate::KernelError;

/// A kernel and its arguments. [`Kernel::arguments`] makes them, with all defaults.
///
/// ```
/// use hedgerow_kernels::registry::{self, Outcome};
/// use hedgerow_kernels::{Cancel, KernelError};
///
/// let graph = hedgerow_workload::Csr::from_edges(3, &[(0, 1), (1, 2)], &Default::default())?;
/// let mut arguments = registry::find("pagerank")?.arguments();
/// arguments.set("damping", 0.9)?;
/// let Outcome::Scores(scores) = arguments.run(&graph, &Cancel::new())? else { panic!("it ranks") };
/// assert_eq!(scores.len(), 3);
/// assert!(matches!(arguments.set("damping", 1.5), Err(KernelError::OutOfRange { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Arguments {
    kernel: &'static Kernel,
    /// The values in the order of the kernel's parameters.
    values: Vec<Option<Value>>,
}

impl Arguments {
    pub(super) fn new(kernel: &'static Kernel) -> Arguments {
        let default = |parameter: &Parameter| match parameter.absent {
            Absent::Is(ref value) => Some(value.clone()),
            Absent::Refused | Absent::Without(_) => None,
        };
        Arguments { kernel, values: kernel.parameters.iter().map(default).collect() }
    }

    /// Returns the kernel of these arguments.
    pub fn kernel(&self) -> &'static Kernel {
        self.kernel
    }

    /// Sets a parameter.
    ///
    /// # Errors
    /// [`KernelError::NoSuchParameter`], [`KernelError::ArgumentType`] and [`KernelError::OutOfRange`]; after
    /// an error the earlier value stays.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<(), KernelError> {
        let value = value.into();
        for (parameter, slot) in self.kernel.parameters.iter().zip(&mut self.values) {
            if parameter.name == name {
                parameter.check(&value)?;
                *slot = Some(value);
                return Ok(());
            }
        }
        Err(KernelError::NoSuchParameter { kernel: self.kernel.name, parameter: name.to_owned() })
    }

    /// Returns the value of a parameter: the default, or the value from [`set`](Self::set).
    pub fn value(&self, name: &str) -> Option<&Value> {
        let mut all = self.kernel.parameters.iter().zip(&self.values);
        all.find(|(parameter, _)| parameter.name == name).and_then(|(_, value)| value.as_ref())
    }

    /// Converts the arguments by `read`, and its error to the type for any graph.
    pub(crate) fn read<T, E>(
        &self,
        read: impl FnOnce(&Arguments) -> Result<T, KernelError>,
    ) -> Result<T, KernelError<E>> {
        read(self).map_err(KernelError::of_any)
    }

    /// Returns the arguments of a kernel without parameters.
    pub(crate) fn none(&self) -> Result<(), KernelError> {
        Ok(())
    }

    /// Returns source, target and direction of a kernel that searches paths.
    pub(crate) fn ends(&self) -> Result<(VertexId, VertexId, Direction), KernelError> {
        let (source, target) = (self.vertex(&Parameter::SOURCE)?, self.vertex(&Parameter::TARGET)?);
        Ok((source, target, self.direction(&Parameter::DIRECTION)?))
    }
}

/// Makes two functions for each type of values: one for a required parameter, one for any parameter.
macro_rules! getters {
    ($($of:ty: $required:ident, $optional:ident of $variant:ident;)*) => {
        impl Arguments {
            $(
                pub(crate) fn $required(&self, parameter: &Parameter) -> Result<$of, KernelError> {
                    let value = self.$optional(parameter);
                    value.ok_or(KernelError::MissingArgument { parameter: parameter.name })
                }

                pub(crate) fn $optional(&self, parameter: &Parameter) -> Option<$of> {
                    match self.value(parameter.name) {
                        Some(Value::$variant(value)) => Some(value.clone()),
                        _ => None,
                    }
                }
            )*
        }
    };
}

getters!(
    VertexId: vertex, optional_vertex of Vertex;
    Vec<VertexId>: vertices, optional_vertices of Vertices;
    Direction: direction, optional_direction of Direction;
    u32: count, optional_count of Count;
    f64: number, optional_number of Number;
    bool: flag, optional_flag of Flag;
);

impl Kernel {
    /// Returns the arguments of a call, all with their defaults.
    pub fn arguments(&'static self) -> Arguments {
        Arguments::new(self)
    }

    /// Returns the arguments of a call that ends soon: required vertices are `vertex`, the end of a path is
    /// `target`, and samples and iterations are few. For tests and measurements of all kernels.
    pub fn trial(&'static self, vertex: VertexId, target: VertexId) -> Arguments {
        let mut arguments = self.arguments();
        for (parameter, slot) in self.parameters.iter().zip(&mut arguments.values) {
            let is_asked_for = parameter.absent == Absent::Refused;
            *slot = match (parameter.name, parameter.kind) {
                ("samples", _) => Some(Value::Count(2)),
                ("length", _) => Some(Value::Count(3)),
                // Any graph has a maximal matching.
                ("maximum", _) => Some(Value::Count(0)),
                ("iterations", _) => Some(Value::Count(3)),
                ("target", _) => Some(Value::Vertex(target)),
                (_, ParameterKind::Vertex) if is_asked_for => Some(Value::Vertex(vertex)),
                (_, ParameterKind::Vertices) if is_asked_for => Some(Value::Vertices(vec![vertex])),
                _ => continue,
            };
        }
        arguments
    }
}
