//! Parameters of kernels: names, types, ranges and defaults.

use std::fmt;
use std::ops::{Bound, RangeBounds};

use hedgerow_core::{Direction, VertexId};

use crate::KernelError;

/// A parameter of kernels. The command line makes an option of it, Python a keyword.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name everywhere.
    pub name: &'static str,
    /// Its purpose, in one sentence without a full stop.
    pub summary: &'static str,
    /// The values that it takes.
    pub kind: ParameterKind,
    /// The effect if it is not given.
    pub absent: Absent,
    /// True if a summary of a result repeats it.
    pub is_reported: bool,
}

impl Parameter {
    /// The vertex at which a search begins.
    pub const SOURCE: Parameter = Parameter {
        name: "source",
        summary: "The vertex to start at",
        kind: ParameterKind::Vertex,
        absent: Absent::Refused,
        is_reported: true,
    };

    /// The vertex at which a path ends.
    pub const TARGET: Parameter = Parameter {
        name: "target",
        summary: "The vertex to end at",
        kind: ParameterKind::Vertex,
        absent: Absent::Refused,
        is_reported: true,
    };

    /// True for the parameter of the vertex at which paths end; at the vertices of all others they begin.
    pub fn is_end(&self) -> bool {
        self.name == Parameter::TARGET.name
    }

    /// The number on which random choices depend.
    pub const SEED: Parameter = Parameter {
        name: "seed",
        summary: "What random choices depend on: the same seed makes the same ones",
        kind: ParameterKind::Count(CountRange::ANY),
        absent: Absent::Is(Value::Count(1)),
        is_reported: true,
    };

    /// The direction of a search.
    pub const DIRECTION: Parameter = Parameter {
        name: "direction",
        summary: "Along the edges or against them; the same in an undirected graph",
        kind: ParameterKind::Direction,
        absent: Absent::Is(Value::Direction(Direction::Out)),
        is_reported: false,
    };

    /// Checks that the parameter takes `value`.
    ///
    /// # Errors
    /// [`KernelError::ArgumentType`] and [`KernelError::OutOfRange`].
    pub fn check(&self, value: &Value) -> Result<(), KernelError> {
        match (self.kind, value) {
            (ParameterKind::Number(_), Value::Number(number)) => self.check_number(*number),
            (ParameterKind::Count(_), Value::Count(count)) => self.check_count(*count),
            (ParameterKind::Vertex, Value::Vertex(_))
            | (ParameterKind::Vertices, Value::Vertices(_))
            | (ParameterKind::Direction, Value::Direction(_))
            | (ParameterKind::Flag, Value::Flag(_)) => Ok(()),
            (kind, _) => Err(KernelError::ArgumentType { parameter: self.name, expected: kind.name() }),
        }
    }

    /// Like [`check`](Self::check), but for a whole number.
    pub(crate) fn check_count<E>(&self, found: u32) -> Result<(), KernelError<E>> {
        match self.kind {
            ParameterKind::Count(range) if range.contains(found) => Ok(()),
            ParameterKind::Count(range) => Err(KernelError::OutOfRange {
                parameter: self.name,
                range: range.text,
                found: f64::from(found),
            }),
            kind => Err(KernelError::ArgumentType { parameter: self.name, expected: kind.name() }),
        }
    }

    /// Like [`check`](Self::check), but for a number.
    pub(crate) fn check_number<E>(&self, found: f64) -> Result<(), KernelError<E>> {
        match self.kind {
            ParameterKind::Number(range) if range.contains(found) => Ok(()),
            ParameterKind::Number(range) => {
                Err(KernelError::OutOfRange { parameter: self.name, range: range.text, found })
            }
            kind => Err(KernelError::ArgumentType { parameter: self.name, expected: kind.name() }),
        }
    }
}

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ParameterKind {
    /// A live vertex.
    Vertex,
    /// Some live vertices.
    Vertices,
    /// Along edges or against them.
    Direction,
    /// A whole number within a range.
    Count(CountRange),
    /// A number within a range.
    Number(NumberRange),
    /// A truth value.
    Flag,
}

impl ParameterKind {
    /// Returns its name in messages and pages.
    pub fn name(self) -> &'static str {
        match self {
            ParameterKind::Vertex => "a vertex",
            ParameterKind::Vertices => "vertices",
            ParameterKind::Direction => "a direction",
            ParameterKind::Count(_) => "a whole number",
            ParameterKind::Number(_) => "a number",
            ParameterKind::Flag => "true or false",
        }
    }
}

/// The whole numbers of 32 bits between two bounds, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountRange {
    /// The least number.
    pub least: u32,
    /// The largest number.
    pub most: u32,
    /// The range as messages give it.
    pub text: &'static str,
}

impl CountRange {
    /// All whole numbers.
    pub const ANY: CountRange = CountRange { least: 0, most: u32::MAX, text: "0 to 4294967295" };

    /// The whole numbers from 1 on.
    pub const POSITIVE: CountRange = CountRange { least: 1, most: u32::MAX, text: "1 to 4294967295" };

    /// True if `count` is in the range.
    pub fn contains(&self, count: u32) -> bool {
        (self.least..=self.most).contains(&count)
    }
}

/// The numbers between two bounds. NaN is in no range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NumberRange {
    /// The lower bound.
    pub least: Bound<f64>,
    /// The upper bound.
    pub most: Bound<f64>,
    /// The range as messages give it.
    pub text: &'static str,
}

impl NumberRange {
    /// 0 to 1, both included.
    pub const SHARE: NumberRange =
        NumberRange { least: Bound::Included(0.0), most: Bound::Included(1.0), text: "in 0..=1" };

    /// The numbers from 0 on.
    pub const NOT_NEGATIVE: NumberRange = NumberRange {
        least: Bound::Included(0.0),
        most: Bound::Excluded(f64::INFINITY),
        text: "finite and not negative",
    };

    /// The numbers above 0.
    pub const POSITIVE: NumberRange = NumberRange {
        least: Bound::Excluded(0.0),
        most: Bound::Excluded(f64::INFINITY),
        text: "finite and above 0",
    };

    /// True if `number` is in the range.
    pub fn contains(&self, number: f64) -> bool {
        (self.least, self.most).contains(&number)
    }
}

/// The effect of a parameter that is not given.
#[derive(Clone, Debug, PartialEq)]
pub enum Absent {
    /// The call is refused.
    Refused,
    /// The kernel runs without it; the text names the alternative, if there is one.
    Without(&'static str),
    /// The default.
    Is(Value),
}

/// The value of a parameter.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A vertex by its id inside the store.
    Vertex(VertexId),
    /// Vertices by their ids inside the store.
    Vertices(Vec<VertexId>),
    /// A direction, along edges or against them.
    Direction(Direction),
    /// A whole number.
    Count(u32),
    /// A number.
    Number(f64),
    /// A truth value.
    Flag(bool),
}

impl From<VertexId> for Value {
    fn from(vertex: VertexId) -> Value {
        Value::Vertex(vertex)
    }
}

impl From<Vec<VertexId>> for Value {
    fn from(vertices: Vec<VertexId>) -> Value {
        Value::Vertices(vertices)
    }
}

impl From<Direction> for Value {
    fn from(direction: Direction) -> Value {
        Value::Direction(direction)
    }
}

impl From<u32> for Value {
    fn from(count: u32) -> Value {
        Value::Count(count)
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Value {
        Value::Flag(flag)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Value {
        Value::Number(number)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Vertex(vertex) => write!(f, "{}", vertex.0),
            Value::Vertices(vertices) => {
                let ids: Vec<String> = vertices.iter().map(|vertex| vertex.0.to_string()).collect();
                f.write_str(&ids.join(", "))
            }
            Value::Direction(Direction::Out) => f.write_str("out"),
            Value::Direction(Direction::In) => f.write_str("in"),
            Value::Count(count) => write!(f, "{count}"),
            Value::Number(number) => write!(f, "{number}"),
            Value::Flag(flag) => write!(f, "{flag}"),
        }
    }
}
