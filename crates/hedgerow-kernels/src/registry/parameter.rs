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
    pub const SOURCE: Parameter =
        Parameter::new("source", "The vertex to start at", ParameterKind::Vertex, Absent::Refused);

    /// The vertex at which a path ends.
    pub const TARGET: Parameter =
        Parameter::new("target", "The vertex to end at", ParameterKind::Vertex, Absent::Refused);

    /// The number on which random choices depend.
    pub const SEED: Parameter = Parameter::count(
        "seed",
        "What random choices depend on: the same seed makes the same ones",
        CountRange::ANY,
        1,
    );

    /// The direction of a search.
    pub const DIRECTION: Parameter = Parameter::new(
        "direction",
        "Along the edges or against them; the same in an undirected graph",
        ParameterKind::Direction,
        Absent::Is(Value::Direction(Direction::Out)),
    )
    .unreported();

    /// Returns a parameter that summaries of results repeat.
    pub(crate) const fn new(
        name: &'static str,
        summary: &'static str,
        kind: ParameterKind,
        absent: Absent,
    ) -> Parameter {
        Parameter { name, summary, kind, absent, is_reported: true }
    }

    /// Returns a whole number with a default.
    pub(crate) const fn count(
        name: &'static str,
        summary: &'static str,
        range: CountRange,
        default: u32,
    ) -> Parameter {
        Parameter::new(name, summary, ParameterKind::Count(range), Absent::Is(Value::Count(default)))
    }

    /// Returns a number with a default.
    pub(crate) const fn number(
        name: &'static str,
        summary: &'static str,
        range: NumberRange,
        default: f64,
    ) -> Parameter {
        Parameter::new(name, summary, ParameterKind::Number(range), Absent::Is(Value::Number(default)))
    }

    /// Returns vertices.
    pub(crate) const fn vertices(name: &'static str, summary: &'static str, absent: Absent) -> Parameter {
        Parameter::new(name, summary, ParameterKind::Vertices, absent)
    }

    /// Returns the parameter, left out of summaries of results.
    pub(crate) const fn unreported(mut self) -> Parameter {
        self.is_reported = false;
        self
    }

    /// True for the parameter of the vertex at which paths end; all other parameters are of vertices where
    /// paths begin.
    pub fn is_end(&self) -> bool {
        self.name == Parameter::TARGET.name
    }

    /// Checks that the parameter takes `value`.
    ///
    /// # Errors
    /// [`KernelError::ArgumentType`] and [`KernelError::OutOfRange`].
    pub fn check(&self, value: &Value) -> Result<(), KernelError> {
        self.check_any(value)
    }

    /// Like [`check`](Self::check), but for a whole number.
    pub(crate) fn check_count<E>(&self, found: u32) -> Result<(), KernelError<E>> {
        self.check_any(&Value::Count(found))
    }

    /// Like [`check`](Self::check), but for a number.
    pub(crate) fn check_number<E>(&self, found: f64) -> Result<(), KernelError<E>> {
        self.check_any(&Value::Number(found))
    }

    fn check_any<E>(&self, value: &Value) -> Result<(), KernelError<E>> {
        let parameter = self.name;
        let (is_inside, range, found) = match (self.kind, value) {
            (ParameterKind::Number(range), &Value::Number(found)) => {
                (range.contains(found), range.text, found)
            }
            (ParameterKind::Count(range), &Value::Count(found)) => {
                (range.contains(found), range.text, f64::from(found))
            }
            (ParameterKind::Vertex, Value::Vertex(_))
            | (ParameterKind::Vertices, Value::Vertices(_))
            | (ParameterKind::Direction, Value::Direction(_))
            | (ParameterKind::Flag, Value::Flag(_)) => return Ok(()),
            (kind, _) => return Err(KernelError::ArgumentType { parameter, expected: kind.name() }),
        };
        if is_inside { Ok(()) } else { Err(KernelError::OutOfRange { parameter, range, found }) }
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

/// Makes values of the types that parameters have.
macro_rules! values {
    ($($of:ty => $variant:ident),*) => {
        $(impl From<$of> for Value {
            fn from(value: $of) -> Value {
                Value::$variant(value)
            }
        })*
    };
}

values!(
    VertexId => Vertex, Vec<VertexId> => Vertices, Direction => Direction, u32 => Count, f64 => Number, bool => Flag
);

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
