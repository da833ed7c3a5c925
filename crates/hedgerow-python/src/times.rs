//! Conversion of NumPy's times of any unit to microseconds since 1970. A time that is no whole number of them
//! is refused.

use hedgerow::Value;
use pyo3::prelude::*;

use crate::imports;

const DAY: i128 = 86_400_000_000;

/// The unit of a `datetime64`: microseconds, fractions of a microsecond, or months.
pub(crate) enum Unit {
    Micros(i128),
    /// A unit of `count` fractions, of which a microsecond has `per_micro`.
    Parts {
        count: i128,
        per_micro: i128,
    },
    Months(i128),
    /// No unit: the type states none, and its only value is `NaT`.
    None,
}

impl Unit {
    /// Returns the unit of the elements of `dtype`.
    pub(crate) fn of(dtype: &Bound<'_, PyAny>) -> PyResult<Unit> {
        let data = imports::NUMPY.get(dtype.py())?.call_method1("datetime_data", (dtype,))?;
        let (name, count) = data.extract::<(String, i64)>()?;
        let count = i128::from(count);
        Ok(match name.as_str() {
            "Y" => Unit::Months(12 * count),
            "M" => Unit::Months(count),
            "W" => Unit::Micros(7 * DAY * count),
            "D" => Unit::Micros(DAY * count),
            "h" => Unit::Micros(DAY / 24 * count),
            "m" => Unit::Micros(60_000_000 * count),
            "s" => Unit::Micros(1_000_000 * count),
            "ms" => Unit::Micros(1_000 * count),
            "us" => Unit::Micros(count),
            "ns" => Unit::Parts { count, per_micro: 1_000 },
            "ps" => Unit::Parts { count, per_micro: 1_000_000 },
            "fs" => Unit::Parts { count, per_micro: 1_000_000_000 },
            "as" => Unit::Parts { count, per_micro: 1_000_000_000_000 },
            _ => Unit::None,
        })
    }

    /// Returns the time that is `number` units after 1970, or the reason why it cannot be represented.
    pub(crate) fn value(&self, number: i64) -> Result<Value, &'static str> {
        if number == i64::MIN {
            return Ok(Value::Null);
        }
        let number = i128::from(number);
        let micros = match self {
            Unit::Micros(micros) => number * micros,
            Unit::Parts { count, per_micro } if number * count % per_micro != 0 => {
                return Err("has fractions of a microsecond, but times are stored in microseconds");
            }
            Unit::Parts { count, per_micro } => number * count / per_micro,
            Unit::Months(months) => days_of_month(number * months) * DAY,
            Unit::None => return Err("has no unit"),
        };
        match i64::try_from(micros) {
            Ok(micros) if micros != i64::MIN => Ok(Value::Timestamp(micros)),
            _ => Err(
                "is out of range: times are 64-bit microseconds since 1970, about 292,000 years either way",
            ),
        }
    }
}

/// Returns the days from 1970 to the first day of the month `months` after January 1970.
fn days_of_month(months: i128) -> i128 {
    let (year, month) = (1970 + months.div_euclid(12), months.rem_euclid(12));
    // If years begin in March, the leap day is their last day.
    let (year, month) = if month < 2 { (year - 1, month + 10) } else { (year, month - 2) };
    let days = 365 * year + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    days + (153 * month + 2) / 5 - 719_468
}
