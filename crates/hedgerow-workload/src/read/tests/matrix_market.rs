//! Tests of Matrix Market files: their first lines, and entries that contradict these lines.

use std::io::Cursor;
use std::path::Path;

use super::super::{
    EdgeFormat, EdgeReader, Lines, MatrixError, MatrixMarket, MatrixSizes, MatrixValues, ReadError, RowError,
    Symmetry,
};
use super::{OwnedRow, read_as, row};

fn matrix(text: &str, both_ways: bool) -> (Vec<OwnedRow>, Vec<(u64, RowError)>) {
    read_as("a.mtx", text, &EdgeFormat { both_ways, ..EdgeFormat::matrix_market() })
}

/// Returns the error that ends reading.
fn fault(text: &str) -> String {
    let lines = Lines::of(Path::new("a.mtx"), Cursor::new(text.to_owned().into_bytes()));
    let mut reader = EdgeReader::of(lines, &EdgeFormat::matrix_market());
    let mut found = None;
    while let Some(row) = reader.next_row() {
        if let Err(error) = row.map(|_| ()) {
            assert!(found.is_none() && !error.is_row(), "{error}");
            found = Some(error.to_string());
        }
    }
    found.expect("a fault")
}

#[test]
fn entries_are_edges_and_their_values_weights() {
    let general =
        "%%MatrixMarket matrix coordinate real general\n% by hand\n\n4 4 3\n1 2 0.5\n2  3  1.5e0\n4 1 2\n";
    let rows = [
        row(5, "1", "2", Some(0.5), None),
        row(6, "2", "3", Some(1.5), None),
        row(7, "4", "1", Some(2.0), None),
    ];
    for both_ways in [false, true] {
        assert_eq!(matrix(general, both_ways), (rows.to_vec(), vec![]));
    }
    // One publisher writes a single `%` sign. Words may be in upper or lower case.
    let pattern = "%matrixmarket MATRIX Coordinate Pattern Symmetric\n3 3 3\n2 1\n% within\n3 3\n3 1\n";
    let once = [row(3, "2", "1", None, None), row(5, "3", "3", None, None), row(6, "3", "1", None, None)];
    assert_eq!(matrix(pattern, false), (once.to_vec(), vec![]));
    let twice = [
        row(3, "2", "1", None, None),
        row(3, "1", "2", None, None),
        row(5, "3", "3", None, None),
        row(6, "3", "1", None, None),
        row(6, "1", "3", None, None),
    ];
    assert_eq!(matrix(pattern, true), (twice.to_vec(), vec![]));
    let skew = "%%MatrixMarket matrix coordinate integer skew-symmetric\n3 3 1\n3 1 -7\n";
    let turned = [row(3, "3", "1", Some(-7.0), None), row(3, "1", "3", Some(7.0), None)];
    assert_eq!(matrix(skew, true), (turned.to_vec(), vec![]));
}

#[test]
fn malformed_entries_are_named_and_passed() {
    let text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 7\n0 1 1\n1 4 1\n1 2\n1 2 3 4\nx 1 1\n2 1 y\n3 2 1\n";
    let (rows, errors) = matrix(text, true);
    assert_eq!(rows, [row(9, "3", "2", Some(1.0), None), row(9, "2", "3", Some(1.0), None)]);
    let outside =
        |what, text: &str| RowError::Matrix(MatrixError::OutOfRange { what, text: text.to_owned(), most: 3 });
    let width = |found| RowError::Matrix(MatrixError::Width { expected: 3, found });
    assert_eq!(errors[0], (3, outside("row", "0")));
    assert_eq!(errors[1], (4, outside("column", "4")));
    assert_eq!(errors[2].0, 5);
    assert_eq!(errors[3], (6, width(4)));
    assert_eq!(errors[4], (7, outside("row", "x")));
    assert_eq!((errors[5].0, errors.len()), (8, 6));
    let diagonal = "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 1\n2 2 1\n";
    assert_eq!(matrix(diagonal, true).1, [(3, RowError::Matrix(MatrixError::Diagonal))]);
}

#[test]
fn a_file_that_disagrees_with_its_first_lines_is_refused() {
    let begin = "%%MatrixMarket matrix coordinate real general\n";
    for (text, expected) in [
        ("1 2 0.5\n", "a.mtx:1: \"1 2 0.5\" is not the first line of a Matrix Market file"),
        ("%%MatrixMarket matrix coordinate real\n1 1 0\n", "is not the first line"),
        ("%%MatrixMarket vector coordinate real general\n1 1 0\n", "is not the first line"),
        ("%%MatrixMarket matrix coordinate quaternion general\n1 1 0\n", "is not the first line"),
        ("%%MatrixMarket matrix array real general\n1 1\n", "a.mtx:1: format \"array\" is not supported"),
        ("%%MatrixMarket matrix coordinate complex general\n", "field \"complex\" is not supported"),
        ("%%MatrixMarket matrix coordinate real hermitian\n", "symmetry \"hermitian\" is not supported"),
        ("%%MatrixMarket matrix coordinate pattern skew-symmetric\n", "a pattern has no signs"),
        (begin, "a.mtx:1: the file ends before the size line"),
        (&format!("{begin}% c\n3 3\n"), "a.mtx:3: \"3 3\" is not the size line of a matrix"),
        (&format!("{begin}3 3 -1\n"), "a.mtx:2: \"3 3 -1\" is not the size line"),
        (&format!("{begin}3 3 2\n1 2 1\n"), "the size line states 2 entries, but the file has 1"),
        (
            &format!("{begin}3 3 1\n1 2 1\n1 3 1\n"),
            "a.mtx:4: the size line states 1 entries, but the file has more",
        ),
        (&format!("{begin}3 5 0\n"), "a.mtx:2: the matrix has 3 rows and 5 columns"),
        (
            "%%MatrixMarket matrix coordinate real symmetric\n3 5 0\n",
            "a symmetric matrix has as many rows as columns; this matrix has 3 rows and 5 columns",
        ),
    ] {
        let error = fault(text);
        assert!(error.contains(expected), "{text}: {error}");
    }
    // The reader allocates no memory for the sizes that the file claims.
    let huge = fault(&format!("{begin}{0} {0} {0}\n1 2 1\n", u64::MAX));
    assert!(huge.ends_with("the file has 1"), "{huge}");
}

#[test]
fn a_look_tells_a_matrix_by_its_first_line() {
    let look = |text: &str, skip| {
        let mut lines = Lines::of(Path::new("a"), Cursor::new(text.to_owned().into_bytes()));
        MatrixMarket::look(&mut lines, skip)
    };
    let text = "title\n%%MatrixMarket matrix coordinate integer general\n%\n3 4 2\n";
    let banner = MatrixMarket { values: MatrixValues::Integer, symmetry: Symmetry::General };
    let sizes = MatrixSizes { rows: 3, columns: 4, entries: 2 };
    assert_eq!(look(text, 1).expect("readable"), Some((banner, sizes)));
    assert_eq!(look(text, 0).expect("readable"), None);
    assert_eq!(look("", 0).expect("readable"), None);
    assert_eq!(look("% MatrixMarket\n1 2\n", 0).expect("readable"), None);
    let error = look("%%MatrixMarket matrix coordinate integer general\n", 0).expect_err("no size line");
    assert!(matches!(error, ReadError::Matrix { line: 1, reason: MatrixError::NoSizes, .. }), "{error}");
}
