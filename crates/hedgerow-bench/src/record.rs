//! One measured figure, as a line of JSON and as a row of a table.
